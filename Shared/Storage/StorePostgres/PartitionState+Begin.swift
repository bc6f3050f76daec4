internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// How a zone begins.
extension PartitionState {
  /// A new life of the zone: another id, and versions that continue those of the life before.
  private func makeZone(_ name: ZoneID, seq: Seq) throws(CaravanError) -> Zone {
    guard counts.lastZone < PostgresLimits.highestZone else {
      throw CaravanError(
        .limitExceeded,
        "a partition numbers at most \(PostgresLimits.highestZone) zones, and this one has used them up: move users to "
          + "other storages")
    }
    let id = counts.lastZone + 1
    return Zone(
      name: name, id: id, incarnation: Layout.incarnation(life: counts.life, zone: id), seq: seq, records: 0, bytes: 0,
      stage: ZoneStage.alive, seqBefore: nil)
  }

  /// With what seq the zone's next life begins.
  func beginning(of name: ZoneID) throws(CaravanError) -> Seq {
    if let known = newest[name].flatMap({ zones[$0] }) { return known.seq }
    return try unnamedIncarnations(of: name).map(\.beginning).max() ?? 0
  }

  /// - Throws: `limitExceeded` when its owner has too many.
  func beginZone(_ name: ZoneID) throws(CaravanError) -> Zone {
    try checkShare(of: name.database)
    let seq = try beginning(of: name)
    if newest[name] == nil {
      for life in try unnamedIncarnations(of: name) {
        var past = try makeZone(name, seq: life.seq)
        past.stage = life.isRestored ? ZoneStage.restored : ZoneStage.purged
        (past.lostThrough, past.isChanged) = (life.lostThrough, true)
        counts.lastZone = past.id
        zones[past.id] = past
      }
    }
    return try makeZone(name, seq: seq)
  }

  /// Lives that a zone may have had of whose name nothing is known here.
  private func unnamedIncarnations(of name: ZoneID) throws(CaravanError) -> [PastIncarnation] {
    if let known = unnamed[name.database] { return known }
    let lives = try look { (db) throws(PostgresError) in
      ZoneIncarnations(
        try db.run(
          DeviceStatements.lives, Int32(partition.number), name.database.key, BuriedZones.name)
      ).over
    }
    unnamed[name.database] = lives
    return lives
  }

  private func checkShare(of database: DatabaseID) throws(CaravanError) {
    let key = database.key
    let (from, below) =
      database.isPublic ? (key, "\(key)\u{0}") : ("\(database.ownerText)/", "\(database.ownerText)0")
    let stored = try look { (db) throws(PostgresError) in
      try db.run(BurialStatements.owned, Int32(partition.number), from, below, Int64(StoreLimits.zonesOfOwner)).first?
        .integer(0) ?? 0
    }
    let new = zones.values.count { $0.seqBefore == nil && $0.name.database.key >= from && $0.name.database.key < below }
    try StoreLimits.checkShare(zones: stored + Int64(new))
  }

  private func look<Value>(
    _ question: (Connection) throws(PostgresError) -> Value
  ) throws(CaravanError) -> Value {
    guard let connection, failure == nil else {
      throw CaravanError(.unavailable, "the connection to PostgreSQL was lost while a commit was decided: retry")
    }
    do throws(PostgresError) { return try question(connection) } catch {
      failure = error
      throw error.answer
    }
  }
}
