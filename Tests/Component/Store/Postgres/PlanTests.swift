import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanTestKit
import Foundation
import Testing

/// Goal: no statement reads more than the rows it is about, also while the server knows nothing of the tables: a plan
/// made then is kept. Method: the plans of every statement of the source, made on empty tables.
@Suite(.timeLimit(.minutes(1))) struct PlanTests {
  /// Types of the parameters of statements that do not show them by how they are used.
  private static let given: [(beginning: String, types: [String])] = [
    (
      "INSERT INTO caravan_damaged_records(partition, zone, seq, found) SELECT $1, z.id",
      ["integer", "bytea", "bytea", "bigint[]", "bigint"]
    ),
    ("INSERT INTO caravan_damaged_records", ["integer", "bigint[]", "bigint[]", "bigint"]),
    ("INSERT INTO caravan_damage", ["integer", "bytea", "bytea[]", "bigint"]),
    (
      "INSERT INTO caravan_chunks(partition, database, hash, size, refs, staged, bytes) SELECT $1, $2, $3,",
      ["integer", "bytea", "bytea", "bigint", "bigint", "bytea"]
    ),
    (
      "SELECT database, hash, size FROM caravan_chunks WHERE partition = $1 AND (database, hash)",
      ["integer", "bytea", "bytea", "bigint"]
    ),
    ("INSERT INTO caravan_scrub_records", ["integer", "bigint", "bigint"]),
    ("INSERT INTO caravan_scrub", ["bigint", "bytea", "bytea"]),
  ]

  /// Types of a statement's parameters, as `Pipeline.add` declares them, told by how they are used.
  private static func types(_ sql: String) -> [String] {
    if let known = given.first(where: { sql.hasPrefix($0.beginning) }) { return known.types }
    let count = (1...20).last { sql.contains("$\($0)") } ?? 0
    let unnested = sql.components(separatedBy: "unnest(").dropFirst().first?.prefix { $0 != ")" } ?? ""
    let columns = sql.components(separatedBy: " AS w(").dropFirst().first?.prefix { $0 != ")" } ?? ""
    let names = columns.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    let arrays = unnested.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    let texts: Set = [
      "database", "zone_name", "name", "writer", "hash", "outcome", "bytes", "chunks", "body", "holder", "consumer",
      "source", "target", "fields", "account", "device", "maker", "author",
    ]
    return (1...max(1, count)).prefix(count).map { number in
      if let at = arrays.firstIndex(of: "$\(number)"), at < names.count {
        if names[at] == "deletion" { return "boolean[]" }
        let isCount = ["bytes", "chunks"].contains(names[at]) && names.contains("records")
        let isText =
          texts.contains(names[at]) && !isCount || names[at] == "zone" && sql.contains("database = w.database")
        return isText ? "bytea[]" : "bigint[]"
      }
      if number == 1 { return sql.contains("partition = $1") || sql.contains("SELECT $1,") ? "integer" : "bigint" }
      if sql.contains("= ANY($\(number))") {
        let isNumber = ["zone", "incarnation"].contains { sql.contains("\($0) = ANY($\(number))") }
        return isNumber ? "bigint[]" : "bytea[]"
      }
      let isText = ["database", "name", "writer", "consumer", "paths", "problem", "hash", "author"].contains {
        sql.range(of: #"\b\#($0) (=|>=|<|>) \$\#(number)\b"#, options: .regularExpression) != nil
      }
      return isText ? "bytea" : "bigint"
    }
  }

  @Test("every statement finds its rows by more than their partition")
  func plans() async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      await (try StorePostgres(PostgresOptions(ConnectionString(address)), host: .live(logLevel: .error))).close()
      // A backup reads whole partitions, and so does a migration.
      let statements = try DialectTests.statements(without: ["Engine", "Archive", "Migration"])
        .filter { $0.contains("$1") && $0.contains("caravan_") }
      #expect(statements.count > 115)
      var script = ["seqscan", "bitmapscan", "material", "hashjoin", "mergejoin"].map { "SET enable_\($0) = off;" }
      script.append("SET plan_cache_mode = force_generic_plan;")
      for (number, sql) in statements.enumerated() {
        let types = Self.types(sql)
        script.append("PREPARE p\(number)(\(types.joined(separator: ", "))) AS \(sql);")
        let values = types.map { _ in "NULL" }.joined(separator: ", ")
        script += ["\\echo == plan", "EXPLAIN (COSTS OFF) EXECUTE p\(number)(\(values));"]
      }
      let output = try server.psql(script.joined(separator: "\n"), address)
      let plans = output.components(separatedBy: "== plan\n").dropFirst()
      #expect(plans.count == statements.count, "\(output)")
      for (sql, plan) in zip(statements, plans) { check(plan.components(separatedBy: "\n"), of: sql) }
    }
  }

  private func check(_ plan: [String], of sql: String) {
    let text = "\(sql)\n\(plan.joined(separator: "\n"))"
    #expect(!plan.contains { $0.contains("ERROR") }, "\(text)")
    #expect(!plan.contains { $0.contains("Seq Scan") && !$0.contains("caravan_partitions") }, "\(text)")
    for (scan, line) in zip(plan, plan.dropFirst()) where scan.contains("Scan") && scan.contains("caravan_") {
      let ofFewRows = ["caravan_partitions", "caravan_layout", "caravan_scrub_records"]
      guard line.contains("Index Cond"), !ofFewRows.contains(where: { scan.contains($0) }) else { continue }
      // A few partial indexes hold only what is to be done; the oldest entry of a log is the first; a move looks at
      // all outcomes of a partition, once; whoever ends a round of scrubbing looks at all damage of one.
      let isList = [
        "zones_purged", "zones_snapshots", "zones_alive on caravan_zones z", "unreferenced",
        "log_pkey on caravan_log l", "to_clear", "objects_due",
        "zones_adopted", "ops_pkey on caravan_ops o", "caravan_damaged_records m",
      ]
      .contains { scan.contains($0) }
      #expect(line.contains(" AND ") || isList, "\(text)")
    }
  }
}
