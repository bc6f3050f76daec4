import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: clusters that are compared differ in nothing but what differs in them (TRU-01). Method: two of one seed, in
/// one of which somebody does more.
@Suite struct TwiceTests {
  private struct Observation: Equatable {
    var chances: [UInt64] = []
    var order: [String] = []
  }

  private final class Notes: Sendable {
    let sight = Mutex(Observation())
  }

  /// Two parts that do something each second, and another that does as much more as it likes.
  private func play(extra: Int) throws -> Observation {
    var settings = Simulation.Settings()
    settings.isComparable = true
    let simulation = Simulation(seed: 7, settings: settings)
    let machine = simulation.host("shared").host
    let notes = Notes()
    try simulation.run {
      await withDiscardingTaskGroup { group in
        for name in ["a", "b", "c"] {
          group.addTask {
            for _ in 0..<5 {
              try? await machine.clock.sleep(for: .seconds(1))
              await Task.yield()
              notes.sight.withLock { $0.order.append(name) }
            }
          }
        }
        group.addTask {
          try? await machine.clock.sleep(for: .milliseconds(2_500))
          for _ in 0..<extra { _ = machine.random.next() }
          await withDiscardingTaskGroup { crowd in
            for _ in 0..<extra { crowd.addTask { try? await machine.clock.sleep(for: .milliseconds(500)) } }
          }
        }
        group.addTask {
          for _ in 0..<5 {
            try? await machine.clock.sleep(for: .milliseconds(1_100))
            let chance = machine.random.next()
            notes.sight.withLock { $0.chances.append(chance) }
          }
        }
      }
    }
    return notes.sight.withLock { $0 }
  }

  @Test("what somebody does more changes neither the order of others nor their chances")
  func apart() throws {
    let alone = try play(extra: 0)
    #expect(Set(alone.chances).count == 5)
    #expect(try play(extra: 9) == alone)
  }
}
