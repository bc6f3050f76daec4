internal import Model
internal import SQLite
internal import Store

extension FileReads {
  func changes(_ query: ChangeQuery) throws(CaravanError) -> ChangePage {
    guard let zone = try zone(query.zone), zone.isAlive else {
      return ChangePage(resetRequired: query.incarnation != 0)
    }
    let incarnation = incarnation(zone.id)
    let isContinuation = query.incarnation != 0
    let isLost = isContinuation && (query.incarnation != incarnation || query.after > zone.seq)
    guard !isLost else { return ChangePage(head: zone.seq, incarnation: incarnation, resetRequired: true) }

    var page = PageBuilder(query, after: isContinuation ? query.after : 0, own: try readerID(query.reader))
    try scan(zone, into: &page)
    return page.finish(head: zone.seq, incarnation: incarnation)
  }

  private func scan(_ zone: ZoneRow, into page: inout PageBuilder) throws(CaravanError) {
    var writers = WriterNames()
    // The upper bound matters for nothing but the plan: key order then ends the scan at the zone's end.
    try db.statement(
      """
      SELECT key, writer, created, flags, type, name, body FROM entries WHERE key > ? AND key <= ? ORDER BY key
      """
    ).visit(Key.make(zone.id, page.after), Key.make(zone.id, zone.seq)) { (row) throws(CaravanError) -> Bool in
      let writer = row.integer(1)
      return page.add(row, writer: writer, named: try writers.name(writer, db))
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

/// One page while it fills.
struct PageBuilder {
  let after: Seq
  private let own: Int64?
  private let allTombstones: Bool
  private let maxRecords: Int
  private let maxBytes: Int
  private var writer = EntryPageWriter(capacity: 4 << 10)
  private var scanned = 0
  private var last: Seq
  private var isFull = false
  /// The newest place where a batch ends.
  private var boundary: (bytes: Int, count: Int, seq: Seq)?

  init(_ query: ChangeQuery, after: Seq, own: Int64?) {
    self.after = after
    self.own = own
    allTombstones = query.allTombstones
    maxRecords = min(max(1, query.maxRecords), StoreLimits.recordsPerPage)
    maxBytes = min(max(1, query.maxBytes), Limits.pageBytes)
    last = after
  }

  /// - Returns: whether there is room for more.
  mutating func add(_ row: Row, writer: Int64, named writerName: [UInt8]) -> Bool {
    let seq = Key.counter(row.integer(0))
    let created = row.unsigned(2)
    let flags = row.integer(3)
    let isDeleted = flags & EntryFlags.deleted != 0
    // CK-43: who only reads, and has nothing before `created`, never saw the record that is gone.
    if !(isDeleted && created > after && !allTombstones) {
      let isOwn = writer == own
      let nameBytes = row.byteCount(5)
      let bodyBytes = isOwn ? 0 : row.byteCount(6)
      let size = nameBytes + bodyBytes + writerName.count + Self.overhead
      guard self.writer.count < maxRecords, self.writer.count == 0 || self.writer.bytes.count + size <= maxBytes else {
        isFull = true
        return false
      }
      let head = EntryPageWriter.Head(
        version: seq, created: created, isDeleted: isDeleted, type: UInt32(truncatingIfNeeded: row.integer(4)),
        isOwn: isOwn)
      self.writer.append(head, writer: writerName, nameBytes: nameBytes, bodyBytes: bodyBytes) {
        row.append(5, to: &$0)
      } appendBody: {
        row.append(6, to: &$0)
      }
    }
    last = seq
    scanned += 1
    if flags & EntryFlags.endsBatch != 0 { boundary = (self.writer.bytes.count, self.writer.count, seq) }
    isFull = scanned == FileLimits.scannedPerPage
    return !isFull
  }

  /// Tags and numbers of one entry, at most.
  private static let overhead = 48

  /// A page that is not the last ends where a batch ends, if one does in it.
  consuming func finish(head: Seq, incarnation: Incarnation) -> ChangePage {
    if isFull, let boundary, boundary.count > 0 || writer.count == 0 {
      writer.cut(bytes: boundary.bytes, count: boundary.count)
      last = boundary.seq
    }
    return ChangePage(
      page: writer.bytes, count: writer.count, last: isFull ? last : head, more: isFull && last < head, head: head,
      incarnation: incarnation)
  }
}
