import CaravanBus
import CaravanModel
import CaravanPostgreSQL
import CaravanQuery
import CaravanQueryCore
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanQueryDriver

/// Goal: an index that instances share is gone on with by whoever takes a partition over, is written by one of them,
/// and outlives the loss of its server. Method: the service on a simulated bus, and the index by itself, on a real
/// PostgreSQL.
@Suite(.timeLimit(.minutes(2))) struct PostgresIndexTests {
  private static func fields(_ number: Int64) -> RecordFields {
    RecordFields([1: .text("snow on the fjord"), 2: .integer(number), 8: .list([.text("winter")])])
  }

  private static func stop(_ instance: Cluster.Instance, _ cluster: Cluster) throws {
    instance.service.shutDown()
    try cluster.simulation.run(within: .seconds(5)) { instance.task.result != nil }
  }

  @Test("CK-82: who takes a partition over reads nothing again, and tells what happened meanwhile, no more and no less")
  func warm() throws {
    let cluster = try Cluster(seed: 3, .postgres)
    let first = try cluster.startQuery("first")
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    try cluster.subscribe(.records("five", "date = 5"))
    try cluster.save((1...60).map { ("r\(100 + $0)", Self.fields(Int64($0))) }, type: type, to: zone("photos"))
    #expect(try cluster.log(atLeast: 1).map(\.record) == ["r105"])
    let terms: [Predicate.Term] = [
      .compare(field: "date", .less, .integer(10)), .compare(field: "name", .matchAll, .text("\"on the\"")),
      .compare(field: "tags", .containsAny, .list([.text("winter")])), .all(3),
    ]
    #expect(try cluster.findAll(query(terms)).count == 9)
    try Self.stop(first, cluster)
    try cluster.save([("r105", Self.fields(50)), ("r150", Self.fields(5))], type: type, to: zone("photos"))
    let second = try cluster.startQuery("second")
    let told = try cluster.log(atLeast: 3)
    #expect(told.map(\.reason) == [.enters, .leaves, .enters] && told.map(\.record) == ["r105", "r105", "r150"])
    #expect(told.map(\.number) == [1, 2, 3])
    #expect(try cluster.findAll(query(terms)).count == 9)
    #expect(second.count("caravan_query_rebuilds_total") == 0)
    #expect(second.count("caravan_query_rows_indexed_total") == 2, "it has read more than what was saved meanwhile")
    #expect(second.count("caravan_query_index_steps_total") == 0)
    // The first one comes back: it knows nothing of its own that would be in the way.
    try Self.stop(second, cluster)
    try cluster.save([("r150", Self.fields(6))], type: type, to: zone("photos"))
    _ = try cluster.startQuery("first")
    #expect(try cluster.log(atLeast: 4).map(\.reason).last == .leaves)
  }

  /// Of one partition, written by who has its lease.
  private static func update(_ name: String, _ number: Int64, seq: Seq) throws -> IndexUpdate {
    var update = IndexUpdate(
      zone: try zone("photos"), progress: ZoneProgress(incarnation: 1, seq: seq), at: WallTime(milliseconds: 1))
    let entry = CaravanModel.Entry(
      name: name, version: seq, created: seq, type: photos.id, body: fields(number).body, writer: "@test",
      authorship: .unknown)
    update.rows = [IndexRow(entry, try BodyCells(entry.body), definition: photos.definition)]
    return update
  }

  @Test("I4: who has lost the lease of a partition writes nothing to the index that others go on with")
  func fenced() throws {
    let simulation = Simulation(seed: 1)
    defer { simulation.end() }
    let host = simulation.host("query").host
    let room = try IndexRoom(.postgres)
    let partition = Partition(of: album)
    let place = try room.place
    try simulation.run {
      let (a, b) = (try IndexWriter(place, host: host), try IndexWriter(place, host: host))
      try await a.begin(partition, under: 1)
      try await a.apply([Self.update("x", 1, seq: 1)], in: partition, cursor: 1)
      try await b.begin(partition, under: 2)
      let stale = try Self.update("y", 2, seq: 2)
      await #expect(throws: CaravanError.self) { try await a.apply([stale], in: partition, cursor: 2) }
      #expect(try await b.cursor(of: partition) == 1)
      try await b.apply([stale], in: partition, cursor: 2)
      let key = TableKey(database: album, definition: photos.definition)
      let needs = [IndexNeed(2, .integer, .key)]
      #expect(try await b.prepare(key, needs, at: host.clock.wallTime)?.isReady == true)
      // It comes back, and uses the indexes that the other one has made.
      try await a.begin(partition, under: 3)
      #expect(try await a.prepare(key, needs, at: host.clock.wallTime)?.indexes.slots == [2: 1])
      try await a.apply([Self.update("z", 3, seq: 3)], in: partition, cursor: 3)
      let neverServed = Partition(of: try Self.database("somebody"))
      await #expect(throws: CaravanError.self) { try await a.apply([], in: neverServed, cursor: 3) }
      await a.close()
      await b.close()
    }
  }

  private static func database(_ user: String) throws -> DatabaseID {
    DatabaseID(container: album.container, environment: .development, owner: try UserID(user))
  }

  @Test("FLT: an index whose server was killed says that it cannot be reached, and answers when it is back")
  func killed() throws {
    let server = try PostgresServer(durable: false)
    let place = PostgresIndex(try ConnectionString(server.address()))
    let simulation = Simulation(seed: 2)
    defer { simulation.end() }
    let host = simulation.host("query").host
    let partition = Partition(of: album)
    try simulation.run {
      let writer = try IndexWriter(place, host: host)
      let reader = try IndexReader(place, steps: 1_000_000, host: host)
      try await writer.begin(partition, under: 1)
      try await writer.apply([Self.update("x", 1, seq: 1)], in: partition, cursor: 1)
      #expect(try await reader.position(of: partition) == 1)
      server.kill()
      for _ in 0..<3 {
        let error = await #expect(throws: CaravanError.self) {
          try await writer.apply([Self.update("y", 2, seq: 2)], in: partition, cursor: 2)
        }
        #expect(error?.code == .unavailable && error?.message.contains("127.0.0.1") == false)
        await #expect(throws: CaravanError.self) { try await reader.position(of: partition) }
      }
      try server.start()
      // What the crash has taken is to be seen before it goes on.
      await writer.waitUntilLost(partition)
      try await host.clock.sleep(for: .seconds(1))
      try await writer.begin(partition, under: 1)
      try await writer.apply([Self.update("y", 2, seq: 2)], in: partition, cursor: 2)
      #expect(try await reader.position(of: partition) == 2)
      await writer.close()
      await reader.close()
    }
  }

  @Test("words beyond what a tsvector takes are found by looking at their record")
  func manyWords() throws {
    let cluster = try Cluster(seed: 4, .postgres)
    _ = try cluster.startQuery()
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    let long = String(repeating: "w", count: 3_000)
    let many = (0..<7_000).map { "word\($0)\(String(repeating: "x", count: 120))" }.joined(separator: " ")
    for (name, text) in [("long", "snow \(long)"), ("many", "snow \(many)"), ("few", "snow 'quoted' \\ x")] {
      try cluster.save([(name, RecordFields([1: .text(text)]))], type: type, to: zone("photos"))
    }
    func found(_ text: String) throws -> [String] {
      try cluster.findAll(query([.compare(field: "name", .matchAll, .text(text))])).map(\.name).sorted()
    }
    #expect(try found("snow") == ["few", "long", "many"])
    #expect(try found("quoted") == ["few"])
    #expect(try found("word17*") == ["many"])
    #expect(try found("\"snow quoted\"") == ["few"] && found("\"quoted snow\"") == [])
  }
}
