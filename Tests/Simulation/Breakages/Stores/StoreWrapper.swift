internal import CaravanModel
internal import CaravanStore

/// A store in front of another, for breakages: what a wrapper does not answer itself it passes on. Commits side by
/// side, and those with chunks, come to it one by one.
protocol StoreWrapper: Store {
  var store: any Store { get }
}

extension StoreWrapper {
  var trouble: String? { store.trouble }
  func sharedName() async throws(CaravanError) -> String? { try await store.sharedName() }

  func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult { try await store.commit(commit) }

  func settle(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> CommitResult {
    try await store.settle(op, in: zone)
  }

  func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage { try await store.changes(query) }

  func fetch(
    _ names: [String], fields: Set<UInt32>?, in zone: ZoneID
  ) async throws(CaravanError) -> [Entry] {
    try await store.fetch(names, fields: fields, in: zone)
  }

  func expired(after last: ExpiredRecord?, atMost count: Int) async throws(CaravanError) -> [ExpiredRecord] {
    try await store.expired(after: last, atMost: count)
  }

  func zones(in partition: Partition, _ filter: ZoneFilter) async throws(CaravanError) -> [ZonePosition] {
    try await store.zones(in: partition, filter)
  }

  func createZone(_ zone: ZoneID, writer: String) async throws(CaravanError) -> ZonePosition {
    try await store.createZone(zone, writer: writer)
  }

  func changedZones(_ query: ZoneChangeQuery) async throws(CaravanError) -> ZoneChangePage {
    try await store.changedZones(query)
  }

  func deleteZone(
    _ zone: ZoneID, incarnation: Incarnation?, writer: String
  ) async throws(CaravanError) -> Bool {
    try await store.deleteZone(zone, incarnation: incarnation, writer: writer)
  }

  func damage(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedChunk] {
    try await store.damage(filter, atMost: count)
  }

  func damagedBodies(_ filter: DamageFilter, atMost count: Int) async throws(CaravanError) -> [DamagedBody] {
    try await store.damagedBodies(filter, atMost: count)
  }

  func records(
    naming chunks: Set<ChunkHash>, in database: DatabaseID, atMost count: Int
  ) async throws(CaravanError) -> [DamagedRecord] {
    try await store.records(naming: chunks, in: database, atMost: count)
  }

  func scrub(bytes: Int) async throws(CaravanError) -> ScrubStep { try await store.scrub(bytes: bytes) }

  func stage(_ chunks: [ChunkBytes], in database: DatabaseID, as view: ChunkView) async throws(CaravanError) {
    try await store.stage(chunks, in: database, as: view)
  }

  func missing(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [ChunkHash] {
    try await store.missing(hashes, in: database, as: view)
  }

  func visible(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> Set<ChunkHash> {
    try await store.visible(hashes, in: database, as: view)
  }

  func chunks(
    _ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int
  ) async throws(CaravanError) -> [FoundChunk] {
    try await store.chunks(hashes, in: database, maxBytes: maxBytes)
  }

  func beginGroup(_ op: OpID, floor: UInt64, in zone: ZoneID) async throws(CaravanError) -> StagedGroup {
    try await store.beginGroup(op, floor: floor, in: zone)
  }

  func stage(_ part: StagedPart) async throws(CaravanError) -> PartStaging { try await store.stage(part) }

  func group(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> StagedGroup? {
    try await store.group(op, in: zone)
  }

  func parts(of op: OpID, in zone: ZoneID) async throws(CaravanError) -> [[UInt8]] {
    try await store.parts(of: op, in: zone)
  }

  func removeGroup(_ op: OpID, in zone: ZoneID) async throws(CaravanError) {
    try await store.removeGroup(op, in: zone)
  }

  func objectTasks(atMost count: Int) async throws(CaravanError) -> [ObjectTask] {
    try await store.objectTasks(atMost: count)
  }

  func finish(_ task: ObjectTask, _ outcome: ObjectOutcome, paths: [String]) async throws(CaravanError) {
    try await store.finish(task, outcome, paths: paths)
  }

  func objectCounts(of group: OpID?, in zone: ZoneID?) async throws(CaravanError) -> ObjectCounts {
    try await store.objectCounts(of: group, in: zone)
  }

  func lock(
    _ name: String, _ wish: LockWish, holder: String, in partition: Partition
  ) async throws(CaravanError) -> Lease {
    try await store.lock(name, wish, holder: holder, in: partition)
  }

  func log(
    of partition: Partition, after position: UInt64, atMost entries: Int
  ) async throws(CaravanError) -> LogPage {
    try await store.log(of: partition, after: position, atMost: entries)
  }

  func logHeads() async throws(CaravanError) -> [Partition: UInt64] { try await store.logHeads() }

  func lease(_ names: [String], holder: String, ttl: Duration) async throws(CaravanError) -> [Lease] {
    try await store.lease(names, holder: holder, ttl: ttl)
  }

  func leases(beginning prefix: String) async throws(CaravanError) -> [Lease] {
    try await store.leases(beginning: prefix)
  }

  func cursor(of consumer: String, in partition: Partition) async throws(CaravanError) -> UInt64 {
    try await store.cursor(of: consumer, in: partition)
  }

  func moveCursor(
    of consumer: String, in partition: Partition, to position: UInt64, proof: LeaseProof
  ) async throws(CaravanError) {
    try await store.moveCursor(of: consumer, in: partition, to: position, proof: proof)
  }

  func status() async throws(CaravanError) -> StoreStatus { try await store.status() }
  func account(_ account: Account) async throws(CaravanError) -> AccountState { try await store.account(account) }

  func setQuota(_ quota: Quota?, of account: Account) async throws(CaravanError) -> AccountState {
    try await store.setQuota(quota, of: account)
  }

  func collect() async throws(CaravanError) -> Bool { try await store.collect() }
}
