import CaravanModel
import CaravanQueryCore
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: whatever shape a query or a record has, the answer is right and soon there, or says what is too much. Method:
/// the service on a simulated bus; what nests deep, lists much or is very long, against what each record is.
@Suite(.timeLimit(.minutes(2))) struct HostileQueryTests {
  private static func started(
    _ type: RecordType = photos, steps: Int? = nil
  ) throws -> (Cluster, Cluster.Instance, RecordType) {
    let cluster = try Cluster(seed: 9)
    let instance = try cluster.startQuery(steps: steps)
    let type = try cluster.define(type)
    try cluster.waitUntilServed()
    return (cluster, instance, type)
  }

  private static func asked(_ text: String, _ arguments: [Value] = [], sort: [SortKey] = []) -> Query {
    Query(
      database: album, type: "photos", text: Query.Text(text, arguments: arguments), sort: sort, limit: Limits.queryRows
    )
  }

  private static func fields(_ number: Int) -> RecordFields {
    RecordFields([
      1: .text("n\(number)"), 2: .integer(Int64(number)), 3: .real(Double(number)), 8: .list([.text("t\(number % 3)")]),
      10: (try? CaravanModel.Location(latitude: Double(number % 80), longitude: 20)).map { .location($0) } ?? .null,
    ])
  }

  /// What of the records 0 to 99 a query finds.
  private static func numbers(_ cluster: Cluster, _ query: Query) throws -> [Int] {
    try cluster.findAll(query).compactMap { Int($0.name.dropFirst()) }.sorted()
  }

  @Test("CK-80: conditions within each other, pairs of pairs and many values are answered as flat ones are, and soon")
  func shapes() throws {
    let (cluster, _, type) = try Self.started()
    try cluster.save((0..<100).map { ("r\($0)", Self.fields($0)) }, type: type, to: zone("photos"))
    func nested(_ depth: Int) -> String {
      guard depth > 0 else { return "date = 7" }
      return depth % 2 == 0 ? "(date > 1 AND \(nested(depth - 1)))" : "(name = 'no' OR \(nested(depth - 1)))"
    }
    func pairs(_ parts: [String]) -> String {
      guard parts.count > 1 else { return parts[0] }
      let middle = parts.count / 2
      return "(\(pairs(Array(parts[..<middle]))) OR \(pairs(Array(parts[middle...]))))"
    }
    for depth in [4, 15, 30, 60] { #expect(try Self.numbers(cluster, Self.asked(nested(depth))) == [7]) }
    let same = pairs((0..<64).map { "date = \($0)" })
    #expect(try Self.numbers(cluster, Self.asked(same)) == Array(0..<64))
    let circles = pairs((0..<40).map { "place NEAR (\($0), 20, 10)" })
    #expect(try Self.numbers(cluster, Self.asked(circles)) == Array(0..<40) + Array(80..<100))
    let lists = (0..<18).map { list in "date IN (\((0..<100).map { String($0 + list) }.joined(separator: ", ")))" }
    #expect(try Self.numbers(cluster, Self.asked(lists[0])) == Array(0..<100))
    #expect(try Self.numbers(cluster, Self.asked(lists.joined(separator: " AND "))) == Array(17..<100))
    let others = "date NOT IN (\((10..<100).map(String.init).joined(separator: ", ")))"
    #expect(try Self.numbers(cluster, Self.asked(others)) == Array(0..<10))
    let most = pairs((0..<63).map { "date = \($0)" })
    #expect(try Self.numbers(cluster, Self.asked("\(others) AND (\(most))")) == Array(0..<10))
    let error = #expect(throws: CaravanError.self) {
      try cluster.find(Self.asked((0...64).map { "date = \($0)" }.joined(separator: " OR ")))
    }
    #expect(error?.code == .limitExceeded && error?.message.contains("65 comparisons") == true)
    let words = #expect(throws: CaravanError.self) { try cluster.find(Self.asked("name MATCH 'a* b* c* d* e*'")) }
    #expect(words?.code == .limitExceeded && words?.message.contains("5 beginnings") == true)
    #expect(try Self.numbers(cluster, Self.asked("name MATCH 'n5* n5* n5* n5* n5* n5*'")) == [5] + Array(50..<60))
  }

  @Test("CK-80: texts that are longer than a key are told apart, and come in the order of their beginnings")
  func longTexts() throws {
    let (cluster, _, type) = try Self.started()
    let long = String(repeating: "x", count: 2_000)
    let texts = ["a", String(long.prefix(1_022)), String(long.prefix(1_023)), long, long + "a", long + "b", "y"]
    try cluster.save(
      texts.enumerated().map { ("r\($0)", RecordFields([1: .text($1), 8: .list([.text($1)])])) }, type: type,
      to: zone("photos"))
    for (number, text) in texts.enumerated() {
      func found(_ condition: String) throws -> [Int] {
        try Self.numbers(cluster, Self.asked("name \(condition)", [.text(text)]))
      }
      #expect(try found("= ?") == [number])
      #expect(try found("<> ?") == texts.indices.filter { $0 != number })
      #expect(try found("< ?") == Array(0..<number))
      #expect(try found("<= ?") == Array(0...number))
      #expect(try found("> ?") == Array(texts.indices.dropFirst(number + 1)))
      #expect(try found(">= ?") == Array(texts.indices.dropFirst(number)))
      #expect(try found("IN (?)") == [number])
      #expect(try found("NOT IN (?)") == texts.indices.filter { $0 != number })
      #expect(try Self.numbers(cluster, Self.asked("tags CONTAINS ?", [.text(text)])) == [number])
      let begins = Query(
        database: album, type: "photos", predicate: Predicate([.compare(field: "name", .prefix, .text(text))]))
      #expect(try Self.numbers(cluster, begins) == texts.indices.filter { texts[$0].hasPrefix(text) })
    }
    var paged = query(sort: [SortKey("name")], limit: 1)
    #expect(try cluster.findAll(paged).map(\.name) == texts.indices.map { "r\($0)" })
    paged.sort = [SortKey("name", isDescending: true)]
    #expect(try cluster.findAll(paged).map(\.name) == [6, 5, 4, 3, 2, 1, 0].map { "r\($0)" })
  }

  @Test("CK-80: a list or a text of more than an index takes is found all the same, before and after it was changed")
  func largeRecords() throws {
    let (cluster, _, type) = try Self.started()
    let many = (0..<QueryLimits.membersPerRecord + 5).map { Value.integer(Int64($0)) }
    let words = (0..<QueryLimits.wordsPerRecord + 5).map { "w\($0)" }.joined(separator: " ")
    let large = RecordFields([1: .text(words), 11: .list(many)])
    let small = RecordFields([1: .text("w3 w4"), 11: .list([.integer(3), .integer(-1)])])
    try cluster.save([("r1", small), ("r2", RecordFields([1: .text("w9")]))], type: type, to: zone("photos"))
    let asked: [(text: String, before: [Int], after: [Int])] = [
      ("numbers CONTAINS 3", [1], [1, 3]), ("numbers CONTAINS ANY (-1, 1004)", [1], [1, 3]),
      ("numbers CONTAINS ALL (3, 4)", [], [3]), ("numbers CONTAINS 5000", [], []),
      ("name MATCH 'w3'", [1], [1, 3]), ("name MATCH '\"w10003 w10004\"'", [], [3]), ("name MATCH 'none'", [], []),
      ("name MATCH 'w9' AND numbers CONTAINS 3", [], [3]), ("NOT name MATCH 'w9'", [1], [1]),
    ]
    for query in asked { #expect(try Self.numbers(cluster, Self.asked(query.text)) == query.before, "\(query.text)") }
    try cluster.save([("r3", large)], type: type, to: zone("photos"))
    for query in asked { #expect(try Self.numbers(cluster, Self.asked(query.text)) == query.after, "\(query.text)") }
    try cluster.save([("r3", small)], type: type, to: zone("photos"))
    #expect(try Self.numbers(cluster, Self.asked("numbers CONTAINS 3")) == [1, 3])
    #expect(try Self.numbers(cluster, Self.asked("name MATCH 'w10003'")) == [])
  }

  @Test("CK-29: an index that nobody has used for a day makes room for one that is asked for; answers stay right")
  func replaced() throws {
    let numbers = (1...20).map { FieldDefinition(id: UInt32($0), name: "f\($0)", kind: .integer) }
    let (cluster, instance, type) = try Self.started(
      RecordType(id: 4, definition: 2, name: "photos", fields: numbers))
    let rows = (0..<30).map { row in
      ("r\(row)", RecordFields(Dictionary(uniqueKeysWithValues: (1...20).map { ($0, .integer(Int64(row * $0))) })))
    }
    try cluster.save(rows, type: type, to: zone("photos"))
    func checkAll() throws {
      for field in 1...20 { #expect(try Self.numbers(cluster, Self.asked("f\(field) = \(7 * field)")) == [7]) }
    }
    try checkAll()
    for day in 1...3 {
      instance.machine.adjustWallTime(by: .seconds(25 * 3_600))
      try cluster.save(
        [("r\(100 + day)", RecordFields([20: .integer(-1), 1: .integer(-1)]))], type: type, to: zone("photos"))
      #expect(try Self.numbers(cluster, Self.asked("f20 = -1")).count == day)
      try checkAll()
    }
  }

  @Test("names that differ only in how their letters are composed are two records")
  func composed() throws {
    let (cluster, _, type) = try Self.started()
    _ = try cluster.find(query())
    let names = ["caf\u{e9}", "cafe\u{301}"]
    // Two commits that the index takes in as one group.
    for name in names { try cluster.save([(name, Self.fields(1))], type: type, to: zone("photos")) }
    let found = try cluster.findAll(query([.compare(field: "date", .equal, .integer(1))]))
    #expect(Set(found.map { Array($0.name.utf8) }) == Set(names.map { Array($0.utf8) }))
  }

  @Test("CK-65: of a type that one may not read nothing else is said, whatever is asked")
  func unreadable() throws {
    var secret = photos
    var grants = TypeGrants.standard
    try grants.grant([], to: .world)
    secret.grants = grants
    for limit in [1, -1, Limits.queryRows + 1] {
      var asked = Query(database: album, type: "photos", limit: limit, viewer: .anonymous)
      asked.fields = ["no such"]
      let error = #expect(throws: CaravanError.self) { try CompiledQuery(asked, type: secret) }
      #expect(error?.code == .tableNotFound)
    }
  }

  @Test("CK-80: what is read word by word costs by its length")
  func longBodies() throws {
    let (cluster, _, type) = try Self.started(steps: 3_000_000)
    let text = String(repeating: "word ", count: 20_000)
    let row = RecordFields([1: .text(text), 2: .integer(1)])
    try cluster.save((0..<20).map { ("r\($0)", row) }, type: type, to: zone("photos"))
    let few = "date = 1 AND name LIKE '%none%'"
    #expect(try Self.numbers(cluster, Self.asked(few)) == [])
    let error = #expect(throws: CaravanError.self) {
      try cluster.find(Self.asked("\(few) AND name LIKE '%word none%'"))
    }
    #expect(error?.code == .limitExceeded && error?.message.contains("too many records") == true)
    #expect(try Self.numbers(cluster, Self.asked("date = 1")).count == 20)
  }
}
