internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// Why an entry from the cloud is kept beside the row it belongs to.
enum IncomingRole: Int64 {
  /// Its chunks are not all here, or its row is not free.
  case waiting = 0
  /// The cloud's side of a conflict.
  case serverCopy = 1
  /// What a damaged row is once its lost chunks have come again.
  case repair = 2
  /// A row whose object somebody wants to read, until what was asked for is here.
  case wanted = 3
}

struct StoredIncoming {
  let number: Int64
  let name: String
  let version: Seq
  let isDeleted: Bool
  let body: [UInt8]
  /// Chunks that are not here.
  let lacking: Int
  let authorship: RowAuthorship?

  init(_ row: Row) {
    number = row.integer(0)
    name = row.text(1)
    version = row.unsigned(2)
    isDeleted = row.flag(3)
    body = row.bytes(4)
    lacking = Int(row.integer(5))
    authorship = RowAuthorship(row, first: 6, at: version)
  }

  var entry: Entry {
    let known = authorship.map { Authorship(modified: $0.modified, created: $0.created, creator: $0.creator) }
    return Entry(
      name: name, version: version, created: 0, isDeleted: isDeleted, body: body, writer: authorship?.writer ?? "",
      authorship: known ?? .unknown)
  }
}

/// Entries from the cloud that are kept aside, and the chunks they want. What changes something runs inside the
/// transaction of its caller.
struct Inbox: TablePart {
  let catalog: TableCatalog

  var objects: ObjectChunks { ObjectChunks(context: context) }

  /// Keeps the entry in place of an older one of the same row and role.
  /// - Returns: how many of its chunks are not here.
  @discardableResult
  func keep(
    _ entry: Entry, role: IncomingRole, of state: TableState, wanting wanted: Set<ChunkHash>? = nil
  ) throws(CaravanError) -> Int {
    try chunkTable.retain(try RowCodec.chunks(inBody: entry.body))
    let absent = if let wanted { wanted } else { try objects.absent(entry.body, in: state) }
    try drop(named: entry.name, role: role, of: state)
    let authorship = RowAuthorship(of: entry)
    try database.run(
      """
      INSERT INTO incoming (table_id, role, name, version, deleted, body, lacking, _authored, _modified, _created,
        _writer, _creator) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, state.number, role.rawValue, entry.name, entry.version, entry.isDeleted, entry.body, absent.count,
      authorship.map { _ in entry.version }, authorship?.modified, authorship?.created, authorship?.writer,
      authorship?.creator)
    let number = try database.lastInsertedRow
    for hash in absent { try database.run("INSERT INTO wants VALUES (?, ?)", hash, number) }
    if role == .serverCopy, absent.isEmpty { state.draft.note(.conflict, entry.name) }
    return absent.count
  }

  /// - Returns: whether there was one.
  @discardableResult
  func drop(named name: String, role: IncomingRole, of state: TableState) throws(CaravanError) -> Bool {
    guard let old = try entry(named: name, role: role, of: state) else { return false }
    try drop(old)
    return true
  }

  func drop(_ old: StoredIncoming) throws(CaravanError) {
    try chunkTable.release(try RowCodec.chunks(inBody: old.body))
    if old.lacking > 0 { try database.run("DELETE FROM wants WHERE incoming = ?", old.number) }
    try database.run("DELETE FROM incoming WHERE id = ?", old.number)
  }

  /// What waits to be applied to a row is pointless once the row is at that version.
  func dropWaiting(named name: String, through version: Seq, of state: inout TableState) throws(CaravanError) {
    guard state.waiting > 0, let held = try entry(named: name, role: .waiting, of: state), held.version <= version
    else { return }
    try drop(held)
    state.waiting -= 1
  }

  func entry(named name: String, role: IncomingRole, of state: TableState) throws(CaravanError) -> StoredIncoming? {
    try database.first(
      """
      SELECT id, name, version, deleted, body, lacking, _authored, _modified, _created, _writer, _creator
      FROM incoming WHERE table_id = ? AND role = ? AND name = ?
      """, state.number, role.rawValue, name
    ) { row in StoredIncoming(row) }
  }

  /// Complete entries of a role, in the order of their versions.
  func complete(_ role: IncomingRole, of state: TableState) throws(CaravanError) -> [StoredIncoming] {
    try database.all(
      """
      SELECT id, name, version, deleted, body, lacking, _authored, _modified, _created, _writer, _creator
      FROM incoming WHERE table_id = ? AND role = ? AND lacking = 0
      ORDER BY version
      """, state.number, role.rawValue
    ) { row in StoredIncoming(row) }
  }

  func count(_ role: IncomingRole, of state: TableState) throws(CaravanError) -> Int {
    try database.first(
      "SELECT count(*) FROM incoming WHERE table_id = ? AND role = ?", state.number, role.rawValue
    ) { row in Int(row.integer(0)) } ?? 0
  }

  // MARK: Chunks arriving

  /// - Returns: the tables whose entries wanted the chunk; none: nobody did, and it was not kept.
  func fulfil(_ chunk: LocalChunk) throws(CaravanError) -> Set<Int64> {
    let wanting = try database.all(
      "SELECT incoming.id, table_id FROM wants JOIN incoming ON incoming.id = wants.incoming WHERE hash = ?", chunk.hash
    ) { row in (entry: row.integer(0), table: row.integer(1)) }
    guard !wanting.isEmpty else { return [] }
    try chunkTable.put(chunk.bytes, hash: chunk.hash)
    for (entry, _) in wanting { try database.run("UPDATE incoming SET lacking = lacking - 1 WHERE id = ?", entry) }
    try database.run("DELETE FROM wants WHERE hash = ?", chunk.hash)
    for (entry, _) in wanting { try openList(chunk.hash, for: entry) }
    for (entry, table) in wanting { try noteConflict(entry, ofTable: table) }
    return Set(wanting.map(\.table))
  }

  /// The cloud's side of a conflict is whole now.
  private func noteConflict(_ entry: Int64, ofTable number: Int64) throws(CaravanError) {
    let name = try database.first(
      "SELECT name FROM incoming WHERE id = ? AND role = 1 AND lacking = 0", entry, read: { row in row.text(0) })
    guard let name else { return }
    catalog.tables.values.first { $0.number == number }?.draft.note(.conflict, name)
  }

  /// If the chunk that has come is a list of the entry's, the entry waits for what it names.
  private func openList(_ hash: ChunkHash, for entry: Int64) throws(CaravanError) {
    let found = try database.first("SELECT body, role FROM incoming WHERE id = ?", entry) { row in
      (body: row.bytes(0), role: row.integer(1))
    }
    guard let found, try RowCodec.objects(inBody: found.body).contains(where: { $0.object.list == hash }) else {
      return
    }
    let absent = try chunkTable.open(hash)
    // Who wants a part of an object says which, now that it is known what parts there are.
    guard found.role != IncomingRole.wanted.rawValue else { return }
    for absent in absent {
      try database.run("INSERT OR IGNORE INTO wants VALUES (?, ?)", absent, entry)
      if try database.changedRows > 0 {
        try database.run("UPDATE incoming SET lacking = lacking + 1 WHERE id = ?", entry)
      }
    }
  }

  // MARK: What waits

  func toShow(
    of state: TableState, behind last: (version: Seq, number: Int64) = (0, 0)
  ) throws(CaravanError) -> [StoredIncoming] {
    try database.all(
      """
      SELECT id, name, version, deleted, body, lacking, _authored, _modified, _created, _writer, _creator
      FROM incoming
      WHERE table_id = ? AND role = 0 AND version <= ? AND (version, id) > (?, ?) ORDER BY version, id LIMIT ?
      """, state.number, state.point, last.version, last.number, StoreLimits.shownAtOnce
    ) { row in StoredIncoming(row) }
  }

  func hasEveryChunk(_ state: TableState) throws(CaravanError) -> Bool {
    try database.first(
      "SELECT EXISTS (SELECT 1 FROM incoming WHERE table_id = ? AND version <= ? AND lacking > 0 AND role = 0)",
      state.number, state.point
    ) { row in !row.flag(0) } ?? true
  }

  func conflictCount(of state: TableState) throws(CaravanError) -> Int {
    guard state.absence == nil else { return 0 }
    return try database.first(
      "SELECT count(*) FROM incoming WHERE table_id = ? AND role = 1 AND lacking = 0", state.number
    ) { row in Int(row.integer(0)) } ?? 0
  }

  /// Entries that wait, and the cloud's copies in conflict, wait for what they lost as well.
  func wantAgain(_ lost: Set<ChunkHash>, in state: TableState) throws(CaravanError) -> Int {
    let entries = try database.all(
      "SELECT id, body FROM incoming WHERE table_id = ? AND role < 2", state.number
    ) { row in (number: row.integer(0), body: row.bytes(1)) }
    var concerned = 0
    for entry in entries {
      let absent = try objects.absent(entry.body, in: state)
      guard !absent.isDisjoint(with: lost) else { continue }
      concerned += 1
      for hash in absent { try database.run("INSERT OR IGNORE INTO wants VALUES (?, ?)", hash, entry.number) }
      try database.run(
        "UPDATE incoming SET lacking = (SELECT count(*) FROM wants WHERE incoming = ?1) WHERE id = ?1", entry.number)
    }
    return concerned
  }

  /// Names of the rows that have an entry of this role.
  func names(_ role: IncomingRole, of state: TableState) throws(CaravanError) -> [String] {
    try database.all("SELECT name FROM incoming WHERE table_id = ? AND role = ?", state.number, role.rawValue) { row in
      row.text(0)
    }
  }
}
