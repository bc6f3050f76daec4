import CaravanBus
import CaravanChangeStream
import CaravanModel
import CaravanQueryDriver
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: answers agree with the records, whatever happens to messages and processes. Method: the service on a simulated
/// bus with real storage and schema; a naive scan says what is right.
@Suite(.timeLimit(.minutes(3))) struct ServiceTests {
  private static func started(seed: UInt64 = 1) throws -> (Cluster, Cluster.Instance, CaravanModel.RecordType) {
    let cluster = try Cluster(seed: seed)
    let instance = try cluster.startQuery()
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    // What nobody has asked about is not followed.
    _ = try cluster.find(query())
    return (cluster, instance, type)
  }

  /// Writes random records to two zones, and deletes some.
  private static func fill(
    _ cluster: Cluster, _ naive: inout Naive, _ generator: Generator, commits: Int
  ) throws {
    for _ in 0..<commits {
      let zoneName = generator.random.below(2) == 0 ? "photos" : "old"
      let names = (0...generator.random.below(8)).map { _ in "row\(generator.random.below(120))" }
      if generator.random.below(5) == 0 {
        try cluster.delete(Array(Set(names)).sorted(), from: zone(zoneName))
        for name in names { naive.delete(name, in: zoneName) }
        continue
      }
      let records = Array(Set(names)).sorted().map { (name: $0, fields: generator.record()) }
      try cluster.save(records, type: naive.type, to: zone(zoneName))
      for record in records { naive.save(record.name, in: zoneName, record.fields) }
    }
  }

  private static func expectSame(_ cluster: Cluster, _ naive: Naive, _ query: Query, _ note: String = "") throws {
    let found = try cluster.findAll(query).map { "\($0.zone)/\($0.name)" }
    let right = naive.find(query).map { "\($0.zone)/\($0.name)" }
    #expect(found == right, "\(note) \(query.predicate.terms) \(query.sort) limit \(query.limit)")
  }

  @Test("CK-80 random records, predicates and orders: as a full scan says, each record on one page", arguments: 1...2)
  func agreesWithScan(seed: Int) throws {
    let (cluster, _, type) = try Self.started(seed: UInt64(seed))
    var naive = Naive(type: type)
    let generator = Generator(random: SeededRandom(seed: UInt64(seed)), type: type)
    for round in 0..<4 {
      try Self.fill(cluster, &naive, generator, commits: 30)
      try cluster.settle()
      for _ in 0..<20 { try Self.expectSame(cluster, naive, generator.query(), "seed \(seed) round \(round)") }
    }
    #expect(naive.records.count > 50)
  }

  @Test(
    "CK-10, CK-80: a query covers every shard of a default zone, and the database's other zones, as a full scan does",
    arguments: 1...2)
  func shards(seed: Int) throws {
    let cluster = try Cluster(seed: UInt64(seed))
    let settings = CaravanModel.ContainerSettings(privateShards: 4)
    _ = try cluster.simulation.run {
      try await cluster.schema.settings(of: album.container, in: .development, saying: settings)
    }
    _ = try cluster.startQuery()
    let type = try cluster.define(photos)
    let parts = (0..<4 as Range<UInt32>).map { album.shard($0) }
    for part in parts { try cluster.waitUntilServed(part) }
    var naive = Naive(type: type)
    let generator = Generator(random: SeededRandom(seed: UInt64(seed)), type: type)
    for index in 0..<150 {
      let (name, fields) = ("row\(index)", generator.record())
      let part = parts[Int(DefaultZone.shard(of: name, among: 4))]
      let home = index % 4 == 0 ? try zone("photos") : try zone(DefaultZone.name, in: part)
      try cluster.save([(name: name, fields: fields)], type: type, to: home)
      naive.save(name, in: home.name, fields)
    }
    for part in parts { try cluster.settle(part) }
    for _ in 0..<60 { try Self.expectSame(cluster, naive, generator.query(), "seed \(seed)") }
    #expect(Set(naive.records.values.map(\.zone)).count == 2)
    let reply = try cluster.find(query(limit: 5))
    #expect(reply.hits.allSatisfy { $0.position.isEmpty }, "nobody sees how they were put together")
  }

  @Test("CK-29, CK-31: by id a record is there with its commit; a query follows, and says how far it has come")
  func classes() throws {
    let (cluster, _, type) = try Self.started()
    let home = try zone("photos")
    try cluster.save([("r1", RecordFields([1: .text("one")]))], type: type, to: home)
    try cluster.settle()
    // The index hears nothing for a while.
    cluster.faults.set { $0.lost = { $0.subject.hasPrefix("changes.") } }
    try cluster.save([("r1", RecordFields([1: .text("two")]))], type: type, to: home)
    let (fetched, head) = try cluster.simulation.run {
      (
        try await cluster.storage.fetch(["r1"], from: home).first,
        try await cluster.storage.log(of: Partition(of: album), after: 0, atMost: 1).head
      )
    }
    #expect(try RecordFields(body: #require(fetched).body)[1] == .text("two"), "by id: at once")
    let early = try cluster.find(query([.compare(field: "name", .equal, .text("one"))]))
    let lag = head - (early.position ?? 0)
    #expect((lag > 0) == (early.hits.count == 1), "an answer that is behind says by how many commits")
    cluster.faults.set { $0 = Faults.Rules() }
    try cluster.settle()
    let late = try cluster.find(query([.compare(field: "name", .equal, .text("two"))]))
    #expect(late.hits.count == 1 && late.position == head)
  }

  @Test("answers carry the record as it was saved, its zone, type and the log's position") func answer() throws {
    let (cluster, _, type) = try Self.started()
    let fields = RecordFields([1: .text("beach"), 2: .integer(7), 99: .text("of a newer client")])
    try cluster.save([("r1", fields)], type: type, to: zone("photos"))
    try cluster.settle()
    let reply = try cluster.find(query([.compare(field: "name", .prefix, .text("bea"))]))
    #expect(reply.hits.map(\.zone) == ["photos"])
    let entry = try #require(reply.hits.first?.entry)
    #expect(entry.name == "r1")
    #expect(entry.version == 1)
    #expect(entry.writer == "@test")
    #expect(entry.body == fields.body)
    #expect(try reply.type?.model() == type)
    #expect(reply.cursor.isEmpty)
    #expect(reply.position == 1)
  }

  @Test("a page ends before it grows too large, and the rest follows") func largeRecords() throws {
    let (cluster, _, type) = try Self.started()
    for number in 0..<5 {
      let fields = RecordFields([1: .text("n\(number)"), 5: .data(Array(repeating: 1, count: 400_000))])
      try cluster.save([("r\(number)", fields)], type: type, to: zone("photos"))
    }
    try cluster.settle()
    let first = try cluster.find(query(sort: [SortKey("name")]))
    #expect(first.hits.count == 2)
    #expect(try cluster.findAll(query(sort: [SortKey("name")])).map(\.name) == (0..<5).map { "r\($0)" })
  }

  @Test("lost and repeated hints change no answer") func faultyEvents() throws {
    let (cluster, _, type) = try Self.started(seed: 9)
    var naive = Naive(type: type)
    let generator = Generator(random: SeededRandom(seed: 9), type: type)
    cluster.faults.set { rules in
      rules.lost = { $0.subject.hasPrefix("changes.") && $0.bytes % 3 == 0 }
      rules.doubled = { $0.subject.hasPrefix("changes.") && $0.bytes % 3 == 1 }
    }
    for _ in 0..<5 {
      try Self.fill(cluster, &naive, generator, commits: 15)
      try cluster.settle()
      for _ in 0..<20 { try Self.expectSame(cluster, naive, generator.query()) }
    }
  }

  @Test("a commit whose hint was lost is found once a later one, to another zone, was heard") func gap() throws {
    let (cluster, _, type) = try Self.started()
    cluster.faults.set { $0.lost = { $0.subject.hasPrefix("changes.") } }
    try cluster.save([("lost", RecordFields())], type: type, to: zone("a"))
    cluster.faults.set { $0.lost = { _ in false } }
    try cluster.save([("heard", RecordFields())], type: type, to: zone("b"))
    try cluster.settle()
    #expect(try cluster.findAll(query()).map(\.name) == ["lost", "heard"])
  }

  @Test("commits that come close together are indexed together, soon; a query sees those that still wait")
  func groups() throws {
    let (cluster, service, type) = try Self.started()
    for number in 0..<40 {
      let place = try zone(number % 2 == 0 ? "a" : "b")
      try cluster.save([("r\(number % 10)", RecordFields([1: .text("\(number)")]))], type: type, to: place)
    }
    // They have been heard of, and nobody waits so long.
    try cluster.simulation.run(for: .milliseconds(1))
    let latest = (30..<40).map { "\($0)" }.sorted()
    let found = try cluster.findAll(query(sort: [SortKey("name")]))
    #expect(try found.map { try RecordFields(body: $0.body)[1] } == latest.map { .text($0) })
    #expect(service.count("caravan_query_changes_total") == 40)
    try cluster.save([("last", RecordFields())], type: type, to: zone("a"))
    try cluster.delete(["r0", "r2"], from: zone("a"))
    try cluster.simulation.run(within: .seconds(20)) { service.count("caravan_query_changes_total") == 42 }
    #expect(service.count("caravan_query_groups_total") < 10)
    #expect(try cluster.findAll(query()).count == 9)
  }

  @Test("a zone deleted and made anew: nothing of its old life is found") func zoneDeleted() throws {
    let (cluster, _, type) = try Self.started()
    try cluster.save(
      [("old", RecordFields([1: .text("x")])), ("both", RecordFields())], type: type, to: zone("photos"))
    try cluster.save([("other", RecordFields())], type: type, to: zone("kept"))
    try cluster.settle()
    try cluster.drop(zone("photos"))
    try cluster.settle()
    #expect(try cluster.findAll(query()).map(\.name) == ["other"])
    try cluster.save([("both", RecordFields([1: .text("new")]))], type: type, to: zone("photos"))
    try cluster.settle()
    #expect(try cluster.findAll(query()).map(\.name) == ["other", "both"])
  }

  @Test("UNI-14 a type that grew: old records have null in the new field, cursors and cached types go on")
  func typeGrows() throws {
    let (cluster, _, type) = try Self.started()
    try cluster.save([("a", RecordFields([1: .text("x")]))], type: type, to: zone("photos"))
    try cluster.settle()
    #expect(throws: CaravanError.self) { try cluster.find(query([.compare(field: "stars", .equal, .integer(5))])) }
    var larger = photos
    larger.fields.append(FieldDefinition(id: 0, name: "stars", kind: .integer))
    let grown = try cluster.define(larger)
    #expect(grown.definition == type.definition)
    let stars = try #require(grown.field(named: "stars"))
    #expect(try cluster.findAll(query([.compare(field: "stars", .equal, .null)])).map(\.name) == ["a"])
    try cluster.save([("b", RecordFields([1: .text("x"), stars.id: .integer(5)]))], type: grown, to: zone("photos"))
    try cluster.settle()
    #expect(try cluster.findAll(query([.compare(field: "stars", .equal, .integer(5))])).map(\.name) == ["b"])
    #expect(try cluster.findAll(query([.compare(field: "name", .equal, .text("x"))])).map(\.name) == ["a", "b"])
  }

  @Test("a record that changes its type is found under the new one only") func typeChanges() throws {
    let (cluster, _, type) = try Self.started()
    let notes = try cluster.define(
      RecordType(id: 0, definition: 0, name: "notes", fields: [FieldDefinition(id: 0, name: "text", kind: .text)]))
    try cluster.save([("r", RecordFields())], type: type, to: zone("mixed"))
    try cluster.save([("r", RecordFields())], type: notes, to: zone("mixed"))
    try cluster.settle()
    #expect(try cluster.findAll(query()).isEmpty)
    #expect(try cluster.findAll(Query(database: album, type: "notes")).map(\.name) == ["r"])
  }

  @Test("only databases that were asked about are indexed: from the first question on, and all they had")
  func demand() throws {
    let cluster = try Cluster()
    let first = try cluster.startQuery()
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    let bobs = try (0..<10_000).lazy.map {
      try DatabaseID(container: album.container, environment: .development, owner: UserID("bob\($0)"))
    }
    .first { Partition(of: $0) == Partition(of: album) }
    let places = [album, try #require(bobs)]
    func save(_ name: String) throws {
      for place in places { try cluster.save([(name, RecordFields())], type: type, to: zone("photos", in: place)) }
    }
    try save("a")
    try cluster.simulation.run(for: .seconds(5))
    #expect(first.count("caravan_query_changes_total") == 0, "nobody has asked")
    #expect(try cluster.findAll(query()).map(\.name) == ["a"])
    try save("b")
    try cluster.settle()
    #expect(try cluster.findAll(query()).map(\.name) == ["a", "b"])
    #expect(first.count("caravan_query_rows_indexed_total") == 2, "only what is asked about")
    first.service.shutDown()
    try cluster.simulation.run(within: .seconds(5)) { first.task.result != nil }
    try save("c")
    let second = try cluster.startQuery()
    try cluster.waitUntilServed()
    #expect(try cluster.findAll(query()).map(\.name) == ["a", "b", "c"])
    #expect(second.count("caravan_query_rows_indexed_total") == 1, "what was asked about once is still kept")
    #expect(try cluster.findAll(Query(database: places[1], type: "photos")).map(\.name) == ["a", "b", "c"])
  }

  @Test("a database that nobody asked about for 30 days leaves the index, and comes back with the next question")
  func unasked() throws {
    let (cluster, instance, type) = try Self.started()
    func indexed(_ name: String) throws -> UInt64 {
      let before = instance.count("caravan_query_rows_indexed_total")
      try cluster.save([(name, RecordFields())], type: type, to: zone("photos"))
      try cluster.simulation.run(for: .seconds(5))
      return instance.count("caravan_query_rows_indexed_total") - before
    }
    #expect(try indexed("a") == 1)
    #expect(try cluster.findAll(query()).map(\.name) == ["a"])
    instance.machine.adjustWallTime(by: .seconds(29 * 86_400))
    #expect(try indexed("b") == 1)
    #expect(try cluster.findAll(query()).map(\.name) == ["a", "b"], "which counts as asked about")
    instance.machine.adjustWallTime(by: .seconds(29 * 86_400))
    #expect(try indexed("c") == 1)
    instance.machine.adjustWallTime(by: .seconds(86_400))
    #expect(try indexed("d") == 0)
    #expect(try indexed("e") == 0)
    #expect(try cluster.findAll(query()).map(\.name) == ["a", "b", "c", "d", "e"])
    #expect(try indexed("f") == 1)
  }

  @Test("what nobody asked about for 30 days is not taken up again after a restart", arguments: [29, 30])
  func unaskedAtStart(days: Int) throws {
    let (cluster, first, type) = try Self.started()
    try cluster.save([("a", RecordFields())], type: type, to: zone("photos"))
    try cluster.settle()
    #expect(try cluster.findAll(query()).map(\.name) == ["a"])
    first.service.shutDown()
    try cluster.simulation.run(within: .seconds(5)) { first.task.result != nil }
    try cluster.save([("b", RecordFields())], type: type, to: zone("photos"))
    let second = try cluster.startQuery(wallTimeLater: .seconds(days * 86_400))
    try cluster.waitUntilServed()
    #expect(second.count("caravan_query_rows_indexed_total") == (days < 30 ? 1 : 0))
    #expect(try cluster.findAll(query()).map(\.name) == ["a", "b"])
  }

  @Test("another user's records are in no answer") func otherDatabases() throws {
    let (cluster, _, type) = try Self.started()
    let bobs = DatabaseID(container: album.container, environment: .development, owner: UserID(unchecked: "bob"))
    try cluster.save([("b", RecordFields())], type: type, to: zone("photos", in: bobs))
    try cluster.save([("a", RecordFields())], type: type, to: zone("photos"))
    try cluster.settle()
    #expect(try cluster.findAll(query()).map(\.name) == ["a"])
  }

  @Test(
    "stopped, the cluster goes on, started again: the index catches up; deleted, it is built again",
    arguments: [false, true])
  func restart(withoutIndex: Bool) throws {
    let (cluster, first, type) = try Self.started(seed: 4)
    var naive = Naive(type: type)
    let generator = Generator(random: SeededRandom(seed: 4), type: type)
    try Self.fill(cluster, &naive, generator, commits: 20)
    try cluster.settle()
    first.service.shutDown()
    try cluster.simulation.run(within: .seconds(5)) { first.task.result != nil }
    try Self.fill(cluster, &naive, generator, commits: 20)
    if withoutIndex { try cluster.removeIndex() }
    let second = try cluster.startQuery()
    try cluster.waitUntilServed()
    try cluster.settle()
    #expect((second.count("caravan_query_rebuilds_total") > 0) == withoutIndex)
    for _ in 0..<40 { try Self.expectSame(cluster, naive, generator.query()) }
  }

  @Test("two instances: each partition is answered by one, and by the other when that stops") func twoInstances() throws
  {
    let cluster = try Cluster(seed: 6)
    let (one, two) = (try cluster.startQuery("one"), try cluster.startQuery("two"))
    let type = try cluster.define(photos)
    try cluster.simulation.run(within: .seconds(20)) {
      one.service.partitions.count == 32 && two.service.partitions.count == 32
    }
    try cluster.waitUntilServed()
    try cluster.save([("a", RecordFields())], type: type, to: zone("photos"))
    try cluster.settle()
    let owner = one.service.partitions.contains(Partition(of: album)) ? one : two
    owner.service.shutDown()
    try cluster.simulation.run(within: .seconds(5)) { owner.task.result != nil }
    try cluster.waitUntilServed()
    #expect(try cluster.findAll(query()).map(\.name) == ["a"])
  }

  @Test("what is wrong with a request is said") func refusals() throws {
    let (cluster, _, _) = try Self.started()
    func code(_ query: Query) -> ErrorCode? {
      (#expect(throws: CaravanError.self) { try cluster.find(query) })?.code
    }
    #expect(code(Query(database: album, type: "nothing")) == .tableNotFound)
    #expect(code(query([.compare(field: "date", .equal, .text("x"))])) == .schemaViolation)
    #expect(code(query(cursor: [1, 2])) == .invalidData)
    try cluster.simulation.run {
      let home = Subject.partitioned(.query, Partition(of: album), method: "find")
      let error = await #expect(throws: CaravanError.self) {
        try await cluster.bus.request(Message([0xff, 0x01]), to: home, deadline: .seconds(1))
      }
      #expect(error?.code == .invalidData)
      let foreign = QueryRequest(Query(database: DatabaseID.system(nil), type: "photos"))
      await #expect(throws: CaravanError.self) { let _: QueryReply = try await cluster.bus.call(foreign, to: home) }
    }
    #expect(try cluster.findAll(query()).isEmpty)
  }
}
