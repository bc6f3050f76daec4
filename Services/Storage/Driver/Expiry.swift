package import CaravanModel
package import CaravanRuntime
import CaravanStorageClient
import CaravanStorageCore
package import CaravanStore

/// Deletes records whose time is over (CK-30), as anybody deletes: with what they own, in the log, for all to hear; and
/// does what was put off until now (CK-32). Of the processes that share a store, the one with the lease does it.
package struct Expiry: Sendable {
  /// No device can be called so.
  package static let writer = "@storage"
  package static let lease = "storage/expiry"

  private let store: any Store
  private let actions: DelayedActions
  /// Another in every life of the process.
  private let epoch: UInt64
  private var number: UInt64 = 0
  /// What expired until then cannot be deleted for now, and is left for the next round.
  private var position: ExpiredRecord?

  package init(store: any Store, actions: DelayedActions, host: Host) {
    self.store = store
    self.actions = actions
    epoch = OpSource.epoch(host)
  }

  /// One bounded step.
  package mutating func step() async throws(CaravanError) -> Progress {
    let over = try await store.expired(after: position, atMost: StorageLimits.expiredPerStep)
    guard !over.isEmpty, try await isMine() else {
      position = nil
      return Progress()
    }
    var progress = Progress()
    for action in over.filter(actions.isAction).prefix(StorageLimits.actionsPerStep) {
      if try await actions.perform(action) { progress.actions += 1 }
      progress.hasMore = true
    }
    progress.deleted = try await delete(over.filter { !actions.isAction($0) })
    if progress.deleted > 0 { progress.hasMore = true }
    guard !progress.hasMore else { return progress }
    // What others refer to waits for another round, and keeps nothing behind it waiting.
    progress.hasMore = over.count == StorageLimits.expiredPerStep
    position = progress.hasMore ? over.last : nil
    return progress
  }

  package struct Progress: Sendable, Hashable {
    /// Records, without those that went with them.
    package var deleted = 0
    /// Actions that are done.
    package var actions = 0
    /// There may be more to do at once.
    package var hasMore = false
  }

  private func isMine() async throws(CaravanError) -> Bool {
    try await store.lease([Self.lease], holder: "\(Self.writer)/\(epoch)", ttl: StorageLimits.expiryTenure)
      .contains(where: \.isGranted)
  }

  /// What has changed since it was looked up stays, as does what others refer to.
  /// - Returns: how many are deleted, without those that went with them.
  package mutating func delete(_ records: [ExpiredRecord]) async throws(CaravanError) -> Int {
    var deleted = 0
    var rest = records[...]
    while let first = rest.first {
      let zone = first.zone
      // A default zone has no batches (CK-10).
      let batch = zone.name == DefaultZone.name ? [first] : rest.filter { $0.zone == zone }
      let mutations = batch.map { record in
        Mutation(name: record.name, base: .version(record.version), change: .delete)
      }
      rest.removeAll(where: Set(batch).contains)
      number += 1
      let commit = Commit(
        zone: zone, op: OpID(writer: Self.writer, epoch: epoch, number: number), opFloor: number, isAtomic: false,
        mutations: mutations)
      if case .applied(let outcomes, _, _, _) = try await store.commit(commit) {
        deleted += outcomes.count { if case .accepted = $0 { true } else { false } }
      }
    }
    return deleted
  }
}
