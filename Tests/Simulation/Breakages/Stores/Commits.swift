internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore

/// A store that compares no base: whoever writes last wins, whatever they had seen.
struct TrustingStore: StoreWrapper {
  let store: any Store

  func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult {
    var commit = commit
    for index in commit.mutations.indices where commit.mutations[index].change != .read {
      commit.mutations[index].base = .any
    }
    return try await store.commit(commit)
  }
}

/// A store that says of some commits that they are durable, and keeps nothing of them.
struct ForgettingStore: StoreWrapper {
  let store: any Store
  let turns = Turns(every: 12)

  func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult {
    guard commit.isOfApps, commit.parts == nil, turns.isNext else { return try await store.commit(commit) }
    let database = commit.zone.database
    let zones = try await store.zones(in: Partition(of: database), .database(database))
    guard let zone = zones.first(where: { $0.zone == commit.zone }) else { return try await store.commit(commit) }
    let outcomes = commit.mutations.indices.map { Outcome.accepted(version: zone.seq + 1 + Seq($0)) }
    return .applied(outcomes: outcomes, zoneSeq: zone.seq, incarnation: zone.incarnation)
  }
}

/// A store that applies a batch without its last change, and says that it applied all.
struct TearingStore: StoreWrapper {
  let store: any Store

  func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult {
    guard commit.isOfApps, commit.isAtomic, commit.mutations.count > 1 else { return try await store.commit(commit) }
    var torn = commit
    torn.mutations.removeLast()
    let result = try await store.commit(torn)
    guard case .applied(let outcomes, let seq, let incarnation, let time) = result else { return result }
    return .applied(
      outcomes: outcomes + [.accepted(version: seq)], zoneSeq: seq, incarnation: incarnation, time: time)
  }
}

/// A store to which some commits come once more after a while, as a message that was repeated would, below the place
/// where ops are told apart: as another op, which looks at no base.
final class RepeatingStore: StoreWrapper {
  let store: any Store
  private let turns = Turns(every: 6)
  private let kept = Mutex<Commit?>(nil)

  init(_ store: any Store) { self.store = store }

  /// Far above what any writer counts to.
  private static let firstNumber: UInt64 = 1 << 30

  func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult {
    let result = try await store.commit(commit)
    guard commit.isOfApps, commit.parts == nil, turns.isNext, case .applied = result else { return result }
    let before = kept.withLock { kept in
      defer { kept = commit }
      return kept
    }
    if var before {
      before.op = OpID(writer: before.op.writer, epoch: before.op.epoch, number: Self.firstNumber + before.op.number)
      before.opFloor = 0
      before.fence = nil
      _ = try? await TrustingStore(store: store).commit(before)
    }
    return result
  }
}

/// A store in which users share what they name alike: zones are found by container and name alone.
struct CommunalStore: StoreWrapper {
  let store: any Store
  let owner: UserID

  private func shared(_ database: DatabaseID) -> DatabaseID {
    guard database.owner != nil, database.container != .system else { return database }
    return DatabaseID(container: database.container, environment: .development, owner: owner)
  }

  private func shared(_ zone: ZoneID) throws(CaravanError) -> ZoneID { try ZoneID(shared(zone.database), zone.name) }

  func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult {
    var commit = commit
    commit.zone = try shared(commit.zone)
    return try await store.commit(commit)
  }

  func settle(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> CommitResult {
    try await store.settle(op, in: shared(zone))
  }

  func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage {
    var query = query
    query.zone = try shared(query.zone)
    return try await store.changes(query)
  }

  func fetch(_ names: [String], fields: Set<UInt32>?, in zone: ZoneID) async throws(CaravanError) -> [Entry] {
    try await store.fetch(names, fields: fields, in: shared(zone))
  }

  func stage(_ chunks: [ChunkBytes], in database: DatabaseID, as view: ChunkView) async throws(CaravanError) {
    try await store.stage(chunks, in: shared(database), as: view)
  }

  func missing(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [ChunkHash] {
    try await store.missing(hashes, in: shared(database), as: view)
  }

  func chunks(
    _ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int
  ) async throws(CaravanError) -> [FoundChunk] {
    try await store.chunks(hashes, in: shared(database), maxBytes: maxBytes)
  }
}

extension Commit {
  /// Breakages of commits leave alone what services keep for themselves: without that no cluster gets on.
  var isOfApps: Bool { zone.database.container != .system }
}
