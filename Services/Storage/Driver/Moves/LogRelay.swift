import CaravanModel
import CaravanRuntime
import CaravanStorageCore
import CaravanStore

/// Enters what another store commits into the logs of the main one, each commit once, in order, after it is durable. So
/// every partition has one log, whoever follows it, and wherever its users are. The other store's own log is the list
/// of what is still to be entered: nothing is lost with this process.
final class LogRelay: Sendable {
  private let home: any HomeStore
  private let neighbour: Neighbour
  private let host: Host
  /// How far each log has been entered at least.
  private let entered = Mutex<[Partition: UInt64]>([:])

  init(_ neighbour: Neighbour, to home: any HomeStore, host: Host) {
    self.home = home
    self.neighbour = neighbour
    self.host = host
  }

  /// Until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      do { try await enterAll() } catch {
        host.log.warning(
          "commits of another store could not be entered into the log", [.store: neighbour.name, .error: error.message])
      }
      await neighbour.commits.wait(atMost: StorageLimits.relayPause, clock: host.clock)
    }
  }

  /// All that the store had committed before the call.
  func enterAll() async throws(CaravanError) {
    for (partition, head) in try await neighbour.store.logHeads().sorted(by: { $0.key < $1.key }) {
      guard entered.withLock({ $0[partition] ?? 0 }) < head else { continue }
      try await enter(upTo: head, in: partition)
      entered.withLock { $0[partition] = max($0[partition] ?? 0, head) }
    }
  }

  private func enter(upTo head: UInt64, in partition: Partition) async throws(CaravanError) {
    var position = try await home.entered(from: neighbour.name, in: partition)
    while position < head {
      var page = try await neighbour.store.log(of: partition, after: position, atMost: StorageLimits.relayedTogether)
      if page.isTrimmed { page.entries = try await everything(in: partition, at: page.head) }
      position = page.isTrimmed ? page.head : page.entries.last?.position ?? head
      try await home.enter(page.entries, from: neighbour.name, upTo: position, in: partition)
    }
  }

  /// What has been trimmed from the log may be any of it.
  private func everything(in partition: Partition, at head: UInt64) async throws(CaravanError) -> [LoggedCommit] {
    try await neighbour.store.zones(in: partition, .everything).map { zone in
      LoggedCommit(
        position: head, zone: zone.zone, low: 0, high: zone.seq, incarnation: zone.incarnation, writer: "")
    }
  }
}
