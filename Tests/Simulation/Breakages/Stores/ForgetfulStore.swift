internal import CaravanModel
internal import CaravanStore

internal import struct Synchronization.Atomic

/// A store without the check of op ids: to it every commit is new, and no settled op has ever arrived.
final class ForgetfulStore: StoreWrapper {
  let store: any Store
  /// Far above what any writer counts to.
  private let ops = Atomic<UInt64>(1 << 30)

  init(_ store: any Store) { self.store = store }

  private func renamed(_ op: OpID) -> OpID {
    OpID(writer: op.writer, epoch: op.epoch, number: ops.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult {
    var commit = commit
    commit.op = renamed(commit.op)
    commit.opFloor = 0
    return try await store.commit(commit)
  }

  func settle(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> CommitResult {
    try await store.settle(renamed(op), in: zone)
  }
}
