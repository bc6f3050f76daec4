import CaravanModel
import CaravanWire
import Testing

/// Subscriptions and templates arrive as they were sent.
@Suite struct StandingQueryWireTests {
  private static let content = CaravanModel.NotificationContent(
    title: "T", body: "B", titleKey: "TK", titleArguments: ["a", "b"], bodyKey: "BK", bodyArguments: ["c"],
    badges: true, sound: "ping", fields: ["a", "d"])

  @Test("CK-83, CK-85: what is asked for, kept and defined is read as it was written")
  func roundTrips() throws {
    let records = CaravanModel.StandingQuery.Subject.records(
      type: "t", text: .init("a = ?", arguments: [.integer(1)]), zone: "z", [.enters])
    let queries: [CaravanModel.StandingQuery] = [
      .init(id: "a", records, shows: Self.content),
      .init(id: "b", records, source: .init(name: "near", version: 3)), .init(id: "c", .zones),
      .init(id: "d", .zones, shows: .init(title: "T", badges: true)),
      .init(id: "e", .template("near", arguments: [.text("x"), .null], zone: nil)),
      .init(id: "f", .template("near", arguments: [], zone: "z")),
    ]
    for query in queries {
      let bytes = CaravanWire.StandingQuery(query).encoded()
      #expect(try CaravanWire.StandingQuery.decode(bytes).model() == query)
    }
    for template in [
      CaravanModel.SubscriptionTemplate(name: "n", type: "t", text: nil),
      .init(name: "n", type: "t", text: "a = ?", events: [.leaves, .changes], shows: Self.content, version: 7),
    ] {
      let bytes = CaravanWire.SubscriptionTemplate(template).encoded()
      #expect(try CaravanWire.SubscriptionTemplate.decode(bytes).model() == template)
    }
  }

  @Test("CK-83, CK-85: what says two things at once, or more than it may, is refused")
  func refusals() {
    let long = String(repeating: "x", count: Limits.notificationTextBytes + 1)
    let records = StandingRecords(type: "t", enters: true)
    let template = StandingTemplate(name: "near")
    let many = Array(repeating: Field(id: 0, .integer(1)), count: Limits.queryArguments + 1)
    let cases: [(CaravanWire.StandingQuery, ErrorCode)] = [
      (.init(id: "a"), .invalidData), (.init(id: "a", records: records, zones: true), .invalidData),
      (.init(id: "a", zones: true, source: template), .invalidData),
      (.init(id: "a", shows: .init(title: "T"), source: template), .invalidData),
      (.init(id: "a", zones: true, shows: .init(fields: ["f"])), .invalidData),
      (.init(id: "a", records: records, shows: .init(title: long)), .limitExceeded),
      (.init(id: "a", source: .init(name: "near", arguments: many)), .limitExceeded),
    ]
    for (query, code) in cases {
      let error = #expect(throws: CaravanError.self) { try query.model() }
      #expect(error?.code == code, "\(query)")
    }
  }
}
