/// Records whose objects go to the object store.
enum ObjectStatements {
  static let queue: StaticString = """
    INSERT INTO caravan_objects(partition, zone, name, seq, writer, epoch, number, stage, attempts, due, paths, problem)
    SELECT $1, w.zone, w.name, w.seq, w.writer, w.epoch, w.number, 0, 0, $8, '', ''
    FROM unnest($2, $3, $4, $5, $6, $7) AS w(zone, name, seq, writer, epoch, number)
    ON CONFLICT (partition, zone, name) DO UPDATE SET seq = excluded.seq, writer = excluded.writer,
      epoch = excluded.epoch, number = excluded.number, stage = 0, attempts = 0, due = excluded.due, problem = ''
    """

  /// Records that a restore brought.
  static let noteRestored: StaticString = """
    INSERT INTO caravan_objects(partition, zone, name, seq, writer, epoch, number, stage, attempts, due, paths, problem)
    SELECT $1, $2, w.name, w.seq, '', 0, 0, 3, 0, 0, '', '' FROM unnest($3, $4) AS w(name, seq)
    """

  /// They go to the object store that there is now.
  static let queueRestored: StaticString = "UPDATE caravan_objects SET stage = 0 WHERE partition = $1 AND stage = 3"

  /// Records that go with their zone.
  static let queueAgain: StaticString = """
    UPDATE caravan_objects SET stage = 0, attempts = 0, due = $4, problem = ''
    WHERE partition = $1 AND zone = $2 AND name = ANY($3)
    """

  /// Partitions with tasks whose time has come.
  static let survey: StaticString = """
    SELECT p.partition FROM caravan_partitions p
    WHERE (SELECT min(o.due) FROM caravan_objects o WHERE o.partition = p.partition AND o.stage = 0) <= $1
    ORDER BY 1
    """

  static let due: StaticString = """
    SELECT o.zone, o.name, o.seq, o.attempts, o.paths, z.database, z.name, z.stage
    FROM (
      SELECT partition, zone, name, seq, attempts, paths, due FROM caravan_objects
      WHERE partition = $1 AND stage = 0 AND due <= $2 ORDER BY due LIMIT $3) AS o
    JOIN caravan_zones z ON z.partition = o.partition AND z.id = o.zone
    ORDER BY o.due
    """

  static let savePaths: StaticString = """
    UPDATE caravan_objects SET paths = $4, stage = CASE WHEN seq = $5 THEN stage ELSE 0 END,
      due = CASE WHEN seq = $5 OR stage = 0 THEN due ELSE $6 END
    WHERE partition = $1 AND zone = $2 AND name = $3
    """

  static let settle: StaticString = """
    UPDATE caravan_objects SET stage = $5, attempts = $6, due = $7, problem = $8
    WHERE partition = $1 AND zone = $2 AND name = $3 AND seq = $4
    """

  static let forget: StaticString = """
    DELETE FROM caravan_objects WHERE partition = $1 AND zone = $2 AND name = $3 AND seq = $4
    """

  static let counts: StaticString = """
    SELECT o.stage, o.attempts > 0, count(*) FROM caravan_objects o
    WHERE o.stage <> 1 AND o.stage <> 3 GROUP BY o.stage, o.attempts > 0
    """

  static let countsOfGroup: StaticString = """
    SELECT stage, attempts > 0, count(*) FROM caravan_objects
    WHERE partition = $1 AND writer = $2 AND epoch = $3 AND number = $4 AND stage <> 1 AND stage <> 3
    GROUP BY stage, attempts > 0
    """

  /// Why one was not moved.
  static let problem: StaticString = """
    SELECT o.problem FROM caravan_objects o WHERE o.stage <> 1 AND o.problem <> '' LIMIT 1
    """

  /// Why one of a group's objects was not moved.
  static let problemOfGroup: StaticString = """
    SELECT problem FROM caravan_objects
    WHERE partition = $1 AND writer = $2 AND epoch = $3 AND number = $4 AND stage <> 1 AND problem <> '' LIMIT 1
    """
}
