import CaravanBus
import CaravanModel
import CaravanQueryCore
import CaravanRuntime
import CaravanSchemaClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a query answers by the record type as it is now, whatever was written before. Method: the service on a
/// simulated bus with real storage and schema.
@Suite(.timeLimit(.minutes(2))) struct ChangedTypeTests {
  private static func started() throws -> (Cluster, CaravanModel.RecordType) {
    let cluster = try Cluster(seed: 1)
    _ = try cluster.startQuery()
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    _ = try cluster.find(query())
    return (cluster, type)
  }

  private static func change(_ change: ChangeSchemaRequest.Change, in cluster: Cluster) throws {
    let request = ChangeSchemaRequest(
      container: album.container.text, environment: album.environment.rawValue, byOperator: true, change: change)
    _ = try cluster.simulation.run { try await cluster.schema.perform(SchemaCall(call: .change(request))) }
  }

  /// What the service knew of the type before is over.
  private static func wait(_ cluster: Cluster) throws {
    try cluster.simulation.run {
      try await cluster.simulation.host("test").host.clock.sleep(
        for: .milliseconds(QueryLimits.latestTypeMilliseconds + 1_000))
    }
  }

  private static func refusal(_ cluster: Cluster, _ query: Query) -> CaravanError? {
    do { _ = try cluster.find(query) } catch { return error as? CaravanError }
    return nil
  }

  @Test(
    "CK-91, CK-95: an old record is found by the fields that are left, and a field of a removed one's name is empty")
  func removedField() throws {
    let (cluster, type) = try Self.started()
    let old = RecordFields([1: .text("beach"), 2: .integer(7)])
    try cluster.save([("r1", old)], type: type, to: zone("photos"))
    try cluster.settle()
    let removed = type.fields[1].name
    let seven = [Predicate.Term.compare(field: removed, .equal, .integer(7))]
    #expect(try cluster.find(query(seven)).hits.count == 1)
    try Self.change(.remove(RemoveType(type: type.name, field: removed)), in: cluster)
    try Self.wait(cluster)
    #expect(Self.refusal(cluster, query(seven))?.code == .schemaViolation)
    let again = try cluster.define(photos)
    let field = try #require(again.field(named: removed))
    #expect(field.id > type.fields.map(\.id).max() ?? 0)
    try Self.wait(cluster)
    #expect(try cluster.find(query(seven)).hits.isEmpty, "its name was used again")
    try cluster.save(
      [("r2", RecordFields([1: .text("beach"), field.id: .integer(7)]))], type: again, to: zone("photos"))
    try cluster.settle()
    #expect(try cluster.find(query(seven)).hits.map { $0.entry?.name } == ["r2"])
    let both = try cluster.find(query([.compare(field: "name", .equal, .text("beach"))]))
    #expect(both.hits.count == 2)
    for hit in both.hits {
      let fields = try RecordFields(body: hit.entry?.body ?? [])
      #expect(fields[field.id] == (hit.entry?.name == "r2" ? .integer(7) : .null))
    }
  }

  @Test("CK-90: records of a type that was removed are not found, also once there is another one of its name")
  func removedType() throws {
    let (cluster, type) = try Self.started()
    try cluster.save([("r1", RecordFields([1: .text("beach")]))], type: type, to: zone("photos"))
    try cluster.settle()
    try Self.change(.remove(RemoveType(type: type.name)), in: cluster)
    try Self.wait(cluster)
    #expect(Self.refusal(cluster, query())?.code == .tableNotFound)
    let again = try cluster.define(photos)
    try Self.wait(cluster)
    #expect(try cluster.find(query()).hits.isEmpty)
    try cluster.save([("r2", RecordFields([again.fields[0].id: .text("x")]))], type: again, to: zone("photos"))
    try cluster.settle()
    #expect(try cluster.find(query()).hits.map { $0.entry?.name } == ["r2"])
  }

  @Test("CK-91: what a field's indexes do not have, no query does with it; the answer says who decides that")
  func indexes() throws {
    let (cluster, type) = try Self.started()
    let indexes = IndexFields(
      type: type.name,
      fields: [CaravanWire.FieldDefinition(name: type.fields[1].name, indexes: UInt32(FieldIndexes.queryable.rawValue))]
    )
    try Self.change(.index(indexes), in: cluster)
    try Self.wait(cluster)
    let name = type.fields[1].name
    #expect(try cluster.find(query([.compare(field: name, .equal, .integer(7))])).hits.isEmpty)
    let refused = Self.refusal(cluster, query(sort: [SortKey(name)]))
    #expect(refused?.code == .schemaViolation && refused?.message.contains("caravan schema index") == true)
  }
}
