import CaravanBus
import CaravanModel
import CaravanSchemaClient
import CaravanSchemaDriver
import CaravanWire
import Testing

/// The registry over a real store.
@Suite(.timeLimit(.minutes(2))) struct SchemaServiceTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text), ("date", .integer)]

  private func refusal(_ body: () async throws -> Void) async throws -> CaravanError? {
    do { try await body() } catch let error as CaravanError { return error }
    return nil
  }

  private func type(_ fields: [(String, CaravanModel.FieldKind)], _ name: String = "photos") -> CaravanModel.RecordType
  {
    CaravanModel.RecordType(
      id: 0, definition: 0, name: name,
      fields: fields.map { CaravanModel.FieldDefinition(id: 0, name: $0.0, kind: $0.1) })
  }

  @Test("UNI-14, CK-90: proposing is idempotent, additive changes keep the definition, others are refused by field")
  func lifecycle() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let first = try await a.agree(Self.fields)
      #expect(first == type(Self.fields).numbered(id: 1, definition: 1))
      #expect(try await a.agree(Self.fields.reversed()) == first)
      let second = try await a.agree([("photo", .object)] + Self.fields)
      #expect(second == type(Self.fields + [("photo", .object)]).numbered(id: 2, definition: 1))
      #expect(try await a.agree(Self.fields) == first, "an app that was not updated finds its version")
      #expect(try await a.agree(Self.fields, on: "other").id == 3)
      #expect(try await a.agree(Self.fields, in: "notes").id == 1, "another container numbers its own")
      let changed = try await a.refusal(.propose(.type([("name", .text), ("date", .real), ("photo", .object)])))
      #expect(changed?.code == .schemaNotAdditive && changed?.message.contains("'date'") == true)
      // Rows of both versions are checked against their own.
      #expect(try await a.push(1, [.save("old", [1: .text("x")], type: first)]).versions == [1])
      #expect(try await a.push(2, [.save("new", [3: .asset(AssetManifest(parts: []))], type: second)]).versions == [2])
      let wrong = try await a.refusal(.push(.of(3, [.save("r", [3: .text("x")], type: second)])))
      #expect(wrong?.code == .schemaViolation)
    }
  }

  @Test("UNI-18: a registry that was restored numbers apart from what it may have given since the backup")
  func restored() async throws {
    try await CloudCluster.with(isRestored: true) { cloud in
      let a = try cloud.device("a")
      let first = try await a.agree(Self.fields)
      let second = try await a.agree([("photo", .object)] + Self.fields)
      #expect(second.definition == first.id && second.id != first.id)
      #expect(min(first.id, second.id) > 10_000)
      #expect(first.fields.allSatisfy { $0.id > 1_000 } && second.fields.prefix(2) == first.fields[...])
      #expect(try await a.agree(Self.fields) == first)
      #expect(try await a.push(1, [.save("r", [second.fields[0].id: .text("x")], type: second)]).versions.count == 1)
      var lost = second
      lost.id = 1
      let refused = try await a.refusal(.push(.of(2, [.save("r", [1: .text("x")], type: lost)])))
      #expect(refused?.code == .tableNotFound)
    }
  }

  @Test("Types are found by id and by name, listed by name, and absent ones say so")
  func lookUps() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let photos = try await a.agree(Self.fields)
      let newer = try await a.agree(Self.fields + [("photo", .object)])
      let notes = try await a.agree([("text", .text)], on: "notes")
      let (client, album) = (SchemaClient(bus: cloud.hub.connect(as: "client")), try ContainerID("album"))
      #expect(try await client.type(photos.id, of: album, in: .development) == photos)
      #expect(try await client.type(named: "photos", of: album, in: .development) == newer)
      #expect(try await client.types(of: album, in: .development) == [notes, newer])
      #expect(try await client.types(of: ContainerID("nobody"), in: .development) == [])
      for id in [0, 77] as [UInt32] {
        let error = try await refusal { _ = try await client.type(id, of: album, in: .development) }
        #expect(error?.code == (id == 0 ? .schemaViolation : .tableNotFound))
      }
      let absent = try await refusal { _ = try await client.type(named: "nothing", of: album, in: .development) }
      #expect(absent?.code == .tableNotFound)
      let production = try await refusal { _ = try await client.type(photos.id, of: album, in: .production) }
      #expect(production?.code == .tableNotFound)
      cloud.hub.disconnect("schema")
      #expect(try await client.type(photos.id, of: album, in: .development) == photos, "a definition is kept for ever")
    }
  }

  @Test("CK-93: production refuses proposals")
  func production() async throws {
    try await CloudCluster.with(environment: .production) { cloud in
      let refusal = try await cloud.device("a").refusal(.propose(.type(Self.fields)))
      #expect(refusal?.code == .schemaViolation && refusal?.message.contains("production") == true)
    }
  }

  @Test("CK-96: who proposes at the same time through two instances agrees on one type, or on an order of several")
  func races() async throws {
    try await CloudCluster.with { cloud in
      let second = try SchemaService(bus: cloud.hub.connect(as: "schema"), host: cloud.host, opensContainers: true)
      try await withThrowingTaskGroup(of: Void.self) { services in
        services.addTask { try await second.run() }
        let same = try await withThrowingTaskGroup(of: CaravanModel.RecordType.self) { group in
          for number in 0..<8 {
            let device = try cloud.device("d\(number)")
            group.addTask { try await device.agree(Self.fields) }
          }
          return try await group.reduce(into: [CaravanModel.RecordType]()) { $0.append($1) }
        }
        #expect(Set(same).count == 1)
        let others = try await withThrowingTaskGroup(of: UInt32.self) { group in
          for number in 0..<4 {
            let device = try cloud.device("e\(number)")
            group.addTask { try await device.agree(Self.fields, on: "table\(number)").id }
          }
          return try await group.reduce(into: [UInt32]()) { $0.append($1) }
        }
        #expect(others.sorted() == [2, 3, 4, 5], "ids count on without holes or doubles")
        second.shutDown()
        try await services.waitForAll()
      }
    }
  }

  @Test("Garbage and impossible names on the registry's subjects are refused, and it lives on")
  func garbage() async throws {
    try await CloudCluster.with { cloud in
      let bus = cloud.hub.connect(as: "client")
      for method in SchemaMethod.allCases {
        let error = try await refusal {
          _ = try await bus.request(Message([0xff, 0xff]), to: method.subject, deadline: .seconds(10))
        }
        #expect(error?.code == .invalidData, "\(method)")
      }
      let request = TypeRequest(container: "album", environment: "moon", id: 1)
      let error = try await refusal { let _: TypeReply = try await bus.call(request, to: SchemaMethod.type.subject) }
      #expect(error?.code == .invalidData && error?.message.contains("moon") == true)
      #expect(try await cloud.device("a").agree(Self.fields).id == 1)
    }
  }
}

extension CaravanModel.RecordType {
  fileprivate func numbered(id: UInt32, definition: UInt32) -> CaravanModel.RecordType {
    var type = self
    (type.id, type.definition) = (id, definition)
    for index in type.fields.indices { type.fields[index].id = UInt32(index + 1) }
    return type
  }
}
