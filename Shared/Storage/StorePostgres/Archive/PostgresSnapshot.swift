internal import CaravanCrypto
public import CaravanModel
public import CaravanPostgreSQL
public import CaravanStore

/// A database as it was when this was opened, all partitions at the same moment, whoever writes to it meanwhile.
public final class PostgresSnapshot: ArchiveSource {
  private let db: Connection

  /// - Throws: `unavailable` when the server is not to be had, `invalidData` when it holds no store of this release.
  public init(_ address: ConnectionString) throws(CaravanError) {
    do throws(PostgresError) {
      db = try Connection(.archive(address))
      var pipeline = Pipeline()
      pipeline.add("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      let at = pipeline.add("SELECT version FROM caravan_layout WHERE partition = 0")
      let found = try db.run(pipeline)[at].first?.integer(0)
      guard found == Layout.version else {
        let layout = found ?? 0
        guard (Migrations.oldest..<Layout.version).contains(layout) else { throw Layout.refusal(of: layout) }
        throw PostgresError(
          state: "",
          message: "the database has layout \(layout): this release reads \(Layout.version); start its storage on it "
            + "once, or use the release that made it", kind: .refused)
      }
    } catch {
      throw CaravanError(.invalidData, "\(address) holds no store that can be read: \(error.message)")
    }
  }

  public func export(_ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError) {
    let lives = try rows(db.run(ArchiveStatements.partitions))
    for life in lives {
      try PartitionExport(db: db, number: Int32(life.integer(0)), life: life.unsigned(1)).databases(take)
    }
    let reach = lives.map { $0.unsigned(3) }.max() ?? 0
    if reach > 0 { try take(.reach(reach)) }
    for life in lives {
      let partition = PartitionExport(db: db, number: Int32(life.integer(0)), life: life.unsigned(1))
      try partition.rest(take)
      guard life.unsigned(2) > 0 else { continue }
      try take(.head(Partition(UInt32(life.integer(0))), life.unsigned(2)))
    }
  }
}

private func rows(_ body: @autoclosure () throws(PostgresError) -> Rows) throws(CaravanError) -> Rows {
  do throws(PostgresError) { return try body() } catch { throw error.caravanError }
}

/// One partition, in pages.
private struct PartitionExport {
  let db: Connection
  let number: Int32
  let life: UInt64

  /// Every row of a statement that takes up where the row before ended.
  private func pages(
    _ page: (Row?) throws(PostgresError) -> Rows, _ body: (Row) throws(CaravanError) -> Void
  ) throws(CaravanError) {
    var last: Row?
    while true {
      let found = try rows(page(last))
      for row in found { try body(row) }
      guard let end = found.last else { return }
      last = end
    }
  }

  func databases(_ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError) {
    let names = try rows(db.run(ArchiveStatements.databases, number)).map { $0.text(0) }
    for name in names {
      guard let database = DatabaseID(key: name) else {
        throw CaravanError(.internalError, "the database '\(name)' has a name that is none: restore it")
      }
      try take(.database(database))
      try pages { last throws(PostgresError) in
        try db.run(ArchiveStatements.chunks, number, name, Bytes(last?.bytes(0) ?? []))
      } _: { row throws(CaravanError) in
        guard let hash = ChunkHash(row.bytes(0)) else {
          throw CaravanError(.internalError, "a chunk of \(database) is damaged: restore the database")
        }
        let chunk = ChunkBytes(hash: hash, bytes: row.bytes(1))
        guard SHA256.hash(chunk.bytes).bytes == hash.bytes else {
          let size = chunk.bytes.isEmpty ? Int(row.integer(2)) : chunk.bytes.count
          return try take(.damaged(DamagedChunk(database: database, hash: hash, size: size, found: 0)))
        }
        try take(.chunk(chunk))
      }
      try zones(of: name, take)
    }
  }

  /// Of every name its newest life, and those before that were restored, unless the zone was deleted since.
  private func zones(of database: String, _ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError) {
    var newest: [String: (id: Int64, zone: ZoneContent)] = [:]
    var restored: [String: [ZoneContent]] = [:]
    for row in try rows(db.run(ArchiveStatements.zones, number, database)) {
      let id = row.integer(0)
      newest[row.text(1)] = (
        id,
        ZoneContent(
          name: row.text(1), seq: row.unsigned(2),
          incarnation: Layout.incarnation(life: life, zone: id, stored: row.unsigned(4)),
          isAlive: row.integer(3) == ZoneStage.alive, lostThrough: row.unsigned(5))
      )
      guard let zone = newest[row.text(1)]?.zone, !zone.isAlive else { continue }
      if zone.past.isRestored {
        restored[zone.name, default: []].append(zone)
      } else if zone.seq > restored[zone.name]?.last?.lostThrough ?? 0 {
        restored[zone.name] = []
      }
    }
    for (name, (id, zone)) in newest.sorted(by: { $0.key < $1.key }) {
      for life in restored[name] ?? [] where life != zone { try take(.zone(life)) }
      try take(.zone(zone))
      if zone.isAlive { try records(of: id, take) }
    }
  }

  private func records(of zone: Int64, _ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError) {
    try pages { last throws(PostgresError) in
      try db.run(ArchiveStatements.records, number, zone, last?.unsigned(0) ?? 0)
    } _: { row throws(CaravanError) in
      let flags = EntryFlags(rawValue: row.integer(3))
      let entry = Entry(
        name: row.text(1), version: row.unsigned(0), created: row.unsigned(2), isDeleted: flags.contains(.deleted),
        type: UInt32(truncatingIfNeeded: row.integer(4)), body: row.bytes(10), writer: row.text(8),
        expires: row.integer(5), fields: row.bytes(6), authorship: row.authorship(writer: 8, from: 11))
      var record = RecordContent(
        entry: entry, flags: flags, epoch: row.unsigned(9), chunks: try ChunkHash.list(row.bytes(7))
      ).checked(against: row.isNull(14) ? nil : row.unsigned(14))
      if flags.contains(.holdsReferences) {
        record.links = try rows(db.run(ArchiveStatements.links, number, zone, entry.name)).map {
          RecordContent.Link(target: $0.text(0), kinds: Referrer.Kinds(rawValue: $0.integer(1)))
        }
      }
      try take(.record(record))
    }
  }

  func rest(_ take: (StoreContent) throws(CaravanError) -> Void) throws(CaravanError) {
    for row in try rows(db.run(ArchiveStatements.ops, number)) {
      let op = OpID(writer: row.text(0), epoch: row.unsigned(1), number: row.unsigned(2))
      try take(.op(OpContent(op: op, floor: row.unsigned(4), outcome: try OpOutcome(encoded: row.bytes(3)))))
    }
    for row in try rows(db.run(ArchiveStatements.quotas, number)) {
      let quota = Quota(
        records: row.isNull(1) ? nil : row.unsigned(1), bytes: row.isNull(2) ? nil : row.unsigned(2))
      try take(.quota(account: row.text(0), quota))
    }
  }
}
