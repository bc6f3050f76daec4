import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanQueryDriver
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

import class Foundation.ProcessInfo

/// Goal: whatever is asked, in whatever order and pages, an index finds what a scan would. Method: random questions
/// over random records of all kinds of fields, answered by the query service's index with all, some and none of its
/// indexes, whole and in three shards, and by an oracle that shares no code with it.
///
/// `QUERIES=100000` asks so many, as CARAVAN_LONG does; `QUERY_SEED` begins elsewhere.
@Suite("A query and a scan", .timeLimit(.minutes(60))) struct DifferentialTests {
  private static func number(_ name: String, default value: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
  }

  private static let queriesPerTable = 100

  @Test(
    "CK-80, CK-10: random questions × orders × pages find what an oracle finds, by any indexes and by none",
    arguments: IndexEngine.allCases)
  func agree(engine: IndexEngine) throws {
    let isLong = ProcessInfo.processInfo.environment["CARAVAN_LONG"] != nil
    let count = Self.number("QUERIES", default: isLong ? 100_000 : 400)
    let first = Self.number("QUERY_SEED", default: 1)
    var counters = AskedCounters()
    for table in 0..<(count + Self.queriesPerTable - 1) / Self.queriesPerTable {
      let simulation = Simulation(seed: UInt64(first))
      defer { simulation.end() }
      let room = try IndexRoom(engine)
      let host = simulation.host("query").host
      let seed = UInt64(first + table)
      let queries = min(Self.queriesPerTable, count - table * Self.queriesPerTable)
      let result = try simulation.run { () async throws -> AskedCounters in
        var course = try DifferentialCourse(seed: seed, place: room.place, host: host)
        let counters = try await course.run(queries)
        await course.close()
        return counters
      }
      counters.add(result)
      for difference in result.differences { Issue.record("\(difference)") }
      guard counters.differences.count < 5 else { break }
    }
    guard counters.differences.isEmpty else { return }
    #expect(counters.queries == count)
    // Questions that find nothing, or everything, would show little.
    #expect(counters.withHits > count / 3 && counters.withMisses > count / 3, "\(counters)")
    #expect(counters.pages > counters.queries && counters.hits > 5 * counters.queries, "\(counters)")
  }
}

/// What was asked, and what came of it.
struct AskedCounters: CustomStringConvertible, Sendable {
  var queries = 0
  var pages = 0
  var hits = 0
  /// Questions that found something, and that left something out.
  var withHits = 0
  var withMisses = 0
  var differences: [String] = []

  mutating func add(_ other: AskedCounters) {
    queries += other.queries
    pages += other.pages
    hits += other.hits
    withHits += other.withHits
    withMisses += other.withMisses
    differences += other.differences
  }

  var description: String {
    "\(queries) questions, \(pages) pages, \(hits) hits; \(withHits) found something, \(withMisses) left something out"
  }
}

/// One table: its records come, change and go between questions.
private struct DifferentialCourse {
  private let chance: Chance
  private let generator: DifferentialGenerator
  private let index: DifferentialIndex
  private let seed: UInt64
  private let shards: Range<UInt32>
  private let fullness: Int
  private var isHuge: Bool
  private var records: [[[UInt8]]: KnownRecord] = [:]
  private var seq: Seq = 0

  init(seed: UInt64, place: any IndexPlace, host: Host) throws {
    self.seed = seed
    chance = Chance(seed: seed)
    generator = DifferentialGenerator(chance: chance)
    index = try DifferentialIndex(place, host: host)
    shards = chance.below(3) == 0 ? DifferentialIndex.shards : 0..<1
    fullness = chance.pick([3, 8, 9, 10])
    isHuge = chance.below(10) == 0
  }

  func close() async { await index.close() }

  /// Half of the records are there before any question has made an index.
  mutating func run(_ count: Int) async throws -> AskedCounters {
    var counters = AskedCounters()
    let size = chance.pick([15, 40, 80])
    for number in 0..<count where counters.differences.isEmpty {
      if number == 0 {
        try await index.begin()
        try await write(size)
      }
      if number > 0, chance.below(8) == 0 { try await write(size / 12) }
      try await ask(number, &counters)
    }
    return counters
  }

  private mutating func write(_ count: Int) async throws {
    seq += 1
    var written: [[[UInt8]]: KnownRecord] = [:]
    for _ in 0..<count {
      let name = chance.pick(["row", "row", "row", "rów", "ro\u{301}w", "Z"]) + "\(chance.below(150))"
      let isOwn = chance.below(3) == 0
      let zone = isOwn ? chance.pick(["photos", "old"]) : DefaultZone.name
      let shard = isOwn ? 0 : DefaultZone.shard(of: name, among: UInt32(shards.count))
      let record = generator.record(shard, zone, name, fullness: fullness, isHuge: isHuge)
      isHuge = false
      written[record.place] = record
    }
    let removed = chance.shuffled(records.values.filter { written[$0.place] == nil }.sorted { $0.name < $1.name })
      .prefix(count / 6)
    for record in removed { records[record.place] = nil }
    for (place, record) in written { records[place] = record }
    let order = written.values.sorted { $0.place.description < $1.place.description }
    try await index.apply(order, removed: Array(removed), seq: seq)
  }

  private mutating func ask(_ number: Int, _ counters: inout AskedCounters) async throws {
    let isText = chance.below(2) == 0
    let asked = generator.asked(isText: isText)
    let zone = chance.below(8) == 0 ? chance.pick(["photos", DefaultZone.name]) : nil
    let author = chance.below(10) == 0 ? chance.pick(["alice", "bob", "nobody"]) : nil
    var query = Query(database: album, type: "photos", sort: generator.sort(), zone: zone)
    if let author { query.viewer = .user(author) }
    if isText {
      query.text = asked.map { $0.text { chance.below(2) == 0 } }
    } else {
      query.predicate = Predicate(asked?.terms ?? [])
    }
    query.isCount = chance.below(8) == 0
    if chance.below(4) == 0 { query.pageBytes = 200 + chance.below(3_000) }
    let type = author == nil ? DifferentialGenerator.type : Self.privateType
    let right = Oracle(records: Array(records.values)).answer(
      asked, zone: zone, author: author, sort: query.sort, type)
    let salt = UInt32(chance.below(1 << 20))
    let way = DifferentialIndex.Way(
      indexes: chance.pick(DifferentialIndex.Indexes.allCases), reader: chance.below(index.ways)
    ) { ($0 &* 2_654_435_761 ^ salt) % 3 > 0 }
    let (found, pages) = try await answer(query, type, way, expecting: right.count)
    counters.queries += 1
    counters.pages += pages
    counters.hits += right.count
    if !right.isEmpty { counters.withHits += 1 }
    if right.count < records.count { counters.withMisses += 1 }
    if let text = query.text, zone == nil, author == nil, chance.below(4) == 0 {
      try watch(text, expecting: right, &counters)
    }
    let names = query.isCount ? ["\(right.count) records"] : right.map { "\($0.zone)/\($0.name)" }
    guard found.map({ Array($0.utf8) }) != names.map({ Array($0.utf8) }) else { return }
    counters.differences.append(
      """
      seed \(seed), question \(number), \(way.indexes) indexes, reader \(way.reader), \(shards.count) shards, \
      zone \(zone ?? "-"), author \(author ?? "-"): \(query.text.map { "\($0)" } ?? "\(query.predicate.terms)"), \
      sorted by \(query.sort)
      \(parting(found, names, query))
      """)
  }

  /// The same question as a subscription: a record enters its answer if it belongs there, and the subscription is then
  /// found by what the record holds (CK-84).
  private func watch(_ text: Query.Text, expecting right: [KnownRecord], _ counters: inout AskedCounters) throws {
    let type = DifferentialGenerator.type
    let standing = try Standing(
      StandingQuery(id: "s", .records(type: type.name, text: text, zone: nil, .all)), type, in: album)
    let found = Set(right.map(\.place))
    for record in records.values {
      let cells = RecordCells(
        name: record.name, authorship: record.authorship, fields: try BodyCells(record.fields.body))
      let isHit = standing.event(from: nil, to: cells, in: record.zone) == .enters
      let isFound = standing.anchors?.contains { $0.finds(cells) } ?? true
      guard isHit != found.contains(record.place) || isHit && !isFound else { continue }
      let differs = isHit && !isFound ? "is not found by \(record.name)" : "says otherwise of \(record.name)"
      counters.differences.append("seed \(seed): a subscription to \(text) \(differs): \(record.fields)")
    }
  }

  /// The first place at which two lists differ, and what is around it.
  private func parting(_ found: [String], _ right: [String], _ query: Query) -> String {
    let place = zip(found, right).prefix { $0.0.utf8.elementsEqual($0.1.utf8) }.count
    func around(_ list: [String]) -> ArraySlice<String> {
      list[max(0, min(place - 1, list.count))..<min(list.count, place + 3)]
    }
    let names = Set(around(found) + around(right))
    let fields = Set(query.sort.map(\.field) + DifferentialGenerator.type.fields.map(\.name).filter(said(of: query)))
    let shown = records.values.filter { names.contains("\($0.zone)/\($0.name)") }.map { record in
      let values = fields.sorted().compactMap { name in
        DifferentialGenerator.type.field(named: name).map { "\(name) \("\(record.fields[$0.id])".prefix(200))" }
      }
      return "\(record.zone)/\(record.name): \(values) \(record.authorship)"
    }
    return """
      at \(place): found \(around(found)) of \(found.count)
      not \(around(right)) of \(right.count)
      \(shown.sorted().joined(separator: "\n"))
      """
  }

  /// Whether a question speaks of a field.
  private func said(of query: Query) -> (String) -> Bool {
    let text = query.text?.text ?? "\(query.predicate.terms)"
    return { text.contains($0) }
  }

  /// Of which a viewer sees what they have made.
  private static let privateType: CaravanModel.RecordType = {
    var type = DifferentialGenerator.type
    var grants = TypeGrants.standard
    do throws(CaravanError) { try grants.grant([], to: .world) } catch { preconditionFailure("\(error)") }
    type.grants = grants
    return type
  }()

  /// What all pages have, in order.
  private func answer(
    _ query: Query, _ type: CaravanModel.RecordType, _ way: DifferentialIndex.Way, expecting count: Int
  ) async throws -> (found: [String], pages: Int) {
    var (query, found, pages) = (query, [String](), 0)
    repeat {
      query.limit = chance.pick([0, 1 + chance.below(4), 1 + count / (1 + chance.below(4)), max(1, count)])
      let page: (hits: [String], cursor: [UInt8])
      do {
        let reply = try await index.page(query, type, shards: shards, way)
        guard !query.isCount else { return (["\(reply.count) records"], 1) }
        page = (reply.hits.map { "\($0.zone)/\($0.entry?.name ?? "")" }, reply.cursor)
      } catch { return (found + ["refused: \(error)"], pages) }
      pages += 1
      found += page.hits
      if query.limit > 0, page.hits.count > query.limit { return (found + ["a page of \(page.hits.count)"], pages) }
      if page.hits.isEmpty, !page.cursor.isEmpty { return (found + ["an empty page goes on"], pages) }
      query.cursor = page.cursor
    } while !query.cursor.isEmpty && found.count <= count
    return (found, pages)
  }
}
