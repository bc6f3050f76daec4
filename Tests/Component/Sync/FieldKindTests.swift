import CaravanCrypto
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: values of every kind, alone and in lists, come from one device through sync and storage to another as they
/// were, and no others are taken; what only devices can read is bytes to everybody else (CK-07, CK-11). Method: devices
/// against sync, schema and a real store, with a field of each kind.
@Suite(.timeLimit(.minutes(2))) struct FieldKindTests {
  private typealias Sample = (kind: CaravanModel.FieldKind, values: [Value])

  private static let photo = [UInt8](repeating: 7, count: 3_000)
  private static let asset = Value.asset(
    AssetManifest(parts: [AssetManifest.Part(hash: Chunk(photo).name, length: UInt32(photo.count))]))

  private static func samples() throws -> [Sample] {
    let places = try [(90, -180), (-90, 180), (47.378177, 8.540192), (0, 0)].map { latitude, longitude in
      Value.location(try CaravanModel.Location(latitude: latitude, longitude: longitude))
    }
    return [
      (.text, [.text(""), .text("Zürich 🚋 東京"), .text(String(repeating: "é", count: 20_000))]),
      (.integer, [.integer(.min), .integer(.max), .integer(0), .integer(-1), .integer(1 << 53 + 1)]),
      (
        .real,
        [.real(0.1), .real(-0.0), .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude), .real(.infinity)]
      ),
      (.data, [.data([]), .data([0, 255, 0]), .data([UInt8](repeating: 0x80, count: 70_000))]),
      // Years 1, 1970 and 9999.
      (.date, [.integer(-62_135_596_800_000), .integer(0), .integer(253_402_300_799_999)]),
      (.location, places),
      (
        .reference,
        [.reference(CaravanModel.Reference(to: "nobody")), .reference(CaravanModel.Reference(to: "target", .owning))]
      ),
      (.object, [asset, .asset(AssetManifest(parts: []))]),
    ]
  }

  /// A field of each kind, one with lists of it, and one that is encrypted where there is such.
  private static func agree(_ device: Device) async throws -> CaravanModel.RecordType {
    var fields: [CaravanModel.FieldDefinition] = []
    for kind in CaravanModel.FieldKind.allCases {
      fields.append(CaravanModel.FieldDefinition(id: 0, name: "one_\(kind)", kind: kind))
      fields.append(CaravanModel.FieldDefinition(id: 0, name: "some_\(kind)", kind: kind, isList: true))
      if kind == .object { continue }
      fields.append(CaravanModel.FieldDefinition(id: 0, name: "secret_\(kind)", kind: kind, isEncrypted: true))
    }
    let type = CaravanModel.RecordType(id: 0, definition: 0, name: "photos", fields: fields)
    let result = try await device.ask(.propose(ProposeTable(container: "album", type: CaravanWire.RecordType(type))))
    guard case .type(let agreed) = result else { throw Unexpected(result: result) }
    return try agreed.model()
  }

  private static func id(_ name: String, _ type: CaravanModel.RecordType) throws -> UInt32 {
    try #require(type.field(named: name)).id
  }

  @Test("CK-07: every value of every kind, and lists of them, come to another device as they were; null is nothing")
  func roundTrip() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.agree(a)
      var records: [String: RecordFields] = ["target": RecordFields()]
      for (kind, values) in try Self.samples() {
        let (one, some) = (try Self.id("one_\(kind)", type), try Self.id("some_\(kind)", type))
        for (number, value) in values.enumerated() { records["\(kind)-\(number)"] = RecordFields([one: value]) }
        records["\(kind)-list"] = RecordFields([some: .list(values)])
        records["\(kind)-empty"] = RecordFields([some: .list([])])
        records["\(kind)-null"] = RecordFields([one: .null])
      }
      var all: [UInt32: Value] = [:]
      for (kind, values) in try Self.samples() {
        all[try Self.id("one_\(kind)", type)] = values[0]
        all[try Self.id("some_\(kind)", type)] = .list(values.reversed())
      }
      records["all"] = RecordFields(all)
      // What is referred to is there first.
      let names = ["target"] + records.keys.filter { $0 != "target" }.sorted()
      var push = Push.of(1, try names.map { .save($0, try #require(records[$0]).values, type: type) })
      push.chunks = [Chunk(Self.photo)]
      let result = try await a.ask(.push(push))
      guard case .commit(let reply) = result else { throw Unexpected(result: result) }
      #expect(try reply.model().versions.count == names.count)

      let pulled = try await b.pull().entries
      let read = try await b.read(names).entries
      #expect(pulled.count == names.count && read.count == names.count)
      for entry in pulled + read {
        let record = try #require(records[entry.name])
        #expect(entry.body == record.body, "\(entry.name)")
        let values = try RecordFields(body: entry.body).values
        #expect(values == record.values, "\(entry.name)")
      }
      let place = try Self.id("some_location", type)
      let part = try #require(try await b.read(["all"], fields: [place]).entries.first)
      #expect(try RecordFields(body: part.body).values == [place: try #require(all[place])], "one field of many")
    }
  }

  /// Kinds of values that a field takes beside its own, all others it refuses.
  private static func takes(_ kind: CaravanModel.FieldKind, _ other: CaravanModel.FieldKind) -> Bool {
    switch (kind, other) {
    case (.real, .integer), (.real, .date), (.integer, .date), (.date, .integer): true
    default: kind == other
    }
  }

  @Test("CK-07: a field takes values of its kind and no others, alone or in a list, as it was agreed")
  func strictness() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await Self.agree(a)
      var op: UInt64 = 0
      func refusal(_ name: String, _ value: Value) async throws -> CaravanError? {
        op += 1
        var push = Push.of(op, [.save("r\(op)", [try Self.id(name, type): value], type: type)])
        push.chunks = [Chunk(Self.photo)]
        return try await a.refusal(.push(push))
      }
      for kind in CaravanModel.FieldKind.allCases {
        for (other, values) in try Self.samples() {
          let fits = Self.takes(kind, other)
          let (one, list) = (values[0], Value.list([values[0]]))
          for (name, value, isRight) in [
            ("one_\(kind)", one, fits), ("some_\(kind)", list, fits), ("one_\(kind)", list, false),
            ("some_\(kind)", one, false),
          ] {
            let error = try await refusal(name, value)
            #expect((error == nil) == isRight, "\(name), \(value.kindName) of \(other): \(String(describing: error))")
            guard let error else { continue }
            #expect(error.code == .schemaViolation && error.message.contains(name), "\(error)")
          }
        }
      }
    }
  }

  /// Whoever has no key sees bytes.
  private static func crypt(_ text: String, key: String) -> [UInt8] {
    zip(text.utf8, SHA256.hash(Array(key.utf8)).bytes + SHA256.hash(Array("\(key)2".utf8)).bytes).map { $0 ^ $1 }
  }

  @Test("CK-11: encrypted values travel, lie and merge as the bytes they are; nobody else takes part in them")
  func encryption() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await Self.agree(a)
      let (secret, date) = (try Self.id("secret_text", type), try Self.id("secret_date", type))
      let open = try Self.id("one_text", type)
      let bytes = Self.crypt("meet me at nine", key: "only devices know")
      let first: [UInt32: Value] = [open: .text("open"), secret: .data(bytes), date: .data([0, 1, 2])]
      #expect(try await a.push(1, [.save("r", first, type: type)]).versions == [1])
      let seen = try RecordFields(body: try #require(try await b.pull().entries.first).body)
      guard case .data(let found) = seen[secret] else { throw Missing("bytes") }
      let key = "only devices know"
      let plain = zip(found, Self.crypt(String(repeating: "\0", count: found.count), key: key)).map { $0 ^ $1 }
      #expect(String(decoding: plain, as: UTF8.self) == "meet me at nine" && seen[date] == .data([0, 1, 2]))

      for kind in CaravanModel.FieldKind.allCases where kind != .object {
        let name = "secret_\(kind)"
        let values = try #require(try Self.samples().first { $0.kind == kind }).values
        for value in [values[0], .list([values[0]])] where kind != .data || value.kindName == "list" {
          let push = Push.of(2, [.save("s", [try Self.id(name, type): value], type: type)])
          let error = try await a.refusal(.push(push))
          #expect(error?.code == .schemaViolation && error?.message.contains(name) == true, "what all can read")
        }
      }

      // Two devices change one encrypted field each: both changes are kept.
      var settings = CaravanWire.RecordType(type)
      settings.settings = CaravanWire.TypeSettings(CaravanModel.TypeSettings(conflicts: .fieldMerge))
      let merging = try await a.ask(.propose(ProposeTable(container: "album", type: settings)))
      guard case .type(let agreed) = merging else { throw Unexpected(result: merging) }
      let now = try agreed.model()
      let theirs = Self.crypt("at ten", key: key)
      for (device, field, value) in [(a, date, [3]), (b, secret, theirs)] as [(Device, UInt32, [UInt8])] {
        var change = CaravanModel.Mutation.save("r", [field: .data(value)], type: now, base: .version(1))
        change.terms = WriteTerms(scope: .changed)
        _ = try await device.push(3, [change])
      }
      let merged = try RecordFields(body: try #require(try await a.read(["r"]).entries.first).body)
      #expect(merged[secret] == .data(theirs) && merged[date] == .data([3]) && merged[open] == .text("open"))
    }
  }

  @Test("CK-11: the public database takes no encrypted values: nobody could be trusted with the key")
  func publicDatabase() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await Self.agree(a)
      let secret: [UInt32: Value] = [try Self.id("secret_text", type): .data([1])]
      var push = Push.of(1, [.save("r", secret, type: type)], to: DefaultZone.name)
      push.database = .public
      let error = try await a.refusal(.push(push))
      #expect(error?.code == .schemaViolation && error?.message.contains("encrypted") == true)
    }
  }
}
