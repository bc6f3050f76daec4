public import CaravanModel
public import CaravanRuntime
internal import CaravanSQLite
public import CaravanStore

/// The store on SQLite: partitions over a few files, each with one writer (group commit) and some readers. One process
/// owns the directory.
public final class StoreSQLite: Store {
  let files: [StoreFile]
  private let lock: DirectoryLock?
  private let clock: any Clock
  private let quotas: DefaultQuotas
  private let spread: SpreadAccounts
  private let tombstones: TombstoneRule
  private let liveness = Liveness()

  /// Opens the files, or makes them.
  /// - Parameter observer: hears of every commit after it is durable.
  /// - Throws: `unavailable` when another process owns the directory, `storageFull` when it cannot be used,
  ///   `invalidData` when it was made with another number of files.
  public init(_ options: StoreOptions, host: Host, observer: (any CommitObserver)? = nil) async throws(CaravanError) {
    precondition(options.files > 0 && options.files <= Int(Partition.count), "a store has 1 to 64 files")
    precondition(
      options.location != .memory || options.readersPerFile == 0,
      "a store in memory has no second connection to read on")
    clock = host.clock
    quotas = options.quotas
    spread = SpreadAccounts(clock: host.clock)
    tombstones = options.tombstones
    switch options.location {
    case .directory(let path):
      lock = try DirectoryLock(path)
      try RestoreMark.check(path)
    case .memory: lock = nil
    }
    let disk = Outage.disk(host)
    var opened: [StoreFile] = []
    for number in 0..<options.files {
      opened.append(
        try await StoreFile(
          number: number, options: options, host: host, liveness: liveness, observer: observer, disk: disk,
          spread: spread))
    }
    files = opened
  }

  /// Ends after the writes under way. Later calls throw `unavailable`.
  public func close() async {
    liveness.end()
    for file in files { await file.close() }
    lock?.release()
  }

  /// What `kill -9` does, for simulations: from here on nothing is written or answered, and the directory can be opened
  /// anew at once.
  public func crash() {
    liveness.end()
    lock?.release()
  }

  func number(_ database: DatabaseID) -> Int { Int(Partition(of: database).number) % files.count }
  func file(_ partition: Partition) -> StoreFile { files[Int(partition.number) % files.count] }
  func file(_ database: DatabaseID) -> StoreFile { files[number(database)] }

  // MARK: Records

  public func commit(_ commit: Commit) async throws(CaravanError) -> CommitResult {
    let result = try await checked(in: commit.zone.database, bytes: commit.byteCount) { (file) throws(CaravanError) in
      try file.commit(commit)
    }
    return try await noting(result, of: commit)
  }

  public func commit(
    _ commit: Commit, bringing chunks: [ChunkBytes]
  ) async throws(CaravanError) -> CommitResult {
    let bytes = chunks.reduce(commit.byteCount) { $0 + $1.bytes.count }
    let result = try await checked(in: commit.zone.database, bytes: bytes) { (file) throws(CaravanError) in
      try file.chunks.stage(chunks, in: commit.zone.database, as: commit.view)
      return try file.commit(commit)
    }
    return try await noting(result, of: commit)
  }

  /// Those of one file are handed to its writer together.
  public func commit(_ commits: [Commit]) async -> [Result<CommitResult, CaravanError>] {
    let places = commits.map { Int(Partition(of: $0.zone.database).number) % files.count }
    let results = await withTaskGroup(of: [(Int, Result<Checked<CommitResult>, CaravanError>)].self) { group in
      for (number, file) in files.enumerated() {
        let own = commits.indices.filter { places[$0] == number }
        guard !own.isEmpty else { continue }
        group.addTask {
          let writes = own.map { index in
            let commit = commits[index]
            return Write(byteCount: commit.byteCount) { (file) throws(CaravanError) in try file.commit(commit) }
          }
          return Array(zip(own, await file.writer.write(writes)))
        }
      }
      return await group.inOrder(count: commits.count)
    }
    var decided: [Result<CommitResult, CaravanError>] = []
    for (commit, result) in zip(commits, results) {
      switch result {
      case .success(.done(let result)):
        if result.hasMetDamage { _ = try? await noting(result, of: commit) }
        decided.append(.success(result))
      case .failure(let error): decided.append(.failure(error))
      case .success(.mustRead):
        do throws(CaravanError) { decided.append(.success(try await self.commit(commit))) } catch {
          decided.append(.failure(error))
        }
      }
    }
    return decided
  }

  public func settle(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> CommitResult {
    try await file(zone.database).write { (file) throws(CaravanError) in try file.settle(op, in: zone) }
  }

  public func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage {
    let file = file(query.zone.database)
    let read = try await file.read { (file) throws(CaravanError) in try file.changes(query) }
    try await note(damaged: read.damaged, in: query.zone)
    let page = try await read.aimed { (incarnation) async throws(CaravanError) in
      try await file.write { (state) throws(CaravanError) in
        try state.snapshots.make(of: query.zone, incarnation, for: query.reader?.writer)
      }
    }
    file.sightings.withLock { $0.note(query, answered: page, at: clock.wallTime.milliseconds) }
    return page
  }

  public func fetch(
    _ names: [String], fields: Set<UInt32>?, in zone: ZoneID
  ) async throws(CaravanError) -> [Entry] {
    let now = clock.wallTime.milliseconds
    let found = try await file(zone.database).read { (file) throws(CaravanError) in
      try file.fetch(names, fields: fields, in: zone, now: now)
    }
    try await note(damaged: found.damaged, in: zone)
    return found
  }

  public func expired(after last: ExpiredRecord?, atMost count: Int) async throws(CaravanError) -> [ExpiredRecord] {
    let now = clock.wallTime.milliseconds
    var all: [ExpiredRecord] = []
    for file in files {
      all += try await file.read { (file) throws(CaravanError) in
        try file.expired(after: last, by: now, atMost: count)
      }
    }
    return Array(all.sorted(by: ExpiredRecord.comesFirst).prefix(count))
  }

  // MARK: Zones

  public func zones(in partition: Partition, _ filter: ZoneFilter) async throws(CaravanError) -> [ZonePosition] {
    try await file(partition).read { (file) throws(CaravanError) in try file.zones(in: partition, filter) }
  }

  public func createZone(_ zone: ZoneID, writer: String) async throws(CaravanError) -> ZonePosition {
    try await file(zone.database).write { (file) throws(CaravanError) in try file.zones.createZone(zone, writer: writer)
    }
  }

  public func changedZones(_ query: ZoneChangeQuery) async throws(CaravanError) -> ZoneChangePage {
    try await file(query.database).read { (file) throws(CaravanError) in try file.changedZones(query) }
  }

  public func deleteZone(
    _ zone: ZoneID, incarnation: Incarnation?, writer: String
  ) async throws(CaravanError) -> Bool {
    try await file(zone.database).write { (file) throws(CaravanError) in
      try file.zones.deleteZone(zone, incarnation: incarnation, writer: writer)
    }
  }

  // MARK: Chunks

  public func stage(
    _ chunks: [ChunkBytes], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) {
    let bytes = chunks.reduce(0) { $0 + $1.bytes.count }
    // What a power cut takes is missing when a commit names it, and comes again.
    try await file(database).write(bytes: bytes, isDurable: false) { (file) throws(CaravanError) in
      try file.chunks.stage(chunks, in: database, as: view)
    }
  }

  public func missing(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> [ChunkHash] {
    try await checked(in: database) { (file) throws(CaravanError) in
      try file.chunks.missing(hashes, in: database, as: view)
    }
  }

  public func visible(
    _ hashes: [ChunkHash], in database: DatabaseID, as view: ChunkView
  ) async throws(CaravanError) -> Set<ChunkHash> {
    let now = clock.wallTime.milliseconds
    return try await file(database).read { (file) throws(CaravanError) in
      try StagerReads(reads: file).visible(hashes, in: database, as: view, now: now)
    }
  }

  public func chunks(
    _ hashes: [ChunkHash], in database: DatabaseID, maxBytes: Int
  ) async throws(CaravanError) -> [FoundChunk] {
    let found = try await file(database).read { (file) throws(CaravanError) in
      try file.chunks(hashes, in: database, maxBytes: maxBytes)
    }
    let damaged = found.filter(\.isDamaged).map(\.hash)
    if !damaged.isEmpty {
      try await file(database).write { (file) throws(CaravanError) in try file.chunks.noteDamage(damaged, in: database)
      }
    }
    return found
  }

  // MARK: Groups and locks

  public func beginGroup(
    _ op: OpID, floor: UInt64, in zone: ZoneID
  ) async throws(CaravanError) -> StagedGroup {
    try await file(zone.database).write { (file) throws(CaravanError) in
      try file.groups.begin(op, floor: floor, in: zone)
    }
  }

  public func stage(_ part: StagedPart) async throws(CaravanError) -> PartStaging {
    try await checked(in: part.zone.database, bytes: part.body.count) { (file) throws(CaravanError) in
      try file.groups.stage(part)
    }
  }

  public func group(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> StagedGroup? {
    try await file(zone.database).read { (file) throws(CaravanError) in try file.group(op, in: zone) }
  }

  public func parts(of op: OpID, in zone: ZoneID) async throws(CaravanError) -> [[UInt8]] {
    try await file(zone.database).read { (file) throws(CaravanError) in try file.parts(of: op) }
  }

  public func removeGroup(_ op: OpID, in zone: ZoneID) async throws(CaravanError) {
    try await file(zone.database).write { (file) throws(CaravanError) in try file.groups.remove(op, in: zone) }
  }

  public func objectTasks(atMost count: Int) async throws(CaravanError) -> [ObjectTask] {
    let now = clock.wallTime.milliseconds
    var tasks: [ObjectTask] = []
    for file in files {
      tasks += try await file.read { (file) throws(CaravanError) in try file.objectTasks(atMost: count, now: now) }
    }
    return tasks
  }

  public func finish(
    _ task: ObjectTask, _ outcome: ObjectOutcome, paths: [String]
  ) async throws(CaravanError) {
    try await file(task.zone.database).write { (file) throws(CaravanError) in
      try file.objects.finish(task, outcome, paths: paths)
    }
  }

  public func objectCounts(of group: OpID?, in zone: ZoneID?) async throws(CaravanError) -> ObjectCounts {
    var counts = ObjectCounts()
    for file in zone.map({ [self.file($0.database)] }) ?? files {
      counts = counts + (try await file.read { (file) throws(CaravanError) in try file.objectCounts(of: group) })
    }
    return counts
  }

  public func lock(
    _ name: String, _ wish: LockWish, holder: String, in partition: Partition
  ) async throws(CaravanError) -> Lease {
    try await file(partition).write { (file) throws(CaravanError) in try file.leases.lock(name, wish, holder: holder) }
  }

  // MARK: The log

  public func log(
    of partition: Partition, after position: UInt64, atMost entries: Int
  ) async throws(CaravanError) -> LogPage {
    let count = min(max(1, entries), StoreLimits.logEntriesPerPage)
    return try await file(partition).read { (file) throws(CaravanError) in
      try file.log(of: partition.number, after: min(position, StoreLimits.highestNumber), atMost: count)
    }
  }

  public func logHeads() async throws(CaravanError) -> [Partition: UInt64] {
    var heads: [Partition: UInt64] = [:]
    for file in files {
      let found = try await file.read { (file) throws(CaravanError) in try file.logHeads() }
      heads.merge(found) { _, new in new }
    }
    return heads
  }

  // MARK: Ownership: in the first file, whatever the partition

  public func lease(_ names: [String], holder: String, ttl: Duration) async throws(CaravanError) -> [Lease] {
    try await files[0].write { (file) throws(CaravanError) in try file.leases.lease(names, holder: holder, ttl: ttl) }
  }

  public func leases(beginning prefix: String) async throws(CaravanError) -> [Lease] {
    let now = clock.wallTime.milliseconds
    return try await files[0].read { (file) throws(CaravanError) in try file.leases(beginning: prefix, now: now) }
  }

  public func cursor(of consumer: String, in partition: Partition) async throws(CaravanError) -> UInt64 {
    try await files[0].read { (file) throws(CaravanError) in try file.cursor(of: consumer, in: partition.number) }
  }

  public func moveCursor(
    of consumer: String, in partition: Partition, to position: UInt64, proof: LeaseProof
  ) async throws(CaravanError) {
    try await files[0].write { (file) throws(CaravanError) in
      try file.leases.moveCursor(of: consumer, in: partition.number, to: position, proof: proof)
    }
  }

  // MARK: Accounts

  public func account(_ account: Account) async throws(CaravanError) -> AccountState {
    let quotas = quotas
    var state = try await file(account.partition).read { (file) throws(CaravanError) in
      try file.account(account, quotas)
    }
    let home = Int(account.partition.number) % files.count
    for (number, file) in files.enumerated() where number != home {
      state.used += try await file.read { (file) throws(CaravanError) in try file.used(by: account) }
    }
    return state
  }

  public func setQuota(_ quota: Quota?, of account: Account) async throws(CaravanError) -> AccountState {
    for file in files {
      try await file.write { (file) throws(CaravanError) in try file.accounts.setQuota(quota, of: account) }
    }
    return try await self.account(account)
  }

  // MARK: Maintenance

  public func status() async throws(CaravanError) -> StoreStatus {
    var status = StoreStatus()
    for file in files {
      status = status + (try await file.read { (file) throws(CaravanError) in try StoreStatus(of: file.db) })
    }
    return status
  }

  public func collect() async throws(CaravanError) -> Bool {
    var hasMore = false
    for file in files {
      let sightings = file.sightings.withLock { $0.take(atMost: StoreLimits.sightingsWritten) }
      do throws(CaravanError) {
        let more = try await file.write { [tombstones] (file) throws(CaravanError) in
          try file.collect(sightings, tombstones)
        }
        hasMore = hasMore || more
      } catch {
        file.sightings.withLock { $0.putBack(sightings) }
        throw error
      }
    }
    let hasMoreAccounts = try await spread.sum { account throws(CaravanError) in
      var parts: [Partition: Usage] = [:]
      for file in files {
        parts.merge(
          try await file.read { (file) throws(CaravanError) in try file.parts(of: account) }, uniquingKeysWith: { $1 })
      }
      return parts
    }
    return hasMore || hasMoreAccounts
  }
}
