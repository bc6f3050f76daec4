import CaravanCLICore
import CaravanModel
import CaravanTestKit
import Testing

/// Templates of subscriptions in a schema's text.
@Suite struct SchemaTemplateTextTests {
  private static let text = """
    DEFINE SCHEMA

    RECORD TYPE places ( name STRING QUERYABLE, title STRING );

    template Near ON places
        FIELDS name, title -- whatever its fields are called
        WHERE 'name = ? OR name = ''Molde'''
        EVENTS enters, LEAVES
        TITLE 'It''s
    new'
        title key 'NEAR' (title, "read")
        BODY KEY 'BODY'
        BADGE SOUND 'ping';
    TEMPLATE every ON places;
    """

  @Test("CK-83, CK-92: templates are read as they are written")
  func parses() throws {
    let document = try SchemaDocument(parsing: Self.text)
    #expect(document.types.map(\.name) == ["places"])
    #expect(
      document.templates == [
        SubscriptionTemplate(
          name: "Near", type: "places", text: "name = ? OR name = 'Molde'", events: [.enters, .leaves],
          shows: NotificationContent(
            title: "It's\nnew", titleKey: "NEAR", titleArguments: ["title", "read"], bodyKey: "BODY", badges: true,
            sound: "ping", fields: ["name", "title"])),
        SubscriptionTemplate(name: "every", type: "places", text: nil),
      ])
    let again = try SchemaDocument(parsing: document.description)
    #expect(again.templates == document.templates && again.description == document.description)
  }

  @Test("CK-83, CK-92: a thousand random templates are read as they were written")
  func randomly() throws {
    let words = ["name", "Read", "TYPE", "where", "x9", "Key", "events", "title"]
    let texts = ["a = ?", "it's", "''", "two\nlines", "\"quoted\"", "-- no comment", "/* nor this */", ";", "é"]
    for seed in 1...1_000 as ClosedRange<UInt64> {
      var chance = SplitMix64(seed: seed)
      func text() -> String { Bool.random(using: &chance) ? "" : texts.randomElement(using: &chance) ?? "" }
      func names() -> [String] {
        Array(words.shuffled(using: &chance).prefix(Int.random(in: 0...4, using: &chance)))
      }
      let templates = (0..<Int.random(in: 0...3, using: &chance)).map { number in
        var shows = NotificationContent(
          title: text(), body: text(), titleKey: text(), bodyKey: text(), badges: Bool.random(using: &chance),
          sound: text(), fields: names())
        if !shows.titleKey.isEmpty { shows.titleArguments = names() }
        if !shows.bodyKey.isEmpty { shows.bodyArguments = names() }
        return SubscriptionTemplate(
          name: "t\(number)", type: words.randomElement(using: &chance) ?? "", text: text().isEmpty ? nil : texts[0],
          events: StandingQuery.Events(rawValue: UInt8.random(in: 1...7, using: &chance)), shows: shows)
      }
      let document = SchemaDocument([], templates: templates)
      #expect(try SchemaDocument(parsing: document.description) == document, "seed \(seed): \(document)")
    }
  }

  @Test(
    "CK-83, CK-92: what is wrong in a template is said with its line and column",
    arguments: [
      ("TEMPLATE a ON t", "line 1, column 30: expected ';'"), ("TEMPLATE a ( x );", "expected ON"),
      ("TEMPLATE a ON t WHERE name;", "expected a query in single quotes, found 'name'"),
      ("TEMPLATE a ON t WHERE 'x;", "has no end"), ("TEMPLATE a ON t EVENTS enters, goes;", "expected enters, leaves"),
      ("TEMPLATE a ON t BADGE BADGE;", "says BADGE twice"), ("TEMPLATE a ON t TITLE KEY 'K' (x;", "',' or ')'"),
      ("TEMPLATE a ON t FIELDS x, x;", "'x' twice"), ("TEMPLATE a ON t; TEMPLATE A ON t;", "'A' stands twice"),
      ("TEMPLATE a ON t FIELDS;", "expected a field's name"), ("TEMPLATE a ON t COLOUR 'red';", "expected ';'"),
    ])
  func refusals(_ text: String, _ words: String) {
    let error = #expect(throws: CaravanError.self) { try SchemaDocument(parsing: "DEFINE SCHEMA " + text) }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test("CK-95: what is otherwise of templates is said by their names")
  func differences() throws {
    let old = try SchemaDocument(parsing: Self.text)
    var (near, every) = (old.templates[0], old.templates[1])
    near.events = .enters
    every.name = "other"
    let new = SchemaDocument(old.types, templates: [near, every])
    #expect(new.differences(from: old).map(\.type) == ["Near", "every", "other"])
    let lines = new.differences(from: old).map(\.description)
    #expect(lines[0].hasPrefix("~ template Near: ON places WHERE 'name = ? OR") && lines[0].contains(", now ON places"))
    #expect(lines[1...] == ["- template every: ON places", "+ template other: ON places"])
    near.version = 4
    #expect(SchemaDocument(old.types, templates: [near]).differences(from: new).map(\.type) == ["other"])
  }
}
