internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

extension FileEntries {
  /// A record as another store had it, with its version.
  /// - Parameter zone: counts it; to be saved by the caller.
  func restore(
    _ record: RecordContent, in zone: inout ZoneRecord, _ writers: WriterEpochs, _ objects: FileObjects
  ) throws(CaravanError) {
    let entry = record.entry
    let writer = try writers.writer(OpID(writer: entry.writer, epoch: record.epoch, number: 0), isCarried: true).id
    let authorship = entry.authorship
    var maker: Int64?
    if authorship.created > 0 {
      let isWriter = authorship.creator == entry.writer
      maker =
        isWriter
        ? writer : try writers.writer(OpID(writer: authorship.creator, epoch: 0, number: 0), isCarried: true).id
    }
    try db.statement(
      """
      INSERT INTO entries(key, writer, created, flags, type, name, expires, fields, chunks, time, born, maker, sum,
        body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      Key.make(zone.id, entry.version), writer, entry.created, record.flags.rawValue, entry.type, entry.name,
      entry.expires == 0 ? nil : entry.expires, entry.fields.isEmpty ? nil : entry.fields,
      record.chunks.isEmpty ? nil : ChunkHash.joined(record.chunks),
      authorship.modified == 0 ? nil : authorship.modified, authorship.modified == 0 ? nil : authorship.created, maker,
      record.keptSum, borrowing: entry.body)
    try db.run(
      "INSERT INTO names(zone, name, seq, created, flags, size, born, maker) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", zone.id,
      entry.name, entry.version, entry.created, record.flags.rawValue, record.usage.bytes,
      maker == nil ? nil : authorship.created, maker)
    if record.sum != nil { try noteDamage(Key.make(zone.id, entry.version)) }
    zone.time = max(zone.time, authorship.modified)
    for hash in record.chunks { try chunks.refer(to: hash, in: zone.database) }
    if record.flags.holdsObjects { try objects.note(ofRestored: entry, in: zone.id) }
    for link in record.links {
      try db.run(
        "INSERT INTO refs(zone, target, source, kinds) VALUES (?, ?, ?, ?)", zone.id, link.target, entry.name,
        link.kinds.rawValue)
    }
    zone.records += record.usage.records
    zone.bytes += record.usage.bytes
  }
}
