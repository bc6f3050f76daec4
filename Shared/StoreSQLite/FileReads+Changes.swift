internal import Model
internal import SQLite
internal import Store

extension FileReads {
  func changes(_ query: ChangeQuery) throws(CaravanError) -> ChangePage {
    guard let zone = try zone(query.zone), zone.isAlive else {
      return ChangePage(resetRequired: query.incarnation != 0)
    }
    let incarnation = incarnation(zone.id)
    guard let after = query.start(in: incarnation, at: zone.seq) else {
      return ChangePage(head: zone.seq, incarnation: incarnation, resetRequired: true)
    }
    var page = ChangePageBuilder(query, after: after)
    try scan(zone, own: try readerID(query.reader), into: &page)
    return page.finish(head: zone.seq, incarnation: incarnation)
  }

  private func scan(_ zone: ZoneRow, own: Int64?, into page: inout ChangePageBuilder) throws(CaravanError) {
    var writers = WriterNames()
    // The upper bound matters for nothing but the plan: key order then ends the scan at the zone's end.
    try db.statement(
      """
      SELECT key, writer, created, flags, type, name, body, expires, fields FROM entries
      WHERE key > ? AND key <= ? ORDER BY key
      """
    ).visit(Key.make(zone.id, page.after), Key.make(zone.id, zone.seq)) { (row) throws(CaravanError) -> Bool in
      let writer = row.integer(1)
      let flags = EntryFlags(rawValue: row.integer(3))
      let isOwn = writer == own && !flags.contains(.unseen)
      let head = EntryPageWriter.Head(
        version: Key.counter(row.integer(0)), created: row.unsigned(2), isDeleted: flags.contains(.deleted),
        type: UInt32(truncatingIfNeeded: row.integer(4)), isOwn: isOwn, expires: row.integer(7),
        fields: isOwn ? [] : row.bytes(8))
      return page.add(
        head, endsBatch: flags.contains(.endsBatch), writer: try writers.name(writer, db),
        nameBytes: row.byteCount(5), bodyBytes: row.byteCount(6)
      ) {
        row.append(5, to: &$0)
      } appendBody: {
        row.append(6, to: &$0)
      }
    }
  }

  private func readerID(_ reader: ChangeQuery.Reader?) throws(CaravanError) -> Int64? {
    guard let reader else { return nil }
    return try db.first(
      "SELECT id FROM writers WHERE name = ? AND epoch = ?", reader.writer, reader.epoch, read: { $0.integer(0) })
  }
}

/// Names of the writers met in one page; usually one or two.
struct WriterNames {
  private var last: (id: Int64, name: [UInt8])?
  private var known: [Int64: [UInt8]] = [:]

  mutating func name(_ id: Int64, _ db: Connection) throws(CaravanError) -> [UInt8] {
    if let last, last.id == id { return last.name }
    let name: [UInt8]
    if let met = known[id] {
      name = met
    } else {
      name = try db.first("SELECT name FROM writers WHERE id = ?", id) { row in Array(row.text(0).utf8) } ?? []
      known[id] = name
    }
    last = (id, name)
    return name
  }
}
