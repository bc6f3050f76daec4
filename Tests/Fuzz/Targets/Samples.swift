import CaravanCompression
import CaravanModel
import CaravanWire

/// Well-formed values that the seeds are made of.
enum Samples {
  static let phone = EnrolledDevice(
    user: UserID(unchecked: "ann"), device: DeviceID(unchecked: "phone"), enrolment: 1, environment: .development)
  static let hash = ChunkHash([UInt8](repeating: 7, count: ChunkHash.byteCount))
  static let object = AssetManifest(parts: hash.map { [AssetManifest.Part(hash: $0, length: 100)] } ?? [])

  static let fields: [UInt32: Value] = [
    1: .text("snoopy"), 2: .integer(-5), 3: .real(0.5), 4: .data([0, 1, 2]), 5: .asset(object),
    6: (try? Location(latitude: 52.5, longitude: 13.4)).map { .location($0) } ?? .null,
    7: .reference(Reference(to: "other", .owning)), 8: .list([.text("a"), .text("b")]), 9: .integer(1_700_000_000_000),
  ]

  static let body = RecordFields(fields).body

  static let type = RecordType(
    id: 1, definition: 1, name: "t",
    fields: [
      FieldDefinition(id: 1, name: "name", kind: .text), FieldDefinition(id: 2, name: "n", kind: .integer),
      FieldDefinition(id: 3, name: "r", kind: .real), FieldDefinition(id: 4, name: "d", kind: .data),
      FieldDefinition(id: 5, name: "photo", kind: .object), FieldDefinition(id: 6, name: "place", kind: .location),
      FieldDefinition(id: 7, name: "other", kind: .reference),
      FieldDefinition(id: 8, name: "list", kind: .text, isList: true),
      FieldDefinition(id: 9, name: "date", kind: .date),
    ])

  static let database = DatabaseID(
    container: ContainerID(unchecked: "app"), environment: .development, owner: UserID(unchecked: "ann"))

  static let mutations: [CaravanModel.Mutation] = [
    CaravanModel.Mutation(
      name: "a", base: .absent, change: .save(type: 1, body: body, chunks: RecordFields(fields).chunks)),
    CaravanModel.Mutation(name: "b", base: .version(7), change: .delete),
    CaravanModel.Mutation(name: "c", base: .any, change: .read),
    CaravanModel.Mutation(
      name: "d", base: .version(9), change: .save(type: 1, body: body, chunks: []),
      terms: WriteTerms(
        scope: .changed, guards: body, references: [Reference(to: "other", .owning)], expiry: .after(5_000),
        hidesExpired: true, policy: .fieldMerge, stamp: HybridStamp(milliseconds: 5),
        fieldStamps: [2: .init(rawValue: 9)]
      )),
  ]

  static let entry = CaravanModel.Entry(
    name: "a", version: 9, created: 3, type: 1, body: body, writer: "phone", expires: 5, fields: [8, 1])

  static let exchange = Exchange(
    epoch: 3,
    operations: [
      .hello(Hello(software: "test", generation: 2, tokens: [[1, 2, 3]])),
      .propose(ProposeTable(container: "app", type: CaravanWire.RecordType(type))),
      .push(
        Push(
          container: "app", zone: "t", op: 4, opFloor: 2, mutations: mutations.map { CaravanWire.Mutation($0) },
          chunks: [Chunk(hash: [UInt8](repeating: 7, count: 32), data: [1, 2, 3])], atomic: true)),
      .settle(Settle(container: "app", zone: "t", op: 5)), .pull(Pull(container: "app", zone: "t", token: [1, 2])),
      .subscribe(
        Subscribe(
          generation: 5, subscriptions: [ZoneSubscription(container: "app", zone: "t", periodMilliseconds: 50)])),
      .ack(AckNotification(number: 7)), .ticket(RequestTicket(container: "app", upload: true, bytes: 50)),
      .drop(DropTable(container: "app", zone: "t")),
      .read(ReadRecords(container: "app", zone: "t", names: ["a", "b"], fields: [1, 2])),
      .zones(ListZones(container: "app")),
    ].map { CaravanWire.Operation(kind: $0) })

  static func compressed(_ bytes: [UInt8]) -> [UInt8] {
    guard var compressor = try? Compressor(), let packed = try? compressor.compress(bytes) else { return [] }
    return packed
  }
}
