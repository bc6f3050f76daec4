package import CaravanModel
package import CaravanRuntime
import CaravanStorageCore
package import CaravanStore

/// A store beside the main one.
package struct Neighbour: Sendable {
  package let name: String
  package let store: any MovableStore
  /// Raised when it has committed something.
  let commits: Signal

  /// - Parameter observer: the one that the store was opened with.
  package init(_ name: String, _ store: any MovableStore, observer: CommitBell) {
    self.name = name
    self.store = store
    commits = observer.signal
  }
}

/// Rings for every commit.
package final class CommitBell: CommitObserver {
  let signal = Signal()

  package init() {}
  package func committed(_ group: [CommittedChange]) { signal.raise() }
  package func missed() { signal.raise() }
}

/// Several stores that are one: each user's private databases are in one of them, everything else is in the main one.
/// One process owns the main store and so all of them: who is where it keeps in memory, and knows before anybody asks.
package final class RoutedStore: Store {
  let home: any HomeStore
  let neighbours: [Neighbour]
  let gate = OwnerAdmission()
  let placementCache: PlacementCache
  /// As they were when it was opened.
  let placements: [UserID: Placement]

  /// - Throws: `invalidData` when users are in a store that is not given.
  package init(home: any HomeStore, _ neighbours: [Neighbour], host: Host) async throws(CaravanError) {
    self.home = home
    self.neighbours = neighbours
    placementCache = PlacementCache(store: home, host: host)
    placements = try await placementCache.all()
    var names: Set<String> = [Placement.main]
    for neighbour in neighbours {
      try Placement.check(name: neighbour.name)
      guard names.insert(neighbour.name).inserted else {
        throw CaravanError(.invalidData, "two stores are called '\(neighbour.name)': give each a name of its own")
      }
    }
    for (owner, placement) in placements {
      guard let lacking = placement.stores.subtracting(names).min() else {
        gate.place(owner, in: placement.store)
        continue
      }
      throw CaravanError(
        .invalidData, "user '\(owner)' is in store '\(lacking)': start with --store \(lacking)=… as before")
    }
  }

  /// Whether the main store alone would do.
  package var isPlain: Bool { neighbours.isEmpty && placements.isEmpty }

  func store(named name: String) -> any MovableStore {
    neighbours.first { $0.name == name }?.store ?? home
  }

  /// Those whose store is gone are not served.
  package var trouble: String? {
    if let trouble = home.trouble { return trouble }
    for neighbour in neighbours { if let trouble = neighbour.store.trouble { return "\(neighbour.name): \(trouble)" } }
    return nil
  }

  // MARK: Ways

  private func read<Value: Sendable>(
    of owner: UserID?, _ body: (any MovableStore) async throws(CaravanError) -> Value
  ) async throws(CaravanError) -> Value {
    guard let owner else { return try await body(home) }
    return try await read({ gate.stay(of: owner) }) { stay throws(CaravanError) in
      try await body(store(named: stay.store))
    }
  }

  /// What is left behind goes while a read may still wait for its turn there (CK-22): who has read in a store that
  /// somebody has left meanwhile reads again. That ends: a user moves when somebody says so.
  private func read<Place: Equatable, Value: Sendable>(
    _ place: () -> Place, _ body: (Place) async throws(CaravanError) -> Value
  ) async throws(CaravanError) -> Value {
    while true {
      let before = place()
      let answer: Result<Value, CaravanError>
      do throws(CaravanError) { answer = .success(try await body(before)) } catch { answer = .failure(error) }
      if place() == before { return try answer.get() }
    }
  }

  private func write<Value: Sendable>(
    for owner: UserID?, _ body: (any MovableStore) async throws(CaravanError) -> Value
  ) async throws(CaravanError) -> Value {
    guard let owner else { return try await body(home) }
    let store = store(named: try gate.enter(owner))
    defer { gate.leave(owner) }
    return try await body(store)
  }

  /// What the stores that somebody is in have of those who are there: nobody else waits for the others.
  private func readAll<Item: Sendable>(
    at database: @Sendable (Item) -> DatabaseID, _ body: (any MovableStore) async throws(CaravanError) -> [Item]
  ) async throws(CaravanError) -> [Item] {
    try await read({ gate.stays }) { stays throws(CaravanError) in
      let used = Set(stays.values.map(\.store)).union([Placement.main])
      var items: [Item] = []
      for name in [Placement.main] + neighbours.map(\.name) where used.contains(name) {
        items += try await body(store(named: name)).filter { item in
          let stay = database(item).owner.flatMap { stays[$0] }
          return (stay?.store ?? Placement.main) == name
        }
      }
      return items
    }
  }

  private var stores: [any MovableStore] { [home] + neighbours.map(\.store) }

  // MARK: Records

  package func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult {
    try await write(for: commit.zone.database.owner) { store throws(CaravanError) in try await store.commit(commit) }
  }

  package func commit(
    _ commit: Commit, bringing chunks: [ChunkBytes]
  ) async throws(CaravanError) -> CommitResult {
    try await write(for: commit.zone.database.owner) { store throws(CaravanError) in
      try await store.commit(commit, bringing: chunks)
    }
  }

  package func settle(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> CommitResult {
    try await write(for: zone.database.owner) { store throws(CaravanError) in try await store.settle(op, in: zone) }
  }

  package func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage {
    try await read(of: query.zone.database.owner) { store throws(CaravanError) in try await store.changes(query) }
  }

  package func fetch(
    _ names: [String], fields: Set<UInt32>?, in zone: ZoneID
  ) async throws(CaravanError) -> [Entry] {
    try await read(of: zone.database.owner) { store throws(CaravanError) in
      try await store.fetch(names, fields: fields, in: zone)
    }
  }

  package func expired(after last: ExpiredRecord?, atMost count: Int) async throws(CaravanError) -> [ExpiredRecord] {
    let all = try await readAll(at: { $0.zone.database }) { store throws(CaravanError) in
      try await store.expired(after: last, atMost: count)
    }
    return Array(all.sorted(by: ExpiredRecord.comesFirst).prefix(count))
  }

  // MARK: Zones

  package func zones(in partition: Partition, _ filter: ZoneFilter) async throws(CaravanError) -> [ZonePosition] {
    let zones: @Sendable (any MovableStore) async throws(CaravanError) -> [ZonePosition] = {
      store throws(CaravanError) in try await store.zones(in: partition, filter)
    }
    return switch filter {
    case .database(let database): try await read(of: database.owner, zones)
    case .owner(let user): try await read(of: user, zones)
    case .everything, .named: try await readAll(at: { $0.zone.database }, zones)
    }
  }

  package func createZone(_ zone: ZoneID, writer: String) async throws(CaravanError) -> ZonePosition {
    try await write(for: zone.database.owner) { store throws(CaravanError) in
      try await store.createZone(zone, writer: writer)
    }
  }

  package func changedZones(_ query: ZoneChangeQuery) async throws(CaravanError) -> ZoneChangePage {
    try await read(of: query.database.owner) { store throws(CaravanError) in try await store.changedZones(query) }
  }

  package func deleteZone(
    _ zone: ZoneID, incarnation: Incarnation?, writer: String
  ) async throws(CaravanError) -> Bool {
    try await write(for: zone.database.owner) { store throws(CaravanError) in
      try await store.deleteZone(zone, incarnation: incarnation, writer: writer)
    }
  }

  // MARK: Chunks

  package func stage(
    _ chunks: [ChunkBytes], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) {
    try await write(for: database.owner) { store throws(CaravanError) in
      try await store.stage(chunks, in: database, as: view)
    }
  }

  package func missing(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [ChunkHash] {
    try await read(of: database.owner) { store throws(CaravanError) in
      try await store.missing(hashes, in: database, as: view)
    }
  }

  package func visible(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> Set<ChunkHash> {
    try await read(of: database.owner) { store throws(CaravanError) in
      try await store.visible(hashes, in: database, as: view)
    }
  }

  package func chunks(
    _ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int
  ) async throws(CaravanError) -> [FoundChunk] {
    try await read(of: database.owner) { store throws(CaravanError) in
      try await store.chunks(hashes, in: database, maxBytes: maxBytes)
    }
  }

  // MARK: Damage

  package func damage(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedChunk] {
    let all = try await damage(filter, of: { $0.database }) { store throws(CaravanError) in
      try await store.damage(filter, atMost: count)
    }
    return all.heldFirst(atMost: count)
  }

  package func damagedBodies(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedBody] {
    let all = try await damage(filter, of: { $0.zone.database }) { store throws(CaravanError) in
      try await store.damagedBodies(filter, atMost: count)
    }
    return Array(all.prefix(count))
  }

  private func damage<Item: Sendable>(
    _ filter: DamageFilter, of database: @Sendable (Item) -> DatabaseID,
    _ body: @Sendable (any MovableStore) async throws(CaravanError) -> [Item]
  ) async throws(CaravanError) -> [Item] {
    switch filter {
    case .everything: try await readAll(at: database, body)
    case .database(let database): try await read(of: database.owner, body)
    case .owner(let owner): try await read(of: owner, body)
    }
  }

  package func records(
    naming chunks: Set<ChunkHash>, in database: DatabaseID, atMost count: Int
  ) async throws(CaravanError) -> [DamagedRecord] {
    try await read(of: database.owner) { store throws(CaravanError) in
      try await store.records(naming: chunks, in: database, atMost: count)
    }
  }

  package func scrub(bytes: Int) async throws(CaravanError) -> ScrubStep {
    var step = ScrubStep(isRoundOver: true)
    for store in stores { step = step + (try await store.scrub(bytes: bytes)) }
    return step
  }

  // MARK: Maintenance

  package func status() async throws(CaravanError) -> StoreStatus {
    var status = StoreStatus()
    for store in stores { status = status + (try await store.status()) }
    return status
  }

  package func collect() async throws(CaravanError) -> Bool {
    var hasMore = false
    for store in stores where try await store.collect() { hasMore = true }
    return hasMore
  }

  // MARK: Accounts

  package func account(_ account: Account) async throws(CaravanError) -> AccountState {
    try await read(of: account.user) { store throws(CaravanError) in try await store.account(account) }
  }

  package func setQuota(_ quota: Quota?, of account: Account) async throws(CaravanError) -> AccountState {
    try await write(for: account.user) { store throws(CaravanError) in
      try await store.setQuota(quota, of: account)
    }
  }
}

extension Account {
  var user: UserID? {
    switch self {
    case .user(let user, _): user
    case .container: nil
    }
  }
}

// MARK: Groups and locks

extension RoutedStore {
  package func beginGroup(
    _ op: OpID, floor: UInt64, in zone: ZoneID
  ) async throws(CaravanError) -> StagedGroup {
    try await write(for: zone.database.owner) { store throws(CaravanError) in
      try await store.beginGroup(op, floor: floor, in: zone)
    }
  }

  package func stage(_ part: StagedPart) async throws(CaravanError) -> PartStaging {
    try await write(for: part.zone.database.owner) { store throws(CaravanError) in try await store.stage(part) }
  }

  package func group(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> StagedGroup? {
    try await read(of: zone.database.owner) { store throws(CaravanError) in try await store.group(op, in: zone) }
  }

  package func parts(of op: OpID, in zone: ZoneID) async throws(CaravanError) -> [[UInt8]] {
    try await read(of: zone.database.owner) { store throws(CaravanError) in try await store.parts(of: op, in: zone) }
  }

  package func removeGroup(_ op: OpID, in zone: ZoneID) async throws(CaravanError) {
    try await write(for: zone.database.owner) { store throws(CaravanError) in
      try await store.removeGroup(op, in: zone)
    }
  }

  /// A lock lies beside what it guards: its name ends with the owner of that (`lock/<database>`).
  package func lock(
    _ name: String, _ wish: LockWish, holder: String, in partition: Partition
  ) async throws(CaravanError) -> Lease {
    let owner = name.split(separator: "/").last.flatMap { try? UserID(String($0)) }
    return try await write(for: name.hasPrefix("lock/") ? owner : nil) { store throws(CaravanError) in
      try await store.lock(name, wish, holder: holder, in: partition)
    }
  }
}

// MARK: What is in the main store alone

extension RoutedStore {
  package func objectTasks(atMost count: Int) async throws(CaravanError) -> [ObjectTask] {
    try await home.objectTasks(atMost: count)
  }

  package func finish(
    _ task: ObjectTask, _ outcome: ObjectOutcome, paths: [String]
  ) async throws(CaravanError) {
    try await home.finish(task, outcome, paths: paths)
  }

  package func objectCounts(of group: OpID?, in zone: ZoneID?) async throws(CaravanError) -> ObjectCounts {
    try await home.objectCounts(of: group, in: zone)
  }

  package func log(
    of partition: Partition, after position: UInt64, atMost entries: Int
  ) async throws(CaravanError) -> LogPage {
    try await home.log(of: partition, after: position, atMost: entries)
  }

  package func logHeads() async throws(CaravanError) -> [Partition: UInt64] { try await home.logHeads() }

  package func lease(_ names: [String], holder: String, ttl: Duration) async throws(CaravanError) -> [Lease] {
    try await home.lease(names, holder: holder, ttl: ttl)
  }

  package func leases(beginning prefix: String) async throws(CaravanError) -> [Lease] {
    try await home.leases(beginning: prefix)
  }

  package func cursor(of consumer: String, in partition: Partition) async throws(CaravanError) -> UInt64 {
    try await home.cursor(of: consumer, in: partition)
  }

  package func moveCursor(
    of consumer: String, in partition: Partition, to position: UInt64, proof: LeaseProof
  ) async throws(CaravanError) {
    try await home.moveCursor(of: consumer, in: partition, to: position, proof: proof)
  }
}
