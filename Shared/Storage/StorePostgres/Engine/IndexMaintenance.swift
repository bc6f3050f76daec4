internal import CaravanPostgreSQL

/// What PostgreSQL itself needs, and other engines that speak its language do otherwise: so it asks who is there, and
/// here is the only place where statements may be PostgreSQL's alone.
///
/// Versions only ascend, and a record that is written again leaves its old one behind. So the index by version grows at
/// one end and thins out everywhere else: PostgreSQL takes a page back when it is empty, and never puts two together.
/// When most of the index is air it is built anew, beside the writers.
struct IndexMaintenance {
  let db: Connection
  /// What an index may have that is no entry.
  var slack = PostgresLimits.indexSlack

  /// - Returns: whether the index was built anew.
  func run() throws(PostgresError) -> Bool {
    guard try isPostgreSQL(), try isThin() else { return false }
    // What a rebuild that was cut off has left.
    for rest in ["caravan_records_pkey_ccnew", "caravan_records_pkey_ccold"] {
      try db.execute("DROP INDEX CONCURRENTLY IF EXISTS \(rest)")
    }
    try db.execute("REINDEX INDEX CONCURRENTLY caravan_records_pkey")
    return true
  }

  private func isPostgreSQL() throws(PostgresError) -> Bool {
    let version = try db.run("SELECT version()").first?.text(0) ?? ""
    guard version.hasPrefix("PostgreSQL "), !version.contains("-YB-") else { return false }
    return try db.run("SELECT 1 FROM pg_extension WHERE extname = 'citus'").isEmpty
  }

  private func isThin() throws(PostgresError) -> Bool {
    let sizes = try db.run(
      """
      SELECT pg_relation_size('caravan_records_pkey'), (
        SELECT CAST(coalesce(sum(records), 0) AS bigint) FROM caravan_partitions), (
        SELECT CAST(greatest(reltuples, 0) AS bigint) FROM pg_class WHERE oid = CAST('caravan_records' AS regclass))
      """)
    guard let row = sizes.first else { return false }
    // Tombstones are counted by the server only, and by that only now and then.
    let entries = max(row.integer(1), row.integer(2))
    return row.integer(0) > slack + PostgresLimits.indexEntryBytes * 2 * entries
  }
}
