import CaravanBus
import CaravanModel
import CaravanQueryCore
import CaravanQueryDriver
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: an index that is built beside writes has every record once, a query that would cost too much ends, and who has
/// seen a version is answered with it. Method: the service on a simulated bus with real storage and schema.
@Suite(.timeLimit(.minutes(2))) struct IndexBuildingTests {
  private static func started(steps: Int? = nil) throws -> (Cluster, Cluster.Instance, CaravanModel.RecordType) {
    let cluster = try Cluster(seed: 5)
    let instance = try cluster.startQuery(steps: steps)
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    _ = try cluster.find(query())
    return (cluster, instance, type)
  }

  private static func fields(_ number: Int) -> RecordFields {
    RecordFields([
      1: .text("row \(number % 7)"), 2: .integer(Int64(number)), 8: .list([.text("t\(number % 5)"), .text("all")]),
    ])
  }

  private static func fill(_ cluster: Cluster, _ numbers: Range<Int>, _ type: CaravanModel.RecordType) throws {
    for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 100) {
      let batch = start..<min(numbers.upperBound, start + 100)
      try cluster.save(batch.map { ("r\(10_000 + $0)", fields($0)) }, type: type, to: zone("photos"))
    }
  }

  private static let asked: [(terms: [Predicate.Term], holds: @Sendable (Int) -> Bool)] = [
    ([.compare(field: "date", .less, .integer(700))], { $0 < 700 }),
    ([.compare(field: "name", .matchAll, .text("row 3"))], { $0 % 7 == 3 }),
    ([.compare(field: "tags", .containsAll, .list([.text("t1"), .text("all")]))], { $0 % 5 == 1 }),
  ]

  @Test("CK-29: indexes built in steps while records are written, changed and deleted have each record once")
  func beside() throws {
    let (cluster, instance, type) = try Self.started()
    try Self.fill(cluster, 0..<2_600, type)
    try cluster.settle()
    for (index, asked) in Self.asked.enumerated() {
      // The question begins the index; meanwhile others write.
      let first = 2_600 + index * 300
      let task = cluster.simulation.start { try await cluster.ask(QueryRequest(query(asked.terms))) }
      try Self.fill(cluster, first..<first + 300, type)
      try cluster.delete((0..<50).map { "r\(10_000 + index * 50 + $0)" }, from: zone("photos"))
      try cluster.simulation.run(within: .seconds(20)) { task.result != nil }
      try cluster.settle()
      let right = ((index + 1) * 50..<first + 300).filter(asked.holds).map { "r\(10_000 + $0)" }
      #expect(try cluster.findAll(query(asked.terms)).map(\.name) == right, "\(asked.terms)")
      var counted = query(asked.terms)
      counted.isCount = true
      #expect(try cluster.find(counted).count == UInt64(right.count))
    }
    #expect(instance.count("caravan_query_index_steps_total") > 10)
  }

  @Test("CK-29: an index that was being built when the service ended is ready after it has begun again")
  func resumed() throws {
    let (cluster, first, type) = try Self.started()
    try Self.fill(cluster, 0..<2_600, type)
    try cluster.settle()
    let terms = Self.asked[1].terms
    _ = cluster.simulation.start { try await cluster.ask(QueryRequest(query(terms))) }
    first.service.shutDown()
    try cluster.simulation.run(within: .seconds(5)) { first.task.result != nil }
    _ = try cluster.startQuery()
    try cluster.waitUntilServed()
    #expect(try cluster.findAll(query(terms)).count == (0..<2_600).count { $0 % 7 == 3 })
  }

  @Test("CK-31: who has seen a version of a zone is answered with it, or told that it is not there yet")
  func seen() throws {
    let (cluster, _, type) = try Self.started()
    try cluster.save([("a", RecordFields())], type: type, to: zone("photos"))
    try cluster.settle()
    // The index hears nothing by itself, and looks for what it has not heard of after a while.
    cluster.faults.set { $0.lost = { $0.subject.hasPrefix("changes.") } }
    try cluster.save([("b", RecordFields())], type: type, to: zone("photos"))
    var asked = query()
    #expect(try cluster.find(asked).hits.count == 1, "who asks for nothing else is answered with what is there")
    let life = try cluster.incarnation(of: zone("photos"))
    asked.seen = [Query.Seen(zone: "photos", incarnation: life, seq: 2)]
    #expect(try cluster.find(asked).hits.count == 2)
    let wrong = [
      Query.Seen(zone: "photos", incarnation: life, seq: 3), Query.Seen(zone: "photos", incarnation: life + 1, seq: 1),
      Query.Seen(zone: "elsewhere", incarnation: life, seq: 1),
    ]
    for seen in wrong {
      asked.seen = [seen]
      // Nobody waits for what is not there.
      let error = #expect(throws: CaravanError.self) { try cluster.find(asked) }
      #expect(error?.code == .invalidData && error?.message.contains("has no version \(seen.seq)") == true)
    }
  }

  @Test("CK-80: a query that would look at too many records ends and says what to do; the next one is answered")
  func cost() throws {
    let (cluster, _, type) = try Self.started(steps: 200_000)
    try Self.fill(cluster, 0..<1_000, type)
    try cluster.settle()
    let scan = [Predicate.Term.compare(field: "name", .like, .text("%no such%"))]
    for _ in 0..<2 {
      let error = #expect(throws: CaravanError.self) { try cluster.find(query(scan)) }
      #expect(error?.code == .limitExceeded && error?.message.contains("too many records") == true)
      // With an index for the rest of it there are few to look at.
      let few = [Predicate.Term.compare(field: "date", .less, .integer(100))] + scan + [.all(2)]
      #expect(try cluster.find(query(few)).hits.isEmpty)
      #expect(try cluster.find(query(Self.asked[0].terms)).hits.count == 10)
    }
  }

  @Test("CK-80: who asks for what does not come takes a few places of their own, and others are answered meanwhile")
  func shares() throws {
    let (cluster, _, type) = try Self.started()
    let bobs = try (0..<10_000).lazy.map {
      try DatabaseID(container: album.container, environment: .development, owner: UserID("bob\($0)"))
    }
    .first { Partition(of: $0) == Partition(of: album) }
    let other = try #require(bobs)
    try cluster.save([("b", RecordFields())], type: type, to: zone("photos", in: other))
    #expect(try cluster.findAll(Query(database: other, type: "photos")).count == 1)
    // The index hears nothing of what they have seen for a while.
    cluster.faults.set { $0.lost = { $0.subject.hasPrefix("changes.") } }
    try cluster.save([("a", RecordFields())], type: type, to: zone("photos"))
    var patient = query()
    patient.seen = [Query.Seen(zone: "photos", incarnation: try cluster.incarnation(of: zone("photos")), seq: 1)]
    let request = QueryRequest(patient)
    let waiting = (0..<QueryLimits.inFlight).map { _ in
      cluster.simulation.start { () async -> ErrorCode? in
        do { _ = try await cluster.ask(request) } catch { return (error as? CaravanError)?.code }
        return nil
      }
    }
    try cluster.simulation.run(for: .milliseconds(100))
    #expect(try cluster.findAll(Query(database: other, type: "photos")).count == 1)
    #expect(waiting.count { $0.result != nil } == QueryLimits.inFlight - QueryLimits.inFlightPerTenant)
    try cluster.simulation.run(within: .seconds(5)) { waiting.allSatisfy { $0.result != nil } }
    let codes = waiting.map { try? $0.result?.get() }
    #expect(codes.count { $0 == .serverBusy } == QueryLimits.inFlight - QueryLimits.inFlightPerTenant)
    #expect(try cluster.find(query()).hits.count == 1, "and the places are free again")
  }
}
