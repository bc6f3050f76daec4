internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Commits in parts. While a part is stored it refers to its chunks as a record does, so nothing that it needs is
/// collected.
struct FileGroups: FilePart {
  let context: FileContext
  let writers: WriterEpochs
  let zones: FileZones
  let chunks: FileChunks

  func begin(_ op: OpID, floor: UInt64, in zone: ZoneID) throws(CaravanError) -> StagedGroup {
    let writer = try writers.checked(op, floor: floor)
    let known = try reads.group(Key.make(writer.id, op.number))
    let isDecided = try writers.outcome(of: op, writer, in: zone) != nil
    let begun = try GroupRules.begin(
      op, in: zone, known: known, isDecided: isDecided,
      census: { () throws(CaravanError) in try GroupCensus(of: zone.database.owner, in: db) }, now: now)
    if let begun {
      try db.run(
        """
        INSERT INTO groups(key, database, zone, stage, parts, records, bytes, chunks, held, until)
        VALUES (?, ?, ?, 0, 0, 0, 0, 0, 0, ?)
        """, Key.make(writer.id, op.number), zones.makeDatabase(zone.database), zone.name, begun.until)
    }
    guard let group = begun ?? known else { preconditionFailure("a group was neither begun nor known") }
    return group
  }

  func stage(_ part: StagedPart) throws(CaravanError) -> Checked<PartStaging> {
    let writer = try writers.checked(part.op, floor: 0)
    let key = Key.make(writer.id, part.op.number)
    let stored = try reads.part(part.number, of: key)
    switch try GroupRules.stage(part, in: reads.group(key), stored: stored, now: now) {
    case .done(let group): return .done(.staged(group))
    case .renew(let group):
      try save(group, of: part.op, writer)
      return .done(.staged(group))
    case .write(let group):
      let database = try zones.makeDatabase(part.zone.database)
      guard let damaged = try chunks.check(part.chunks, in: database) else { return .mustRead(part.chunks) }
      var missing = damaged
      for hash in part.chunks where !damaged.contains(hash) {
        if try chunks.readableChunk(hash, in: database) == nil { missing.append(hash) }
      }
      guard missing.isEmpty else { return .done(.missing(missing)) }
      for hash in part.chunks { try chunks.refer(to: hash, in: database) }
      try db.statement("INSERT INTO group_parts(owner, number, chunks, body) VALUES (?, ?, ?, ?)").run(
        key, part.number, part.chunks.isEmpty ? nil : ChunkHash.joined(part.chunks), borrowing: part.body)
      try save(group, of: part.op, writer)
      return .done(.staged(group))
    }
  }

  func remove(_ op: OpID, in zone: ZoneID) throws(CaravanError) {
    let writer = try writers.checked(op, floor: 0)
    guard let group = try reads.group(Key.make(writer.id, op.number)) else { return }
    guard group.zone == zone else { throw op.foreign(to: zone) }
    if group.isOpen { try giveUp(op, writer) }
    try save(GroupRules.ended(group, as: .removed, now: now), of: op, writer)
  }

  /// What a commit depends on beside the records: its lock, roles of its user, and the group that it makes visible.
  func checkTerms(of commit: Commit, _ writer: WriterEpochs.Row) throws(CaravanError) -> StagedGroup? {
    if let fence = commit.fence {
      try fence.check(reads.lease(fence.lease), holder: commit.op.writer, now: now)
    }
    if let name = try commit.roleZone {
      let zone = try zones.zone(name)
      try commit.checkRoles(now: now) { (record) throws(CaravanError) in
        try zone.flatMap { (zone) throws(CaravanError) in try reads.head(of: record, in: zone.id) }
      }
    }
    guard commit.parts != nil else { return nil }
    let group = try reads.group(Key.make(writer.id, commit.op.number))
    try GroupRules.check(commit, closes: group)
    return group
  }

  func save(_ group: StagedGroup, of op: OpID, _ writer: WriterEpochs.Row) throws(CaravanError) {
    try db.run(
      """
      UPDATE groups SET stage = ?, parts = ?, records = ?, bytes = ?, chunks = ?, held = ?, until = ? WHERE key = ?
      """, group.stage.rawValue, group.parts, group.records, group.bytes, group.chunks, group.held, group.until,
      Key.make(writer.id, op.number))
  }

  func end(_ op: OpID, _ writer: WriterEpochs.Row, as stage: StagedGroup.Stage) throws(CaravanError) {
    guard let group = try reads.group(Key.make(writer.id, op.number)) else { return }
    try save(GroupRules.ended(group, as: stage, now: now), of: op, writer)
  }

  /// A commit that comes late will never apply.
  private func giveUp(_ op: OpID, _ writer: WriterEpochs.Row) throws(CaravanError) {
    let key = Key.make(writer.id, op.number)
    let isKnown = try db.first("SELECT 1 FROM ops WHERE key = ?", key, read: { _ in true }) ?? false
    if !isKnown, op.number >= writer.floor { try writers.keep(.aborted, of: op, writer, floor: 0) }
  }

  // MARK: Maintenance

  /// Gives up groups that nobody goes on with, and those to be kept for longer than any is, which were begun before the
  /// time went back (TRU-12); removes parts of those that have ended, and forgets the oldest.
  /// - Returns: whether there may be more.
  func collect() throws(CaravanError) -> Bool {
    let expired = try db.all(
      """
      SELECT g.key, w.name, w.epoch FROM groups g JOIN writers w ON w.id = g.key >> 40
      WHERE (g.until < ? OR g.until > ?) AND g.stage = 0 LIMIT ?
      """, now, now + StoreLimits.groupLease.components.seconds * 1_000 + FileLimits.clockStep,
      FileLimits.collectedGroups,
      read: { OpID(writer: $0.text(1), epoch: $0.unsigned(2), number: Key.counter($0.integer(0))) })
    for op in expired {
      let writer = try writers.writer(op)
      try giveUp(op, writer)
      try end(op, writer, as: .expired)
    }
    let cleared = try clearParts()
    try db.run("DELETE FROM groups WHERE until < ? AND stage > 0 AND held = 0", now)
    return expired.count == FileLimits.collectedGroups || cleared
  }

  private func clearParts() throws(CaravanError) -> Bool {
    let group = try db.first(
      "SELECT key, database FROM groups WHERE stage > 0 AND held > 0 LIMIT 1",
      read: { (key: $0.integer(0), database: $0.integer(1)) })
    guard let group else { return false }
    let part = try db.first(
      "SELECT id, chunks FROM group_parts WHERE owner = ? LIMIT 1", group.key,
      read: { (id: $0.integer(0), chunks: $0.bytes(1)) })
    guard let part else {
      throw CaravanError(.internalError, "a group says that it holds parts and has none: restore the file")
    }
    for hash in try ChunkHash.list(part.chunks) { try chunks.release(hash, in: group.database) }
    try db.run("DELETE FROM group_parts WHERE id = ?", part.id)
    try db.run("UPDATE groups SET held = held - 1 WHERE key = ?", group.key)
    return true
  }
}
