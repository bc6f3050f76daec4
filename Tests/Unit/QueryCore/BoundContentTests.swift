import CaravanEncoding
import CaravanModel
import CaravanQueryCore
import Testing

/// What a notification shows of a record: values of its fields, as far as they fit.
@Suite struct BoundContentTests {
  private typealias Field = NotificationLog.Field

  private static let type = RecordType(
    id: 1, definition: 1, name: "places",
    fields: [
      FieldDefinition(id: 1, name: "name", kind: .text), FieldDefinition(id: 2, name: "at", kind: .location),
      FieldDefinition(id: 3, name: "since", kind: .date), FieldDefinition(id: 4, name: "photo", kind: .object),
      FieldDefinition(id: 5, name: "secret", kind: .text, isEncrypted: true),
      FieldDefinition(id: 6, name: "size", kind: .real), FieldDefinition(id: 7, name: "hash", kind: .data),
      FieldDefinition(id: 8, name: "tags", kind: .text, isList: true),
      FieldDefinition(id: 9, name: "parent", kind: .reference), FieldDefinition(id: 10, name: "count", kind: .integer),
    ])

  private static func record(_ name: String = "Ålesund") throws -> RecordFields {
    RecordFields([
      1: .text(name), 2: .location(try Location(latitude: 62.5, longitude: 6.25)), 3: .integer(0), 6: .real(2.5),
      7: .data([1, 255]), 8: .list([.text("a"), .text("b\"")]), 9: .reference(Reference(to: "p", .owning)),
      10: .integer(-4),
    ])
  }

  private static func shown(_ content: NotificationContent, _ record: RecordFields?) -> RecordFields {
    BoundContent(content, type).shown(of: record).current(in: type)
  }

  private static func text(_ log: RecordFields, _ field: Field) -> String? {
    if case .text(let text) = log[field.rawValue] { text } else { nil }
  }

  private static func texts(_ log: RecordFields, _ field: Field) -> [String]? {
    guard case .list(let items) = log[field.rawValue] else { return nil }
    return items.map { if case .text(let text) = $0 { text } else { "" } }
  }

  @Test("CK-85: what is said is shown as it is; what is silent has no field of the log")
  func plain() {
    let content = NotificationContent(title: "T", body: "B", titleKey: "TK", bodyKey: "BK", badges: true, sound: "ping")
    let log = Self.shown(content, nil)
    #expect(
      log
        == RecordFields([
          Field.title.rawValue: .text("T"), Field.body.rawValue: .text("B"), Field.titleKey.rawValue: .text("TK"),
          Field.bodyKey.rawValue: .text("BK"), Field.badge.rawValue: .integer(1), Field.sound.rawValue: .text("ping"),
        ]))
    #expect(!content.isSilent && NotificationContent(fields: ["name"]).isSilent)
    #expect(Self.shown(NotificationContent(), nil) == RecordFields())
  }

  @Test("CK-83: values of every kind are written as JSON, and arguments as texts, in their order")
  func values() throws {
    let names = ["name", "at", "since", "size", "hash", "tags", "parent", "count"]
    let log = Self.shown(
      NotificationContent(titleKey: "K", titleArguments: names, bodyKey: "K", bodyArguments: ["count"], fields: names),
      try Self.record())
    #expect(
      Self.text(log, .fields) == #"{"name":"Ålesund","at":{"latitude":62.5,"longitude":6.25},"since":0,"size":2.5,"#
        + #""hash":"Af8=","tags":["a","b\""],"parent":{"record":"p","kind":"owning"},"count":-4}"#)
    #expect(
      Self.texts(log, .titleArguments) == [
        "Ålesund", "62.5,6.25", "1970-01-01T00:00:00.000Z", "2.5", "Af8=", #"["a","b\""]"#, "p", "-4",
      ])
    #expect(Self.texts(log, .bodyArguments) == ["-4"] && log[Field.isCut.rawValue] == .null)
  }

  @Test("CK-83: of a record that has left nothing is told, and null and what cannot be told is null")
  func nothing() throws {
    let content = NotificationContent(
      titleKey: "K", titleArguments: ["name"], bodyKey: "B", bodyArguments: ["name"], fields: ["name"])
    #expect(
      Self.shown(content, nil)
        == RecordFields([Field.titleKey.rawValue: .text("K"), Field.bodyKey.rawValue: .text("B")]))
    let log = Self.shown(
      NotificationContent(
        bodyKey: "K", bodyArguments: ["name", "secret"], fields: ["name", "photo", "secret", "gone"]),
      RecordFields([1: .integer(5), 5: .data([7])]))
    #expect(Self.text(log, .fields) == #"{"name":null,"photo":null,"secret":null,"gone":null}"#)
    #expect(Self.texts(log, .bodyArguments) == ["", ""] && log[Field.isCut.rawValue] == .null)
  }

  @Test("CK-83: what does not fit is cut at a character, or left out, and said to be")
  func cut() throws {
    let room = Limits.notificationValueBytes
    // A flag is one character of eight bytes.
    let flags = String(repeating: "🇳🇴", count: room)
    let first = Self.shown(NotificationContent(fields: ["name", "count"]), try Self.record(flags))
    let value = try #require(JSON.parse(Self.text(first, .fields) ?? "")["name"]?.stringValue)
    #expect(value == String(repeating: "🇳🇴", count: (room - 2) / 8) && first[Field.isCut.rawValue] == .integer(1))
    #expect(try JSON.parse(Self.text(first, .fields) ?? "")["count"] == .int(-4), "what still fits is there")
    // Each of these is six bytes of JSON.
    let odd = Self.shown(
      NotificationContent(fields: ["name"]), try Self.record(String(repeating: "\u{1}", count: room)))
    let spelled = Self.text(odd, .fields) ?? ""
    #expect(spelled.utf8.count <= room + #"{"name":}"#.utf8.count && odd[Field.isCut.rawValue] == .integer(1))
    // A list is whole or not there.
    let list = RecordFields([8: .list(Array(repeating: .text("word"), count: room)), 1: .text("x")])
    let without = Self.shown(NotificationContent(fields: ["tags", "name"]), list)
    #expect(Self.text(without, .fields) == #"{"name":"x"}"# && without[Field.isCut.rawValue] == .integer(1))
    // Arguments keep their places.
    let long = RecordFields([1: .text(String(repeating: "é", count: room)), 10: .integer(7)])
    let arguments = Self.shown(
      NotificationContent(titleKey: "K", titleArguments: ["count", "name", "count"], fields: ["name", "tags"]), long)
    #expect(
      Self.texts(arguments, .titleArguments) == ["7", String(repeating: "é", count: (room - 1) / 2), "7"],
      "the last byte is for the last argument")
    #expect(Self.text(arguments, .fields) == "{}" && arguments[Field.isCut.rawValue] == .integer(1))
  }

  @Test("CK-83: exactly what there is room for is not cut")
  func exact() throws {
    let text = String(repeating: "x", count: Limits.notificationValueBytes - 2)
    let whole = Self.shown(NotificationContent(fields: ["name"]), try Self.record(text))
    #expect(Self.text(whole, .fields) == #"{"name":"\#(text)"}"# && whole[Field.isCut.rawValue] == .null)
    let more = Self.shown(NotificationContent(fields: ["name"]), try Self.record(text + "y"))
    #expect(Self.text(more, .fields) == #"{"name":"\#(text)"}"# && more[Field.isCut.rawValue] == .integer(1))
  }

  @Test("CK-91: values of fields that were removed meanwhile are not told, nor those of another field of the name")
  func removed() throws {
    let content = NotificationContent(
      title: "T", titleKey: "K", titleArguments: ["name", "count"], bodyKey: "B", bodyArguments: ["count"],
      fields: ["name", "count"])
    let made = BoundContent(content, Self.type).shown(of: try Self.record())
    #expect(made.hasValues && !made.current(in: Self.type).hasValues)
    #expect(made.current(in: Self.type)[Field.isCut.rawValue] == .null)
    var (less, other) = (Self.type, Self.type)
    less.fields.removeAll { $0.name == "name" }
    other.fields[0].id = 99
    for type in [less, other] {
      let log = made.current(in: type)
      #expect(Self.texts(log, .titleArguments) == ["", "-4"] && Self.texts(log, .bodyArguments) == ["-4"])
      #expect(Self.text(log, .fields) == #"{"count":-4}"# && log[Field.isCut.rawValue] == .integer(1))
    }
    let gone = made.current(in: nil)
    #expect(Self.texts(gone, .titleArguments) == ["", ""] && Self.text(gone, .fields) == "{}")
    #expect(Self.text(gone, .title) == "T")
  }

  @Test("CK-83: values are read from the JSON that they are written in")
  func readBack() throws {
    for (_, value) in try Self.record().ascending {
      let json = try JSON.parse(value.json.encoded())
      guard case .data(let bytes) = value else {
        #expect(Value(json) == value)
        continue
      }
      #expect(Value(json) == .text(Base64.encode(bytes)))
    }
    #expect(Value(["size": 4]) == nil && Value(.bool(true)) == .integer(1) && Value(.null) == .null)
  }

  @Test("CK-85: what notifications cannot carry is refused, and named")
  func refusals() {
    func refusal(_ content: NotificationContent) -> CaravanError? {
      do throws(CaravanError) {
        try content.check()
        try content.check(against: Self.type)
      } catch { return error }
      return nil
    }
    let many = (0...Limits.notificationFields).map { "f\($0)" }
    let cases: [(NotificationContent, ErrorCode, String)] = [
      (.init(fields: ["nosuch"]), .schemaViolation, "'nosuch'"),
      (.init(fields: ["name", "photo"]), .schemaViolation, "'photo' of 'places' is object"),
      (.init(titleKey: "K", titleArguments: ["secret"]), .schemaViolation, "'secret' of 'places' is encrypted text"),
      (.init(bodyKey: "K", bodyArguments: ["Name"]), .schemaViolation, "'Name'"),
      (.init(title: "T", titleArguments: ["name"]), .invalidData, "no key"),
      (.init(fields: ["name", "name"]), .invalidData, "'name' twice"), (.init(fields: [""]), .invalidData, "called so"),
      (.init(fields: many), .limitExceeded, "fields in notifications"),
      (.init(titleKey: "K", titleArguments: many), .limitExceeded, "arguments of the title key"),
      (.init(title: String(repeating: "x", count: Limits.notificationTextBytes + 1)), .limitExceeded, "the title"),
      (.init(body: String(repeating: "x", count: Limits.notificationTextBytes + 1)), .limitExceeded, "the body"),
      (.init(bodyKey: String(repeating: "x", count: Limits.notificationKeyBytes + 1)), .limitExceeded, "body key"),
      (.init(sound: String(repeating: "x", count: Limits.notificationKeyBytes + 1)), .limitExceeded, "the sound"),
    ]
    for (content, code, words) in cases {
      let error = refusal(content)
      #expect(error?.code == code && error?.message.contains(words) == true, "\(content): \(error?.message ?? "")")
    }
    #expect(refusal(.init(title: "T", titleKey: "K", titleArguments: ["name", "name"], fields: ["at"])) == nil)
    #expect(throws: CaravanError.self) { try NotificationContent(fields: ["name"]).checkNamesNone() }
  }
}
