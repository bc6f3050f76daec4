internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Reads of one connection.
struct Reads {
  let db: Connection

  /// Several statements on one snapshot, in one round trip.
  private func snapshot(_ fill: (inout Pipeline) -> Void) throws(PostgresError) -> ArraySlice<Rows> {
    var pipeline = Pipeline()
    pipeline.add("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    fill(&pipeline)
    pipeline.add("COMMIT")
    return try db.run(pipeline).dropFirst().dropLast()
  }

  // MARK: Records

  /// The zone's head and the page come from one snapshot.
  func changes(_ query: ChangeQuery) throws(PostgresError) -> ChangePage {
    let (partition, database) = (Int32(Partition(of: query.zone.database).number), query.zone.database.key)
    let (from, isBack) = query.edge
    let reader = query.reader
    let count = PostgresLimits.scanned(records: query.recordBound, bytes: query.readBound)
    let answers = try snapshot { pipeline in
      pipeline.add(Statements.aliveZone, partition, database, query.zone.name)
      pipeline.add(
        DeviceStatements.footprints, partition, [database], [query.zone.name], [reader?.writer ?? ""])
      if query.dependsOnPast { pipeline.add(DeviceStatements.lastLives, partition, database, query.zone.name) }
      let (writer, epoch, bytes) = (reader?.writer ?? "", reader?.epoch ?? 0, Int64(query.readBound))
      if let target = query.target {
        pipeline.add(
          DeviceStatements.changesOfSnapshot, partition, database, query.zone.name, from, writer, epoch, count, bytes,
          EntryFlags.unseen.rawValue, target)
      } else {
        pipeline.add(
          isBack ? Statements.changesBack : Statements.changes, partition, database, query.zone.name, from, writer,
          epoch, count, bytes, EntryFlags.unseen.rawValue)
      }
    }
    let zone = answers.first?.first.map { row in
      ZoneState(
        incarnation: Layout.incarnation(life: row.unsigned(0), zone: row.integer(1), stored: row.unsigned(6)),
        seq: row.unsigned(2),
        purged: row.unsigned(3), snapshots: ZoneState.snapshots(from: row.unsigned(5), to: row.unsigned(4)))
    }
    let footprint = answers.dropFirst().first?.first.map {
      ReadPosition(first: $0.unsigned(2), reach: $0.unsigned(3))
    }
    let ended = query.dependsOnPast ? answers.dropFirst(2).first.map { ZoneIncarnations($0).end } ?? 0 : 0
    switch ChangePlan(query, in: zone, ended: { ended }, footprint: { footprint }) {
    case .answer(let page): return page
    case .reset:
      let lives = ZoneIncarnations(try db.run(DeviceStatements.lives, partition, database, query.zone.name))
      return query.reset(in: zone, after: lives.over, footprint)
    case .scan(let scan):
      guard scan.snapshot == query.target else { return try changes(query.withoutTarget) }
      var page = ChangePageBuilder(scan, query)
      page.reach = footprint?.reach ?? 0
      if let rows = answers.last {
        fill(&page, rows, isReader: query.reader != nil)
        // As many as were asked for: there may be more.
        let bytes = rows.reduce(0) { $0 + Int($1.integer(7)) + $1.byteCount(10) }
        if rows.count == count || bytes >= query.readBound { page.stop() }
      }
      return page.finish()
    }
  }

  private func fill(_ page: inout ChangePageBuilder, _ rows: Rows, isReader: Bool) {
    for row in rows where !add(row, to: &page, isOwn: isReader && row.flag(5)) { return }
  }

  private static let summed = SummedColumns(
    version: 0, created: 1, flags: 2, type: 3, expires: 9, name: 6, fields: 10, body: 8, sum: 14)

  /// - Returns: whether there is room for more.
  private func add(_ row: Row, to page: inout ChangePageBuilder, isOwn: Bool) -> Bool {
    guard isOwn || row.isWhole(Self.summed) else {
      return page.add(damaged: DamagedVersion(name: row.text(6), version: row.unsigned(0)))
    }
    let flags = EntryFlags(rawValue: row.integer(2))
    var head = EntryPageWriter.Head(
      version: row.unsigned(0), created: row.unsigned(1), isDeleted: flags.contains(.deleted),
      type: UInt32(truncatingIfNeeded: row.integer(3)), isOwn: isOwn, expires: row.integer(9), fields: row.bytes(10),
      isRegained: flags.contains(.regained))
    head.modified = row.integer(11)
    head.made = row.isNull(12) ? head.modified : row.integer(12)
    head.creator = row.bytes(13)
    return page.add(
      head, endsBatch: flags.contains(.endsBatch), writer: row.bytes(4), nameBytes: row.byteCount(6),
      bodyBytes: Int(row.integer(7))
    ) {
      row.append(6, to: &$0)
    } appendBody: {
      row.append(8, to: &$0)
    }
  }

  /// - Parameter clock: nil: the database's. What expired before is out of sight, where its type wants that.
  func fetch(_ names: [String], in zone: ZoneID, clock: Int64?) throws(PostgresError) -> [Entry] {
    var pipeline = Pipeline()
    pipeline.add(Statements.clock, clock)
    pipeline.add(
      Statements.entries, Int32(Partition(of: zone.database).number), names.map { _ in zone.database.key },
      names.map { _ in zone.name }, names)
    let answers = try db.run(pipeline)
    let now = answers[0].first?.integer(0) ?? 0
    return answers[1].filter { $0.isVisible(at: now) }.map { Entry($0, name: names[$0.ordinal]) }
  }

  /// - Parameter clock: nil: the database's.
  func expired(
    after last: ExpiredRecord?, atMost count: Int, clock: Int64?
  ) throws(PostgresError) -> [ExpiredRecord] {
    let now = try db.run(Statements.clock, clock).first?.integer(0) ?? 0
    var pipeline = Pipeline()
    for partition in Partition.all {
      pipeline.add(
        Statements.expired, Int32(partition.number), last?.expires ?? 0, now, last?.name ?? "", Int64(count))
    }
    var all: [ExpiredRecord] = []
    for rows in try db.run(pipeline) {
      all += try rows.map { (row) throws(PostgresError) in
        ExpiredRecord(
          zone: try row.zone(from: 3), name: row.text(2), version: row.unsigned(1), expires: row.integer(0))
      }
    }
    return Array(all.sorted(by: ExpiredRecord.comesFirst).prefix(count))
  }

  // MARK: Zones

  func changedZones(_ query: ZoneChangeQuery) throws(PostgresError) -> ZoneChangePage {
    let partition = Int32(Partition(of: query.database).number)
    let answers = try snapshot { pipeline in
      pipeline.add(Statements.logHead, partition)
      pipeline.add(
        DeviceStatements.changedZones, partition, query.database.key, query.position.map { Int64($0.log) } ?? -1,
        query.position == nil ? ZoneStage.alive + 1 : ZoneStage.purged + 1, Int64(query.bound + 1))
    }
    guard let row = answers.first?.first, let rows = answers.last else { return ZoneChangePage() }
    let (head, life) = (row.unsigned(0), row.unsigned(1))
    guard query.continues(in: life, upTo: head) else { return ZoneChangePage(resetRequired: true) }
    let changed = rows.map { row in
      let zone = ZoneChange(
        name: row.text(0), seq: row.unsigned(1),
        incarnation: Layout.incarnation(life: life, zone: row.integer(2), stored: row.unsigned(5)),
        isDeleted: row.integer(3) != ZoneStage.alive)
      return (zone: zone, log: row.unsigned(4))
    }
    return query.page(changed, life: life, head: head)
  }

  func zones(in partition: Partition, _ filter: ZoneFilter) throws(PostgresError) -> [ZonePosition] {
    let (number, limit) = (Int32(partition.number), Int64(StoreLimits.zonesListed))
    let rows =
      switch filter {
      case .everything: Array(try db.run(Statements.everyZone, number, limit))
      case .named(let name): Array(try db.run(Statements.namedZones, number, limit, name))
      // The next text after all that begin with the owner and a slash; shards have a `#` and their number between.
      case .owner(let user):
        Array(try db.run(Statements.zonesBetween, number, limit, "\(user)/", "\(user)0"))
          + Array(try db.run(Statements.zonesBetween, number, limit, "\(user)#", "\(user)$"))
      case .database(let id): Array(try db.run(Statements.zonesBetween, number, limit, id.key, "\(id.key)\u{0}"))
      }
    return try rows.map { (row) throws(PostgresError) in
      ZonePosition(
        zone: try row.zone(from: 2), seq: row.unsigned(4),
        incarnation: Layout.incarnation(life: row.unsigned(0), zone: row.integer(1), stored: row.unsigned(5)))
    }
  }

  // MARK: The log

  func log(of partition: Partition, after position: UInt64, atMost count: Int) throws(PostgresError) -> LogPage {
    let number = Int32(partition.number)
    let answers = try snapshot { pipeline in
      pipeline.add(Statements.logHead, number)
      pipeline.add(Statements.log, number, position, Int64(count))
    }
    guard let row = answers.first?.first, let rows = answers.last else { return LogPage() }
    let (head, life) = (row.unsigned(0), row.unsigned(1))
    guard position < head else { return LogPage(head: head, isTrimmed: position > head) }
    let entries = try rows.map { (row) throws(PostgresError) in
      LoggedCommit(
        position: row.unsigned(0), zone: try row.zone(from: 6), low: row.unsigned(1), high: row.unsigned(2),
        incarnation: Layout.incarnation(life: life, zone: row.integer(5), stored: row.unsigned(8)), writer: row.text(4),
        isDeletion: row.flag(3))
    }
    return LogPage(entries: entries, head: head, isTrimmed: entries.first.map { $0.position != position + 1 } ?? true)
  }

  /// 0: there is no such partition.
  func life(of partition: Partition) throws(PostgresError) -> UInt64 {
    try db.run(Statements.life, Int32(partition.number)).first?.unsigned(0) ?? 0
  }

  func logHeads() throws(PostgresError) -> [Partition: UInt64] {
    var heads: [Partition: UInt64] = [:]
    for row in try db.run(Statements.logHeads) {
      if let partition = try? Partition(UInt32(clamping: row.integer(0))) { heads[partition] = row.unsigned(1) }
    }
    return heads
  }

  // MARK: Ownership

  /// - Parameter clock: nil: the database's.
  func leases(beginning prefix: String, clock: Int64?) throws(PostgresError) -> [Lease] {
    var pipeline = Pipeline()
    pipeline.add(Statements.clock, clock)
    // No UTF-8 text has this byte: every one that begins with the prefix sorts below the prefix with it behind.
    pipeline.add(Statements.liveLeases, Int32(0), prefix, Bytes(Array(prefix.utf8) + [0xff]), clock)
    let answers = try db.run(pipeline)
    let now = answers[0].first?.integer(0) ?? 0
    return answers[1].map { row in
      let tenure = LeaseHolder(row)
      return Lease(
        name: row.text(0), isGranted: true, token: tenure.token, holder: tenure.holder,
        remaining: .milliseconds(tenure.expires - now))
    }
  }

  func cursor(of consumer: String, in partition: Partition) throws(PostgresError) -> UInt64 {
    try db.run(Statements.cursor, Int32(0), consumer, Int64(partition.number)).first?.unsigned(0) ?? 0
  }

  func account(_ account: Account, _ defaults: DefaultQuotas) throws(PostgresError) -> AccountState {
    var state = AccountState(account: account, quota: defaults[account])
    for (partition, part) in try parts(of: account, defaults) {
      state.used += part.used
      if partition == account.partition { (state.quota, state.isDefault) = (part.quota, part.isDefault) }
    }
    return state
  }

  func parts(
    of account: Account, _ defaults: DefaultQuotas = .unlimited
  ) throws(PostgresError) -> [Partition: AccountState] {
    let answers = try snapshot { pipeline in
      for partition in Partition.all { pipeline.add(Statements.accounts, Int32(partition.number), [account.key]) }
    }
    var parts: [Partition: AccountState] = [:]
    for (partition, rows) in zip(Partition.all, answers) {
      parts[partition] = rows.first.map { AccountState(account: account, $0, defaults) }
    }
    return parts
  }

  func status() throws(PostgresError) -> StoreStatus {
    guard let row = try db.run(Surveys.status).first else { return StoreStatus() }
    return StoreStatus(
      zones: row.unsigned(0), records: row.unsigned(1), chunks: row.unsigned(2), chunkBytes: row.unsigned(3),
      recordBytes: row.unsigned(1) * PostgresLimits.recordGuess,
      damagedChunks: try db.run(DamageStatements.count).first?.unsigned(0) ?? 0,
      damagedRecords: try db.run(BodyStatements.count).first?.unsigned(0) ?? 0)
  }
}
