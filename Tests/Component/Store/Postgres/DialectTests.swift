import Foundation
import Testing

/// Goal: what the store says to PostgreSQL, Citus, YugabyteDB and CockroachDB understand too (architecture §5). Method:
/// every statement is taken from the source and held to what all of them have; each rule has a canary that it must
/// catch.
@Suite struct DialectTests {
  struct Rule: Sendable, CustomTestStringConvertible {
    let name: String
    let canary: String
    let isKept: @Sendable (String) -> Bool
    var testDescription: String { name }

    init(_ name: String, canary: String, _ isKept: @escaping @Sendable (String) -> Bool) {
      self.name = name
      self.canary = canary
      self.isKept = isKept
    }

    /// What must not appear.
    init(no words: String, canary: String) {
      self.init("no \(words)", canary: canary) { !$0.has(words) }
    }
  }

  static let rules: [Rule] = [
    // Counters that all writers meet at, or that have holes.
    Rule(no: #"\b(small|big)?serial\b|\bsequence\b|\bnextval\b|\bidentity\b"#, canary: "CREATE TABLE t(a bigserial)"),
    // What acts by itself in the database, or between sessions.
    Rule(no: #"\btrigger\b|\bfunction\b|\bprocedure\b|\bplpgsql\b|\bDO\s+\$"#, canary: "CREATE TRIGGER t"),
    Rule(no: #"\blisten\b|\bnotify\b|\bpg_notify\b"#, canary: "NOTIFY changes"),
    Rule(no: #"\bpg_(try_)?advisory|\bLOCK\s+TABLE\b|\bSKIP\s+LOCKED\b|\bNOWAIT\b"#, canary: "LOCK TABLE t"),
    // Collations differ from server to server; row addresses and system columns from engine to engine.
    Rule(no: #"\btext\b|\bvarchar\b|\bcollate\b"#, canary: "CREATE TABLE t(a text)"),
    Rule(no: #"\bctid\b|\bxmin\b|\boid\b"#, canary: "SELECT ctid FROM t"),
    Rule(no: #"\breferences\b|\bforeign\b|\bexclude\b"#, canary: "a bigint REFERENCES b"),
    Rule(no: #"\bmerge\b|\brecursive\b|\btablesample\b|\bdistinct\s+on\b|\bon\s+constraint\b"#, canary: "MERGE INTO t"),
    Rule(no: #"\btemp(orary)?\b|\bunlogged\b|\bcursor\s+for\b|\bdeclare\b"#, canary: "CREATE TEMP TABLE t"),
    Rule("a key begins with the partition", canary: "CREATE TABLE t(a bigint, PRIMARY KEY (a, partition))") { sql in
      guard sql.has(#"^CREATE TABLE"#) else { return true }
      return sql.has(#"\(\s*partition integer PRIMARY KEY"#) || sql.has(#"PRIMARY KEY \(partition,"#)
    },
    Rule("an index begins with the partition", canary: "CREATE UNIQUE INDEX i ON t(a)") { sql in
      !sql.has(#"^CREATE (UNIQUE )?INDEX"#) || sql.has(#"ON \w+\(partition,"#)
    },
    Rule("a change is of one partition", canary: "UPDATE caravan_zones SET seq = 1 WHERE id = $1") { sql in
      guard sql.has(#"^(INSERT|UPDATE|DELETE)"#) else { return true }
      return sql.has(#"\bpartition = \$1"#)
        || sql.has(#"^INSERT INTO caravan_\w+\(partition, .*(SELECT \$1,|SELECT w\.partition|VALUES \(0,)"#)
    },
    // Citus refuses them there; and each shard would have its own answer.
    Rule("a change asks for no time or chance", canary: "DELETE FROM t WHERE partition = $1 AND a < now()") { sql in
      !sql.has(#"^(INSERT|UPDATE|DELETE)"#) || !sql.has(#"_timestamp\(|\bnow\(|\brandom\("#)
    },
    Rule("rows are held in one partition at a time", canary: "SELECT a FROM t FOR UPDATE") { sql in
      !sql.has(#"\bFOR (UPDATE|SHARE)\b"#) || sql.has(#"WHERE partition = \$1 FOR UPDATE$"#)
    },
    Rule("what a join meets is in the same partition", canary: "SELECT a FROM x JOIN caravan_y y ON y.a = x.a") { sql in
      let joins = sql.matches(#"JOIN caravan_\w+ \w+ ON \w+\.(\w+)"#)
      return joins.allSatisfy { $0.hasSuffix(".partition") }
    },
    Rule(
      "what a lateral join meets is in the same partition",
      canary: "SELECT b FROM x CROSS JOIN LATERAL (SELECT b FROM caravan_y WHERE a = x.a LIMIT 1) AS y"
    ) { sql in
      let joins = sql.matches(#"LATERAL \( ?SELECT [^()]* FROM caravan_\w+ WHERE [^=]* ="#)
      return joins.count == sql.matches("LATERAL").count && joins.allSatisfy { $0.hasSuffix(" WHERE partition =") }
    },
  ]

  /// Every SQL literal of the store.
  /// - Parameter others: folders that are left out. What is in `Engine` only PostgreSQL itself is asked.
  static func statements(without others: Set<String> = ["Engine"]) throws -> [String] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Shared/Storage/StorePostgres")
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".swift") && !others.contains($0.components(separatedBy: "/")[0]) }
      .flatMap { name in
        let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        let long = text.components(separatedBy: "\"\"\"").enumerated().filter { !$0.offset.isMultiple(of: 2) }
          .map(\.element)
        let short = text.components(separatedBy: "\"\"\"").enumerated().filter { $0.offset.isMultiple(of: 2) }
          .flatMap { $0.element.matches(#""[A-Z]{3,}[^"\n]*""#).map { String($0.dropFirst().dropLast()) } }
        return (long + short).map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
          .filter { $0.has(#"^(CREATE|ALTER|SELECT|INSERT|UPDATE|DELETE|WITH|DROP|LOCK|BEGIN|DO|CALL) "#) }
      }
  }

  @Test("a rule catches its canary", arguments: rules)
  func canary(rule: Rule) { #expect(!rule.isKept(rule.canary)) }

  @Test("every statement keeps to what all engines have", arguments: rules)
  func keeping(rule: Rule) throws {
    let statements = try Self.statements()
    #expect(statements.count > 185 && statements.contains { $0.hasPrefix("CREATE TABLE") }, "they were not found")
    for statement in statements { #expect(rule.isKept(statement), "\(statement)") }
  }
}

extension String {
  fileprivate func has(_ pattern: String) -> Bool {
    range(of: pattern, options: [.regularExpression, .caseInsensitive]) != nil
  }

  fileprivate func matches(_ pattern: String) -> [String] {
    var found: [String] = []
    var rest = startIndex..<endIndex
    while let match = range(of: pattern, options: .regularExpression, range: rest) {
      found.append(String(self[match]))
      rest = match.upperBound..<endIndex
    }
    return found
  }
}
