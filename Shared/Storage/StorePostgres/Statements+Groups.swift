/// Commits in parts.
enum GroupStatements {
  static let groups: StaticString = """
    SELECT w.ordinal, g.stage, g.parts, g.records, g.bytes, g.chunks, g.held, g.until, g.database, g.zone
    FROM unnest($2, $3, $4) WITH ORDINALITY AS w(writer, epoch, number, ordinal)
    CROSS JOIN LATERAL (
      SELECT stage, parts, records, bytes, chunks, held, until, database, zone FROM caravan_groups
      WHERE partition = $1 AND writer = w.writer AND epoch = w.epoch AND number = w.number LIMIT 1) AS g
    """

  static let stagedParts: StaticString = """
    SELECT w.ordinal, p.body
    FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS w(writer, epoch, number, part, ordinal)
    CROSS JOIN LATERAL (
      SELECT body FROM caravan_group_parts
      WHERE partition = $1 AND writer = w.writer AND epoch = w.epoch AND number = w.number AND part = w.part
      LIMIT 1) AS p
    """

  /// Of the databases from one key on and below another: how many are in which stage.
  static let census: StaticString = """
    SELECT stage, count(*) FROM caravan_groups WHERE partition = $1 AND database >= $2 AND database < $3 GROUP BY stage
    """

  static let saveGroups: StaticString = """
    INSERT INTO caravan_groups(partition, writer, epoch, number, database, zone, stage, parts, records, bytes, chunks,
      held, until)
    SELECT $1, w.writer, w.epoch, w.number, w.database, w.zone_name, w.stage, w.parts, w.records, w.bytes, w.chunks,
      w.held, w.until
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
      AS w(writer, epoch, number, database, zone_name, stage, parts, records, bytes, chunks, held, until)
    ON CONFLICT (partition, writer, epoch, number) DO UPDATE SET stage = excluded.stage, parts = excluded.parts,
      records = excluded.records, bytes = excluded.bytes, chunks = excluded.chunks, held = excluded.held,
      until = excluded.until
    """

  static let addParts: StaticString = """
    INSERT INTO caravan_group_parts(partition, writer, epoch, number, part, chunks, body)
    SELECT $1, w.writer, w.epoch, w.number, w.part, w.chunks, w.body
    FROM unnest($2, $3, $4, $5, $6, $7) AS w(writer, epoch, number, part, chunks, body)
    """

  static let parts: StaticString = """
    SELECT body FROM caravan_group_parts WHERE partition = $1 AND writer = $2 AND epoch = $3 AND number = $4
    ORDER BY part
    """

  // MARK: Maintenance

  static let survey: StaticString = """
    SELECT DISTINCT partition FROM caravan_groups
    WHERE until < $1 OR (stage > 0 AND held > 0) OR (stage = 0 AND until > $2) ORDER BY 1
    """

  static let expired: StaticString = """
    SELECT g.writer, g.epoch, g.number FROM caravan_groups g
    WHERE g.partition = $1 AND g.until < $2 AND g.stage = 0
    UNION ALL
    SELECT g.writer, g.epoch, g.number FROM caravan_groups g
    WHERE g.partition = $1 AND g.until > $3 AND g.stage = 0 LIMIT $4
    """

  /// Where nothing is known of them, those above their writer's low watermark.
  static let abortOps: StaticString = """
    INSERT INTO caravan_ops(partition, writer, epoch, number, zone, outcome)
    SELECT $1, w.writer, w.epoch, w.number, 0, w.outcome
    FROM unnest($2, $3, $4, $5) AS w(writer, epoch, number, outcome)
    ON CONFLICT (partition, writer, epoch, number) DO NOTHING
    """

  static let expire: StaticString = """
    UPDATE caravan_groups g SET stage = $5, until = $6 FROM unnest($2, $3, $4) AS w(writer, epoch, number)
    WHERE g.partition = $1 AND g.stage = 0 AND g.writer = ANY($2) AND g.writer = w.writer AND g.epoch = w.epoch
      AND g.number = w.number
    """

  static let toClear: StaticString = """
    SELECT p.writer, p.epoch, p.number, p.part, p.chunks, g.database
    FROM (
      SELECT partition, writer, epoch, number, database FROM caravan_groups
      WHERE partition = $1 AND stage > 0 AND held > 0 LIMIT 1) AS g
    JOIN caravan_group_parts p ON p.partition = g.partition AND p.writer = g.writer AND p.epoch = g.epoch
      AND p.number = g.number
    ORDER BY p.part LIMIT 1
    """

  static let removePart: StaticString = """
    DELETE FROM caravan_group_parts WHERE partition = $1 AND writer = $2 AND epoch = $3 AND number = $4 AND part = $5
    """

  static let partRemoved: StaticString = """
    UPDATE caravan_groups SET held = held - 1 WHERE partition = $1 AND writer = $2 AND epoch = $3 AND number = $4
    """

  static let forget: StaticString = """
    DELETE FROM caravan_groups WHERE partition = $1 AND until < $2 AND stage > 0 AND held = 0
    """
}
