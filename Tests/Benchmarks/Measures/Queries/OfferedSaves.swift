internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Saves of one record each that are offered at a steady rate, whatever becomes of those before: each counts from the
/// time at which it was due, so that who is held up is not forgiven what it could not offer.
final class OfferedSaves: Sendable {
  /// What is called for a save that has been acknowledged.
  typealias Follow = @Sendable (_ name: String, _ saved: Instant) async throws -> Void

  private let devices: [EdgeDevice]
  private let sample: QuerySample
  private let type: UInt32
  private let zone: String
  private let container: String
  private let host: Host
  private let perSecond: Int
  /// Rows and ops are new in each run.
  private let next: Mutex<Int>

  /// - Parameter first: number of the first row.
  init(
    _ devices: [EdgeDevice], _ sample: QuerySample, type: UInt32, zone: String, container: String, perSecond: Int,
    first: Int, host: Host
  ) {
    precondition(!devices.isEmpty && perSecond > 0, "nobody offers anything")
    (self.devices, self.sample, self.type, self.zone, self.container) = (devices, sample, type, zone, container)
    (self.perSecond, self.host) = (perSecond, host)
    next = Mutex(first)
  }

  /// Goes on until `isDone`.
  func run(until isDone: @escaping @Sendable () -> Bool) async throws -> Samples {
    let start = host.clock.now
    return try await withThrowingTaskGroup(of: Samples.self) { group in
      for number in devices.indices {
        group.addTask { try await self.offer(number, from: start, until: isDone) }
      }
      var all = Samples()
      for try await samples in group { all.add(samples) }
      return all
    }
  }

  func run(seconds: Double) async throws -> Samples {
    let end = host.clock.now + .seconds(seconds)
    return try await run { [host] in host.clock.now >= end }
  }

  private func offer(_ number: Int, from start: Instant, until isDone: @Sendable () -> Bool) async throws -> Samples {
    let pause = Duration.seconds(Double(devices.count) / Double(perSecond))
    var samples = Samples()
    var turn = 0
    while true {
      let due = start + pause * turn + pause * number / devices.count
      try await host.clock.sleep(until: due)
      guard !isDone() else { return samples }
      let own = next.withLock { next in
        defer { next += 1 }
        return next
      }
      let row = sample.row(own, host.random)
      try await devices[number].save(
        [row.fields.body], names: [row.name], type: type, op: UInt64(own + 1), to: zone, in: container)
      samples.add(host.clock.now - due)
      turn += 1
    }
  }

  /// The number of the row that is saved next.
  var reached: Int { next.withLock { $0 } }
}
