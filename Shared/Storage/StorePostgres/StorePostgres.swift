public import CaravanModel
internal import CaravanPostgreSQL
public import CaravanRuntime
public import CaravanStore

internal import struct Synchronization.Atomic

/// The store on PostgreSQL, or what speaks its language. Any number of processes may work on one database at once:
/// whoever writes to a partition holds its row, so commits of a partition follow one another and its log has no holes,
/// and time is the database's.
public final class StorePostgres: Store {
  private let writers: [WriterLane]
  private let readers: [ReaderLane]
  private let turn = Atomic<Int>(0)
  let options: PostgresOptions
  let host: Host
  private let liveness = Liveness()
  private let metrics: PostgresMetrics
  private let outage: Outage
  /// Where devices have shown to be, until maintenance writes it.
  private let sightings = Mutex(Sightings())
  private let spread: SpreadAccounts
  private let purgeTurn = Mutex(PurgeTurn())
  let burialTurn = Mutex(BurialTurn())
  let checked = Mutex(CheckedChunks<Wants.Chunk>())
  /// For what takes long and holds nobody up.
  private let slowLane: ReaderLane
  /// When indexes are looked at next, by this process.
  private let indexesDue: Mutex<Instant>

  /// Connects, and makes the tables of a new database.
  /// - Parameter observer: hears of this process's commits after they are durable; of others' from the log.
  /// - Throws: `unavailable` when the server cannot be reached or refuses, `internalError` when it lacks something.
  public init(
    _ options: PostgresOptions, host: Host, observer: (any CommitObserver)? = nil
  ) async throws(CaravanError) {
    precondition(
      options.writers > 0 && options.writers <= Int(Partition.count) && options.readers > 0,
      "a store has 1 to 64 writers, and readers")
    self.options = options
    self.host = host
    let metrics = PostgresMetrics(host.metrics)
    self.metrics = metrics
    let liveness = liveness
    let outage = Outage(host, "PostgreSQL cannot be reached", over: "PostgreSQL is reached again")
    self.outage = outage
    let disk = Outage.disk(host)
    let spread = SpreadAccounts(clock: options.clock ?? host.clock)
    self.spread = spread
    writers = (0..<options.writers).map {
      WriterLane(
        name: "pg-write-\($0)", options, host: host, liveness: liveness, observer: observer, metrics: metrics,
        outage: outage, disk: disk, spread: spread)
    }
    readers = (0..<options.readers).map {
      ReaderLane(
        name: "pg-read-\($0)", options, host: host, liveness: liveness, metrics: metrics, outage: outage)
    }
    slowLane = ReaderLane(
      name: "pg-maintenance", options, connection: .maintenance(options.address), host: host, liveness: liveness,
      metrics: metrics, outage: outage)
    indexesDue = Mutex(host.clock.now)
    do throws(CaravanError) { try await open() } catch {
      await close()
      throw CaravanError(error.code, "\(options.address): \(error.message)")
    }
  }

  /// A server that is just starting is waited for.
  private func open() async throws(CaravanError) {
    let deadline = host.clock.now + PostgresLimits.openPatience
    while true {
      do throws(CaravanError) {
        let (host, queuesObjects) = (host, options.queuesObjects)
        let isDurable = try await writers[0].perform { (db) throws(PostgresError) in
          try Layout.prepare(db, host: host)
          if queuesObjects { try PartitionMaintenance(db: db).queueRestoredObjects() }
          return try db.run("SELECT 1 WHERE current_setting('fsync', true) = 'off'").isEmpty
        }
        if !isDurable {
          host.log.warning("PostgreSQL runs with fsync = off: what is acknowledged may be lost with the power")
        }
        return
      } catch {
        // Whoever starts a storage may know where its server is, and what that says.
        guard let failure = await writers[0].lastFailure else { throw error }
        guard failure.kind == .lost, host.clock.now < deadline else { throw failure.caravanError }
        do { try await host.clock.sleep(for: PostgresLimits.firstRetry) } catch {
          throw CaravanError(.cancelled, "the task was cancelled")
        }
      }
    }
  }

  /// Ends after the writes under way. Later calls throw `unavailable`.
  public func close() async {
    liveness.end()
    for writer in writers { await writer.close() }
    for reader in readers { await reader.close() }
    await slowLane.close()
  }

  public var trouble: String? { outage.current }

  // MARK: Lanes

  func write<Value: Sendable>(
    to partition: Partition, bytes: Int = 0, wants: @escaping @Sendable (inout Wants) -> Void,
    _ work: @escaping @Sendable (PartitionState) throws(CaravanError) -> Answer<Value>
  ) async throws(CaravanError) -> Value {
    let deadline = host.clock.now + options.patience
    let write = Write(partition, bytes: bytes, deadline: deadline, wants: wants, work)
    return try await writers[Int(partition.number) % writers.count].write(write)
  }

  func read<Value: Sendable>(
    _ work: @Sendable (Reads) throws(PostgresError) -> Value
  ) async throws(CaravanError) -> Value {
    let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    return try await readers[Int(UInt(bitPattern: index) % UInt(readers.count))].read { (db) throws(PostgresError) in
      try work(Reads(db: db))
    }
  }

  /// nil: the database's.
  var clock: Int64? { options.clock?.wallTime.milliseconds }

  /// Milliseconds that nobody can set: this machine's wall clock may be another than the database's.
  private var running: Int64 { Int64(clamping: host.clock.now.nanoseconds / 1_000_000) }

  // MARK: Records

  public func settle(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> CommitResult {
    try await write(to: Partition(of: zone.database)) {
      $0.add(group: op, in: zone)
    } _: { (state) throws(CaravanError) in
      try state.settle(op, in: zone)
    }
  }

  public func changes(_ query: ChangeQuery) async throws(CaravanError) -> ChangePage {
    let read = try await read { (reads) throws(PostgresError) in try reads.changes(query) }
    try await note(damaged: read.damaged, in: query.zone)
    let partition = Partition(of: query.zone.database)
    let page = try await read.aimed { (incarnation) async throws(CaravanError) in
      try await writers[Int(partition.number) % writers.count].perform { (db) throws(PostgresError) in
        try PartitionMaintenance(db: db).makeSnapshot(of: incarnation, in: partition, for: query.reader?.writer)
      }
    }
    let time = clock ?? running
    sightings.withLock { $0.note(query, answered: page, at: time) }
    return page
  }

  public func fetch(
    _ names: [String], fields: Set<UInt32>?, in zone: ZoneID
  ) async throws(CaravanError) -> [Entry] {
    let clock = clock
    var entries = try await read { (reads) throws(PostgresError) in try reads.fetch(names, in: zone, clock: clock) }
    try await note(damaged: entries.damaged, in: zone)
    guard let fields else { return entries }
    for index in entries.indices where !entries[index].isDamaged { try entries[index].select(fields) }
    return entries
  }

  public func expired(after last: ExpiredRecord?, atMost count: Int) async throws(CaravanError) -> [ExpiredRecord] {
    let clock = clock
    return try await read { (reads) throws(PostgresError) in
      try reads.expired(after: last, atMost: count, clock: clock)
    }
  }

  // MARK: Zones

  public func zones(in partition: Partition, _ filter: ZoneFilter) async throws(CaravanError) -> [ZonePosition] {
    try await read { (reads) throws(PostgresError) in try reads.zones(in: partition, filter) }
  }

  public func createZone(_ zone: ZoneID, writer: String) async throws(CaravanError) -> ZonePosition {
    try await write(to: Partition(of: zone.database)) {
      $0.add(zone)
    } _: { (state) throws(CaravanError) in
      let position = try state.createZone(zone, writer: writer)
      return { _ throws(CaravanError) in position }
    }
  }

  public func changedZones(_ query: ZoneChangeQuery) async throws(CaravanError) -> ZoneChangePage {
    try await read { (reads) throws(PostgresError) in try reads.changedZones(query) }
  }

  public func deleteZone(
    _ zone: ZoneID, incarnation: Incarnation?, writer: String
  ) async throws(CaravanError) -> Bool {
    // Of a try whose commit was never heard of, the next one finds nothing more to delete.
    let existed = Latch()
    return try await write(to: Partition(of: zone.database)) {
      $0.add(zone)
    } _: { (state) throws(CaravanError) in
      if state.deleteZone(zone, incarnation: incarnation, writer: writer) { existed.open() }
      return { _ throws(CaravanError) in existed.isOpen }
    }
  }

  // MARK: The log

  public func log(
    of partition: Partition, after position: UInt64, atMost entries: Int
  ) async throws(CaravanError) -> LogPage {
    let count = min(max(1, entries), StoreLimits.logEntriesPerPage)
    let position = min(position, StoreLimits.highestNumber)
    return try await read { (reads) throws(PostgresError) in
      try reads.log(of: partition, after: position, atMost: count)
    }
  }

  public func logHeads() async throws(CaravanError) -> [Partition: UInt64] {
    try await read { (reads) throws(PostgresError) in try reads.logHeads() }
  }

  public func sharedName() async throws(CaravanError) -> String? {
    let life = try await read { (reads) throws(PostgresError) in try reads.life(of: Self.home) }
    return "postgres-\(String(life, radix: 36))"
  }

  // MARK: Ownership: in partition 0, whatever it is about

  public func lease(_ names: [String], holder: String, ttl: Duration) async throws(CaravanError) -> [Lease] {
    try await write(to: Self.home) {
      $0.add(leases: names)
    } _: { (state) throws(CaravanError) in
      let leases = state.lease(names, holder: holder, ttl: ttl)
      return { _ throws(CaravanError) in leases }
    }
  }

  public func leases(beginning prefix: String) async throws(CaravanError) -> [Lease] {
    let clock = clock
    return try await read { (reads) throws(PostgresError) in try reads.leases(beginning: prefix, clock: clock) }
  }

  public func cursor(of consumer: String, in partition: Partition) async throws(CaravanError) -> UInt64 {
    try await read { (reads) throws(PostgresError) in try reads.cursor(of: consumer, in: partition) }
  }

  public func moveCursor(
    of consumer: String, in partition: Partition, to position: UInt64, proof: LeaseProof
  ) async throws(CaravanError) {
    let cursor = PartitionState.Cursor(consumer: consumer, followed: partition.number)
    try await write(to: Self.home) {
      $0.add(leases: [proof.lease])
    } _: { (state) throws(CaravanError) in
      try state.moveCursor(cursor, to: position, proof: proof)
      return { _ throws(CaravanError) in }
    }
  }

  private static let home = Partition.all[0]

  // MARK: Accounts

  public func account(_ account: Account) async throws(CaravanError) -> AccountState {
    let quotas = options.quotas
    return try await read { (reads) throws(PostgresError) in try reads.account(account, quotas) }
  }

  public func setQuota(_ quota: Quota?, of account: Account) async throws(CaravanError) -> AccountState {
    try await write(to: account.partition) {
      $0.add(account)
    } _: { (state) throws(CaravanError) in
      state.accounts.setQuota(quota, of: account)
      return { _ throws(CaravanError) in }
    }
    return try await self.account(account)
  }

  // MARK: Maintenance

  /// What the clock of the database's server shows, by which leases, stamps and whatever goes by age are timed.
  public func serverTime() async throws(CaravanError) -> WallTime {
    let clock = clock
    return try await read { (reads) throws(PostgresError) in
      WallTime(milliseconds: try reads.db.run(Statements.clock, clock).first?.integer(0) ?? 0)
    }
  }

  public func status() async throws(CaravanError) -> StoreStatus {
    let (status, lastZone) = try await read { (reads) throws(PostgresError) in
      (try reads.status(), try reads.db.run(Surveys.lastZone).first?.integer(0) ?? 0)
    }
    metrics.numbered(upTo: lastZone, host.log)
    return status
  }

  /// A step for one partition of each kind of work.
  public func collect() async throws(CaravanError) -> Bool {
    let clock = clock
    let survey = try await writers[0].perform { (db) throws(PostgresError) in
      try PartitionMaintenance(db: db).survey(clock: clock)
    }
    try await work(on: survey.purging.first) { (maintenance, partition) throws(PostgresError) in
      try maintenance.purgeZone(in: partition, clock: clock)
    }
    try await work(on: survey.unreferenced.first) { (maintenance, partition) throws(PostgresError) in
      try maintenance.removeChunks(in: partition, clock: clock)
    }
    try await work(on: survey.stagers.first) { (maintenance, partition) throws(PostgresError) in
      try maintenance.removeStagers(in: partition, clock: clock)
    }
    try await work(on: survey.longLogs.first) { (maintenance, partition) throws(PostgresError) in
      try maintenance.trimLog(of: partition)
    }
    try await work(on: survey.groups.first) { (maintenance, partition) throws(PostgresError) in
      try maintenance.collectGroups(in: partition, clock: clock)
    }
    try await work(on: survey.leases.first) { (maintenance, partition) throws(PostgresError) in
      try maintenance.removeLeases(in: partition, clock: clock)
    }
    var hasMore = try await collectDevices(survey.buried, clock: clock)
    if try await buryZones(clock: clock) { hasMore = true }
    for partition in survey.snapshots {
      let more = try await writers[Int(partition.number) % writers.count].perform { (db) throws(PostgresError) in
        try PartitionMaintenance(db: db).collectSnapshots(in: partition, clock: clock)
      }
      hasMore = hasMore || more
    }
    let hasMoreAccounts = try await spread.sum { account throws(CaravanError) in
      try await read { (reads) throws(PostgresError) in try reads.parts(of: account).mapValues(\.used) }
    }
    try await runSlowMaintenance()
    return !survey.isEmpty || hasMore || hasMoreAccounts
  }

  /// What looks at whole tables: one process of all does so, now and then.
  private func runSlowMaintenance() async throws(CaravanError) {
    let now = host.clock.now
    let isDue = indexesDue.withLock { due in
      guard now >= due else { return false }
      due = now + PostgresLimits.indexPause
      return true
    }
    guard isDue else { return }
    let holder = "index-maintenance-\(host.random.below(1 << 40))"
    guard try await lease(["store/indexes"], holder: holder, ttl: PostgresLimits.indexPause)[0].isGranted else {
      return
    }
    let isBuilt = try await slowLane.read { (db) throws(PostgresError) in
      try PartitionMaintenance(db: db).forgetOutcomes()
      return try IndexMaintenance(db: db).run()
    }
    await slowLane.close()
    if isBuilt { host.log.info("an index that had thinned out was built anew") }
  }

  /// Writes down where devices are, and purges tombstones of a few zones.
  private func collectDevices(_ buried: [Partition], clock: Int64?) async throws(CaravanError) -> Bool {
    let seen = sightings.withLock { $0.take(atMost: StoreLimits.sightingsWritten) }
    let (rule, count) = (options.tombstones, clock == nil ? running : nil)
    do throws(CaravanError) {
      try await writers[0].perform { (db) throws(PostgresError) in
        try PartitionMaintenance(db: db).write(seen, rule, countedUntil: count)
      }
    } catch {
      sightings.withLock { $0.putBack(seen) }
      throw error
    }
    var turn = purgeTurn.withLock { $0 }
    (turn.left, turn.purged) = (StoreLimits.zonesPerPurge, 0)
    for partition in turn.order(buried) where turn.left > 0 {
      turn.enter(partition)
      let start = turn
      turn = try await writers[Int(partition.number) % writers.count].perform { (db) throws(PostgresError) in
        var turn = start
        try PartitionMaintenance(db: db).purgeTombstones(&turn, rule, clock: clock)
        return turn
      }
    }
    purgeTurn.withLock { $0 = turn }
    metrics.purged.add(turn.purged)
    return turn.purged > 0 || seen.count == StoreLimits.sightingsWritten
  }

  /// On the connection that writes the partition, so that this process never waits for itself.
  private func work(
    on partition: Partition?, _ step: @Sendable (PartitionMaintenance, Partition) throws(PostgresError) -> Void
  ) async throws(CaravanError) {
    guard let partition else { return }
    try await perform(in: partition) { (maintenance) throws(PostgresError) in try step(maintenance, partition) }
  }

  func perform<Value: Sendable>(
    in partition: Partition, _ step: @Sendable (PartitionMaintenance) throws(PostgresError) -> Value
  ) async throws(CaravanError) -> Value {
    try await writers[Int(partition.number) % writers.count].perform { (db) throws(PostgresError) in
      try step(PartitionMaintenance(db: db))
    }
  }
}
