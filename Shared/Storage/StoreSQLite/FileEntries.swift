internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// The newest version of each record, and what the commits that follow must know of it.
final class FileEntries: FilePart {
  let context: FileContext
  let chunks: FileChunks
  private let compaction: FileCompaction

  init(_ context: FileContext, chunks: FileChunks, compaction: FileCompaction) {
    self.context = context
    self.chunks = chunks
    self.compaction = compaction
  }

  func write(
    _ write: ZoneCommit.Write, by writer: Int64, in zone: ZoneRecord
  ) throws(CaravanError) {
    let hashes = write.content.chunks
    if let replaced = write.replaced {
      let old = Key.make(zone.id, replaced.version)
      if replaced.version <= zone.snapshot {
        try keep(old, until: Key.make(zone.id, write.version))
        for hash in hashes { try chunks.refer(to: hash, in: zone.database) }
      } else {
        try chunks.exchangeChunks(of: old, held: replaced.holdsChunks, hashes, in: zone.database)
      }
      try remove(old)
    } else {
      for hash in hashes { try chunks.refer(to: hash, in: zone.database) }
    }
    try add(write, hashes, by: writer, in: zone.id)
    try name(write, by: writer, in: zone.id)
    try exchangeReferences(of: write, in: zone.id)
  }

  private func add(
    _ write: ZoneCommit.Write, _ hashes: [ChunkHash], by writer: Int64, in zone: Int64
  ) throws(CaravanError) {
    try db.statement(
      """
      INSERT INTO entries(key, writer, created, flags, type, name, expires, fields, chunks, body, time, born, maker,
        sum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(borrowing: write.content.body, at: 10) { (row) throws(CaravanError) in
      try row.bind(Key.make(zone, write.version), at: 1)
      try row.bind(writer, at: 2)
      try row.bind(write.created, at: 3)
      try row.bind(write.flags.rawValue, at: 4)
      try row.bind(Int64(write.content.type), at: 5)
      try row.bind(write.name, at: 6)
      if write.expires == 0 { try row.bindNull(at: 7) } else { try row.bind(write.expires, at: 7) }
      if write.fields.isEmpty { try row.bindNull(at: 8) } else { try row.bind(write.fields, at: 8) }
      if hashes.isEmpty { try row.bindNull(at: 9) } else { try row.bind(ChunkHash.joined(hashes), at: 9) }
      try row.bind(write.time, at: 11)
      if let origin = write.origin { try row.bind(origin.time, at: 12) } else { try row.bindNull(at: 12) }
      if let maker = write.origin?.number { try row.bind(maker, at: 13) } else { try row.bindNull(at: 13) }
      try row.bind(write.sum, at: 14)
    }
  }

  /// What the commits that follow must know of the record.
  private func name(_ write: ZoneCommit.Write, by writer: Int64, in zone: Int64) throws(CaravanError) {
    let statement =
      write.replaced == nil
      ? try db.statement(
        "INSERT INTO names(seq, created, flags, size, zone, name, born, maker) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      : try db.statement(
        """
        UPDATE names SET seq = ?1, created = ?2, flags = ?3, size = ?4, born = ?7, maker = ?8
        WHERE zone = ?5 AND name = ?6
        """)
    let origin = write.origin ?? RecordOrigin(time: write.time, writer: .number(writer))
    try statement.run { (row) throws(CaravanError) in
      try row.bind(write.version, at: 1)
      try row.bind(write.created, at: 2)
      try row.bind(write.flags.rawValue, at: 3)
      try row.bind(write.bytes, at: 4)
      try row.bind(zone, at: 5)
      try row.bind(write.name, at: 6)
      if origin.time > 0 {
        try row.bind(origin.time, at: 7)
        // What this commit itself has made goes by a name.
        try row.bind(origin.number ?? writer, at: 8)
      } else {
        try row.bindNull(at: 7)
        try row.bindNull(at: 8)
      }
    }
  }

  func remove(_ key: Int64) throws(CaravanError) {
    try db.run("DELETE FROM entries WHERE key = ?", key)
    compaction.noteRemoval()
  }

  private func exchangeReferences(of write: ZoneCommit.Write, in zone: Int64) throws(CaravanError) {
    if write.replaced?.holdsReferences ?? false {
      try db.run("DELETE FROM refs WHERE zone = ? AND source = ?", zone, write.name)
    }
    for reference in write.references {
      try db.run(
        """
        INSERT INTO refs(zone, target, source, kinds) VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET kinds = kinds | excluded.kinds
        """, zone, reference.target, write.name, Referrer.Kinds(reference.kind).rawValue)
    }
  }

  /// Keeps an entry for the snapshots that have it, with its chunks.
  private func keep(_ entry: Int64, until next: Int64) throws(CaravanError) {
    try db.run(
      """
      INSERT INTO superseded(
        key, until, writer, created, flags, type, name, expires, fields, chunks, body, time, born, maker, sum)
      SELECT key, ?, writer, created, flags, type, name, expires, fields, chunks, body, time, born, maker, sum
      FROM entries
      WHERE key = ?
      """, next, entry)
  }
}

extension RecordOrigin {
  /// nil: whoever writes the entry, or nobody knows.
  fileprivate var number: Int64? {
    guard case .number(let number) = writer, time > 0 else { return nil }
    return number
  }
}
