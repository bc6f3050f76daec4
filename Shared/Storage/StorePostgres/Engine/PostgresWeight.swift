public import CaravanModel
public import CaravanPostgreSQL
public import CaravanStore

/// Of PostgreSQL itself: what it says of its tables, others that speak its language do not.
extension StorePostgres {
  /// - Parameter isSettled: after what server and storage do in their own time about what updates have left.
  /// - Throws: `unavailable` when the server is not to be had, `internalError` when it holds no store.
  public static func weigh(_ address: ConnectionString, isSettled: Bool) throws(CaravanError) -> StoreWeight {
    do throws(PostgresError) {
      let db = try Connection(.archive(address))
      defer { db.close() }
      if isSettled {
        try db.execute("VACUUM (ANALYZE) \(Layout.tableNames.joined(separator: ", "))")
        _ = try IndexMaintenance(db: db).run()
      }
      let sums = try db.run(weights, Layout.tableNames)[0]
      var weight = StoreWeight()
      (weight.tables, weight.records, weight.log) = (sums.integer(0), sums.integer(1), sums.integer(2))
      (weight.writers, weight.writerNames) = (sums.integer(3), sums.integer(4))
      (weight.supersededRows, weight.superseded) = (sums.integer(5), sums.integer(6))
      return weight
    } catch { throw error.caravanError }
  }

  private static let weights: StaticString = """
    SELECT t.tables, r.records, l.log, r.writers, r.names, s.rows, s.bytes
    FROM (
      SELECT CAST(sum(pg_total_relation_size(CAST(convert_from(name, 'UTF8') AS regclass))) AS bigint) AS tables
      FROM unnest($1) AS t(name)) AS t, (
      SELECT CAST(coalesce(sum(octet_length(name) + octet_length(body)), 0) AS bigint) AS records,
        CAST(coalesce(sum(pg_column_size(writer) + pg_column_size(epoch)), 0) AS bigint) AS writers,
        CAST(coalesce(sum(1 + octet_length(writer)), 0) AS bigint) AS names
      FROM caravan_records) AS r, (
      SELECT CAST(coalesce(sum(pg_column_size(l)), 0) AS bigint) AS log FROM caravan_log l) AS l, (
      SELECT count(*) AS rows, CAST(coalesce(sum(pg_column_size(s)), 0) AS bigint) AS bytes
      FROM caravan_superseded s) AS s
    """
}
