internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanRuntime
internal import CaravanStore

/// Where the look for zones that were deleted long ago goes on: id after id of partition after partition.
struct BurialTurn: Sendable {
  var partition = Partition.all[0]
  /// Zones up to this one have been looked at.
  var zone: Int64 = 0

  init() {}

  /// The next partition.
  mutating func pass() {
    partition = Partition.all[(Int(partition.number) + 1) % Partition.all.count]
    zone = 0
  }
}

extension StorePostgres {
  /// - Returns: whether there is more to do now.
  func buryZones(clock: Int64?) async throws(CaravanError) -> Bool {
    let start = burialTurn.withLock { $0 }
    let rule = options.tombstones
    let (turn, hasMore) = try await perform(in: start.partition) { (maintenance) throws(PostgresError) in
      var turn = start
      let hasMore = try maintenance.buryZones(&turn, rule, clock: clock)
      return (turn, hasMore)
    }
    burialTurn.withLock { $0 = turn }
    return hasMore
  }
}

/// Rows of zones that were deleted long ago go (`BuriedZones`), and count no more for their owner. Their ids do not
/// come back: tokens, outcomes of ops and positions of those who follow the log name lives by them for as long as
/// anybody keeps one, and a life that had another's id would take them for its own.
extension PartitionMaintenance {
  private struct Incarnation {
    let id: Int64
    let database: String
    let name: String
    let seq: Seq
    let changed: UInt64

    init(_ row: Row) {
      (id, database, name) = (row.integer(0), row.text(1), row.text(2))
      (seq, changed) = (row.unsigned(3), row.unsigned(4))
    }
  }

  /// Looks at the next ids of the turn's partition; sightings of devices that have not been there for so long that
  /// nobody waits for them go as well.
  /// - Returns: whether there is more to do now.
  func buryZones(
    _ turn: inout BurialTurn, _ rule: TombstoneRule, clock: Int64?
  ) throws(PostgresError) -> Bool {
    let key = Int32(turn.partition.number)
    guard let counts = try db.run(BurialStatements.counts, key).first, turn.zone < counts.integer(1) else {
      turn.pass()
      return false
    }
    let (head, reach) = (counts.unsigned(0), counts.unsigned(2))
    let now = try now(clock)
    let deadBefore = now - StoreLimits.deadZonesKept.components.seconds * 1_000
    let end = turn.zone + PostgresLimits.zonesLookedAt
    let forgotten = try db.run(
      BurialStatements.forgetSightings, key, turn.zone, end, rule.activeSince(now), PostgresLimits.collectedRows)
    guard forgotten.changed < PostgresLimits.collectedRows else { return true }
    let dead = try db.run(
      BurialStatements.dead, key, turn.zone, end, deadBefore, BuriedZones.name, PostgresLimits.zonesPerBurial
    ).map(Incarnation.init)
    for life in dead where life.changed < head {
      // What is not done with one step begins with the same zone next time.
      guard try bury(life, in: turn.partition, isRestored: reach > 0) else { return true }
      turn.zone = life.id
    }
    let isAll = dead.count < PostgresLimits.zonesPerBurial
    turn.zone = isAll ? end : dead.last?.id ?? end
    return !isAll
  }

  /// - Returns: whether it is done with, gone or not.
  private func bury(_ life: Incarnation, in partition: Partition, isRestored: Bool) throws(PostgresError) -> Bool {
    let key = Int32(partition.number)
    var isDone = true
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      let lives = try db.run(BurialStatements.lives, key, life.database, life.name)
      // What a restore took back is known by the names of zones.
      guard !lives.contains(where: { $0.integer(1) == ZoneStage.restored }) else { return pipeline }
      // Of a zone that was deleted again since, the last life that is over says enough.
      let isFollowed = lives.contains { $0.integer(0) > life.id && $0.integer(1) == ZoneStage.purged }
      guard isFollowed || lives.count == 1 && !isRestored else { return pipeline }
      guard try db.run(BurialStatements.objects, key, life.id).isEmpty else { return pipeline }
      // Entries that refer to the zone, and those before: whoever has not read them in all that time reads zones anew.
      let gone = try db.run(BurialStatements.trimLog, key, life.changed, PostgresLimits.collectedRows).changed
      isDone = gone < PostgresLimits.collectedRows
      guard isDone else { return pipeline }
      if !isFollowed { try remember(life, key, &pipeline) }
      pipeline.add(BurialStatements.remove, key, life.id)
      return pipeline
    }
    return isDone
  }

  private func remember(_ life: Incarnation, _ key: Int32, _ pipeline: inout Pipeline) throws(PostgresError) {
    if let known = try db.run(BurialStatements.lives, key, life.database, BuriedZones.name).last {
      pipeline.add(BurialStatements.raise, key, known.integer(0), life.seq, life.changed)
      return
    }
    let id = (try db.run(BurialStatements.counts, key).first?.integer(1) ?? 0) + 1
    pipeline.add(
      Statements.addZones, key, [id], [life.database], [BuriedZones.name], [life.seq], [Int64(0)], [Int64(0)],
      [ZoneStage.purged], [life.changed], [Int64(0)], [UInt64(0)], [Int64(0)])
    pipeline.add(MoveStatements.countZones, key, Int64(1), Int64(0), Int64(0))
  }
}

enum BurialStatements {
  static let counts: StaticString = "SELECT head, last_zone, reach FROM caravan_partitions WHERE partition = $1"

  static let dead: StaticString = """
    SELECT id, database, name, seq, changed FROM caravan_zones
    WHERE partition = $1 AND id > $2 AND id <= $3 AND stage = 2 AND time < $4 AND NOT name = $5 ORDER BY id LIMIT $6
    """

  static let forgetSightings: StaticString = """
    DELETE FROM caravan_sightings WHERE partition = $1 AND (zone, device) IN (
      SELECT s.zone, s.device FROM caravan_sightings s
      WHERE s.partition = $1 AND s.zone > $2 AND s.zone <= $3 AND s.sighted <= $4 ORDER BY s.zone, s.device LIMIT $5)
    """

  static let lives: StaticString = """
    SELECT id, stage FROM caravan_zones WHERE partition = $1 AND database = $2 AND name = $3 ORDER BY id
    """

  static let objects: StaticString = "SELECT 1 FROM caravan_objects WHERE partition = $1 AND zone = $2 LIMIT 1"

  static let trimLog: StaticString = """
    DELETE FROM caravan_log WHERE partition = $1 AND position IN (
      SELECT position FROM caravan_log WHERE partition = $1 AND position <= $2 ORDER BY position LIMIT $3)
    """

  static let remove: StaticString = "DELETE FROM caravan_zones WHERE partition = $1 AND id = $2"

  static let raise: StaticString = """
    UPDATE caravan_zones SET seq = greatest(seq, $3), changed = greatest(changed, $4) WHERE partition = $1 AND id = $2
    """

  /// Of databases from one key on and below another; lives that a restore ended are counted in what follows them.
  static let owned: StaticString = """
    SELECT (SELECT count(*) FROM (
      SELECT id FROM caravan_zones
      WHERE partition = $1 AND database >= $2 AND database < $3 AND stage = 0 LIMIT $4) AS alive)
      + (SELECT count(*) FROM (
        SELECT id FROM caravan_zones
        WHERE partition = $1 AND database >= $2 AND database < $3 AND stage > 0 AND stage <> 3 LIMIT $4) AS dead)
    """
}
