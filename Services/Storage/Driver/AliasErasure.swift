import CaravanModel
import CaravanStorageClient
import CaravanStorageCore
import CaravanStore
import CaravanWire

/// Removes how a user and their devices are called in the containers' public databases (TRU-09). What they wrote
/// there stays, under a name that nobody can connect with them any more.
struct AliasErasure: Sendable {
  let store: any Store
  let ops: OpSource

  /// All there is; done again it does no harm.
  func erase(_ user: UserID) async throws(CaravanError) {
    for environment in CaravanModel.Environment.allCases {
      let database = AliasNames.home(environment)
      for position in try await store.zones(in: Partition(of: database), .database(database))
      where AliasNames.isOfAliases(position.zone) {
        try await erase(user, from: position.zone)
      }
    }
  }

  private func erase(_ user: UserID, from zone: ZoneID) async throws(CaravanError) {
    var query = ChangeQuery(zone: zone)
    while true {
      let page = try await store.changes(query)
      var deletions: [CaravanModel.Mutation] = []
      for entry in try EntryPage.decode(page.page).entries where !entry.deleted {
        guard case .text(let text) = try RecordFields(body: entry.body)[AliasNames.content],
          AliasNames.isRecord(entry.name, text, of: user)
        else { continue }
        deletions.append(CaravanModel.Mutation(name: entry.name, base: .version(entry.version), change: .delete))
      }
      for start in stride(from: 0, to: deletions.count, by: Limits.recordsPerCommit) {
        try await commit(Array(deletions[start..<min(start + Limits.recordsPerCommit, deletions.count)]), to: zone)
      }
      guard page.more else { return }
      query.position = page.next
    }
  }

  private func commit(_ deletions: [CaravanModel.Mutation], to zone: ZoneID) async throws(CaravanError) {
    let (op, floor) = ops.begin()
    defer { ops.end(op) }
    _ = try await store.commit(
      Commit(zone: zone, op: op, opFloor: floor, isAtomic: false, mutations: deletions))
  }
}
