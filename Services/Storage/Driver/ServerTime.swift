package import CaravanModel
package import CaravanRuntime
import CaravanStorageCore

/// The clock of a database's server, held against the time that this machine has run: a `TrustedClock` around it
/// doubts the server's clock as it would this machine's. Before the server has been asked it shows this machine's
/// time, so that a process that begins while one of both clocks is wrong believes neither (TRU-12).
package final class ServerTime: MachineTime {
  private let machine: any MachineTime
  private let ask: @Sendable () async throws(CaravanError) -> WallTime
  /// Milliseconds that the server is ahead of the time since this machine booted.
  private let offset = Mutex<Int64?>(nil)

  /// - Parameter ask: asks the server for its time.
  package init(_ machine: any MachineTime, ask: @escaping @Sendable () async throws(CaravanError) -> WallTime) {
    self.machine = machine
    self.ask = ask
  }

  package var reading: ClockReading {
    var reading = machine.reading
    if let offset = offset.withLock({ $0 }) { reading.wall = reading.sinceBoot + offset }
    return reading
  }

  /// Whether this machine's clock is kept right by others and the server shows the same time.
  package var isSynchronised: Bool {
    machine.isSynchronised && abs(reading.wall - machine.reading.wall) <= StorageLimits.clockDifference
  }

  /// Asks the server.
  package func refresh() async throws(CaravanError) {
    let begin = machine.reading.sinceBoot
    let time = try await ask()
    let end = machine.reading.sinceBoot
    // A late answer says little of when it was given.
    guard end - begin <= StorageLimits.clockDifference / 4 else { return }
    offset.withLock { $0 = time.milliseconds - (begin + end) / 2 }
  }
}
