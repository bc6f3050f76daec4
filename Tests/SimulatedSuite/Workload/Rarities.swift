internal import Runtime
internal import TestKit

/// What happens in some of the worlds only, so that all the others need not pay for it.
final class Rarities: Sendable {
  private let suite: Suite
  private let seed: UInt64
  private let porters: Mutex<Porters?>
  private let sampler: Mutex<Sampler?>
  private let late: Mutex<LateReader?>

  init(_ suite: Suite, seed: UInt64) {
    self.suite = suite
    self.seed = seed
    let scale = suite.scale
    porters = Mutex(scale.hasGroups ? Porters(suite, seed: seed) : nil)
    sampler = Mutex(scale.hasSamples ? Sampler(suite, seed: seed) : nil)
    late = Mutex(scale.hasLateReader ? LateReader(suite, seed: seed) : nil)
  }

  /// Until `end`.
  func run(until end: Instant, clock: any Clock) async {
    let (suite, seed) = (suite, seed)
    await withDiscardingTaskGroup { group in
      if suite.scale.hasRestore {
        group.addTask {
          var disaster = Disaster(suite, seed: seed)
          await disaster.run(until: end, clock: clock)
        }
      }
      if suite.scale.hasQuota {
        group.addTask {
          var squeeze = Squeeze(suite, seed: seed)
          await squeeze.run(until: end, clock: clock)
        }
      }
      if let begun = porters.withLock({ $0 }) {
        group.addTask {
          var porters = begun
          await porters.run(until: end, clock: clock)
          let ended = porters
          self.porters.withLock { $0 = ended }
        }
      }
      if let begun = sampler.withLock({ $0 }) {
        group.addTask {
          var sampler = begun
          await sampler.run(until: end, clock: clock)
          let ended = sampler
          self.sampler.withLock { $0 = ended }
        }
      }
      if let begun = late.withLock({ $0 }) {
        group.addTask {
          var late = begun
          await late.run(until: end, clock: clock)
          let ended = late
          self.late.withLock { $0 = ended }
        }
      }
    }
  }

  /// The last look, once all is calm.
  func conclude(_ clock: any Clock) async throws {
    if var porters = porters.withLock({ $0 }) {
      try await porters.conclude()
      porters.close()
    }
    try await sampler.withLock { $0 }?.conclude(clock)
    if var late = late.withLock({ $0 }) { try await late.conclude() }
  }
}
