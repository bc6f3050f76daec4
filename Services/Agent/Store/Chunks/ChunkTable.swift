internal import CaravanChunkFiles
internal import CaravanCrypto
internal import CaravanEncoding
package import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Chunks by content, counted by those who name them: cells, ancestors, plans, waiting entries, and the lists of large
/// objects. Runs inside its caller's transaction.
///
/// Short chunks lie in the database, for one commit is less than a commit and a file's sync; the others in the file.
struct ChunkTable {
  let database: Connection
  let file: ChunkFile
  let reserve: DiskReserve
  let damage: DamageLog
  /// Chunks of fewer bytes lie in the database.
  let inlineBytes: Int
  /// Computes names beside the store's thread.
  let helper: any Helper

  var reader: ChunkReader { ChunkReader(database: database, file: file, damage: damage) }

  /// `present` in the table.
  enum Presence: Int64 {
    /// Named before it is here: by a waiting entry.
    case absent = 0
    case here = 1
    /// Here, and the chunks that it lists are counted as long as it is.
    case opened = 2
  }

  /// The bytes are here now; counted by nobody yet, unless the chunk was known.
  func put(_ bytes: [UInt8], hash: ChunkHash) throws(CaravanError) {
    if try !reader.isPresent(hash) { try put(try loose(bytes, sum: XXHash64.hash(bytes)), hash: hash) }
  }

  /// Puts bytes where they can stay, without a word to the database.
  /// - Parameter sum: XXH64.
  func loose(_ bytes: [UInt8], sum: UInt64) throws(CaravanError) -> LooseChunk {
    try reserve.hold()
    guard bytes.count >= inlineBytes else { return LooseChunk(content: .inline(bytes), length: bytes.count, sum: sum) }
    return LooseChunk(content: .file(try file.add(bytes)), length: bytes.count, sum: sum)
  }

  /// As `put`; a chunk that is here already is not kept a second time.
  func put(_ chunk: LooseChunk, hash: ChunkHash) throws(CaravanError) {
    let known = try database.first("SELECT id, present, place FROM chunks WHERE hash = ?", hash) { row in
      let place = row.isNull(2) ? nil : Int(row.integer(2))
      return (id: row.integer(0), isPresent: row.flag(1) && !damage.isOverwritten(hash, at: place))
    }
    if let known, known.isPresent {
      if let place = chunk.place { file.free(place..<place + chunk.length) }
      return
    }
    if let known {
      try database.run(
        "UPDATE chunks SET present = 1, place = ?, length = ?, sum = ? WHERE id = ?", chunk.place, chunk.length,
        chunk.sum, known.id)
    } else {
      try database.run(
        "INSERT INTO chunks (hash, refs, present, place, length, sum) VALUES (?, 0, 1, ?, ?, ?)", hash, chunk.place,
        chunk.length, chunk.sum)
    }
    guard case .inline(let bytes) = chunk.content else { return }
    let id = known?.id ?? database.lastInsertedRow
    try database.statement("INSERT INTO chunk_bytes VALUES (?, ?)").run(id, borrowing: bytes)
  }

  /// As `put`, in the place of a short chunk that only its holder names, who is going to name this one instead.
  /// - Returns: false: that cannot be, and nothing was done.
  func put(_ chunk: LooseChunk, hash: ChunkHash, inPlaceOf old: ChunkHash) throws(CaravanError) -> Bool {
    guard case .inline(let bytes) = chunk.content else { return false }
    let number = try database.first(
      """
      UPDATE chunks SET hash = ?1, length = ?2, sum = ?3 WHERE hash = ?4 AND refs = 1 AND present = 1 AND place IS NULL
        AND NOT EXISTS (SELECT 1 FROM chunks WHERE hash = ?1) RETURNING id
      """, hash, chunk.length, chunk.sum, old
    ) { row in row.integer(0) }
    guard let number else { return false }
    try database.statement("UPDATE chunk_bytes SET bytes = ?2 WHERE id = ?1").run(number, borrowing: bytes)
    return true
  }

  func isNamed(_ hash: ChunkHash, by refs: Int) throws(CaravanError) -> Bool {
    try database.first("SELECT refs = ? FROM chunks WHERE hash = ?", refs, hash) { row in row.flag(0) } ?? false
  }

  /// Where a long chunk lies that so many name.
  func place(of hash: ChunkHash, namedBy refs: Int) throws(CaravanError) -> Int? {
    try database.first(
      "SELECT place FROM chunks WHERE hash = ? AND refs = ? AND present = 1 AND place IS NOT NULL", hash, refs
    ) { row in Int(row.integer(0)) }
  }

  /// The place has become another chunk's.
  func forsake(_ hash: ChunkHash, at place: Int) throws(CaravanError) {
    try database.run(
      "UPDATE chunks SET present = 0, place = NULL, length = NULL, sum = NULL WHERE hash = ? AND place = ?", hash,
      place)
  }

  /// Not within a transaction.
  func discard(_ chunk: LooseChunk) {
    if let place = chunk.place { file.discard(place..<place + chunk.length) }
  }

  /// One more names the chunk.
  /// - Returns: whether its bytes are here. Those that an open write has overwritten are not.
  func retain(_ hash: ChunkHash) throws(CaravanError) -> Bool {
    try database.first(
      """
      INSERT INTO chunks (hash, refs, present) VALUES (?, 1, 0)
      ON CONFLICT (hash) DO UPDATE SET refs = refs + 1 RETURNING present, place
      """, hash
    ) { row in row.flag(0) && !damage.isOverwritten(hash, at: row.isNull(1) ? nil : Int(row.integer(1))) } ?? false
  }

  /// Retains each distinct chunk once.
  /// - Returns: those whose bytes are not here.
  @discardableResult
  func retain(_ hashes: some Sequence<ChunkHash>) throws(CaravanError) -> [ChunkHash] {
    var absent: [ChunkHash] = []
    for hash in Set(hashes).sorted() where try !retain(hash) { absent.append(hash) }
    return absent
  }

  enum Finding {
    case sound
    case lost
    /// It was a list: what it listed stays counted for nobody's sake until the store counts anew.
    case lostList
  }

  /// Looks at a chunk that was found to be damaged. If it is, its bytes go; who names it waits for it to come again.
  func examine(_ hash: ChunkHash) throws(CaravanError) -> Finding {
    let known = try database.first("SELECT id, present, place, length FROM chunks WHERE hash = ?", hash) { row in
      (
        id: row.integer(0), present: row.integer(1), place: row.isNull(2) ? nil : Int(row.integer(2)),
        length: Int(row.integer(3))
      )
    }
    guard let known, known.present != Presence.absent.rawValue else { return .lost }
    if damage.isOverwritten(hash, at: known.place) { return .sound }
    if try reader.bytes(hash) != nil { return .sound }
    if let place = known.place { file.free(place..<place + known.length) }
    try database.run("DELETE FROM chunk_bytes WHERE id = ?", known.id)
    try database.run(
      "UPDATE chunks SET present = 0, place = NULL, length = NULL, sum = NULL WHERE id = ?", known.id)
    return known.present == Presence.opened.rawValue ? .lostList : .lost
  }

  /// One fewer names each distinct chunk. Those that nobody names go with the next sweep.
  func release(_ hashes: some Sequence<ChunkHash>) throws(CaravanError) {
    for hash in Set(hashes).sorted() { try database.run("UPDATE chunks SET refs = refs - 1 WHERE hash = ?", hash) }
  }

  /// A holder names `new` in place of `old`.
  func replace(_ old: some Sequence<ChunkHash>, by new: some Sequence<ChunkHash>) throws(CaravanError) {
    let (before, after) = (Set(old), Set(new))
    try retain(after.subtracting(before))
    try release(before.subtracting(after))
  }

  /// Counts anew.
  /// - Parameter named: by how many each chunk is named.
  func recount(_ named: [ChunkHash: Int]) throws(CaravanError) {
    try database.run("UPDATE chunks SET refs = 0")
    for (hash, count) in named {
      try database.run(
        """
        INSERT INTO chunks (hash, refs, present) VALUES (?, ?, 0) ON CONFLICT (hash) DO UPDATE SET refs = excluded.refs
        """, hash, count)
    }
  }

  /// Takes away what nobody names.
  func sweep() throws(CaravanError) {
    while true {
      let unused = try database.all("SELECT id, hash, present, place, length FROM chunks WHERE refs = 0") { row in
        Unused(row)
      }
      for chunk in unused { try drop(chunk) }
      if !unused.contains(where: \.isOpened) { return }
    }
  }

  private struct Unused {
    let id: Int64
    let hash: ChunkHash?
    let isOpened: Bool
    let place: Range<Int>?

    init(_ row: Row) {
      id = row.integer(0)
      hash = ChunkHash(row.bytes(1))
      isOpened = row.integer(2) == Presence.opened.rawValue
      place = row.isNull(3) ? nil : Int(row.integer(3))..<Int(row.integer(3) + row.integer(4))
    }
  }

  private func drop(_ chunk: Unused) throws(CaravanError) {
    if chunk.isOpened, let hash = chunk.hash { try release(reader.listed(hash)) }
    if let place = chunk.place {
      file.free(place)
    } else {
      try database.run("DELETE FROM chunk_bytes WHERE id = ?", chunk.id)
    }
    try database.run("DELETE FROM chunks WHERE id = ?", chunk.id)
  }

  /// Finds out which part of the file is in use, after who knows what.
  func adoptFile() throws(CaravanError) {
    let used = try database.first(
      "SELECT ifnull(max(place + length), 0), ifnull(sum(length), 0), count(*) FROM chunks WHERE place IS NOT NULL"
    ) { row in (bound: Int(row.integer(0)), bytes: Int(row.integer(1)), chunks: Int(row.integer(2))) }
    guard let used, try !file.adopt(bound: used.bound, bytes: used.bytes, chunks: used.chunks) else { return }
    file.keepOnly(
      try database.all("SELECT place, length FROM chunks WHERE place IS NOT NULL ORDER BY place") { row in
        Int(row.integer(0))..<Int(row.integer(0) + row.integer(1))
      })
  }
}

extension ChunkHash {
  package init(of bytes: [UInt8]) { self.init(of: bytes[...]) }

  package init(of bytes: ArraySlice<UInt8>) {
    guard let hash = ChunkHash(SHA256.hash(bytes).bytes) else {
      preconditionFailure("a SHA-256 digest has other than \(ChunkHash.byteCount) bytes")
    }
    self = hash
  }
}
