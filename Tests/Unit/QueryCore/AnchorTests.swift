import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanWire
import Testing

/// Goal: a subscription is found by what lies between its bounds, and not by all that is beyond one of them. Method:
/// tables, and all values around the bounds.
@Suite struct AnchorTests {
  private static let type = CaravanModel.RecordType(
    id: 1, definition: 1, name: "photos",
    fields: [
      CaravanModel.FieldDefinition(id: 1, name: "name", kind: .text),
      CaravanModel.FieldDefinition(id: 2, name: "date", kind: .integer),
      CaravanModel.FieldDefinition(id: 3, name: "size", kind: .real),
      CaravanModel.FieldDefinition(id: 4, name: "place", kind: .location),
    ])

  private static func anchors(_ text: String) throws -> [Anchor]? {
    try Anchor.anchors(ExpressionText(text).bound(to: type) { _, _ in .null })
  }

  private static func cells(_ fields: [UInt32: CaravanModel.Value]) throws -> RecordCells {
    RecordCells(name: "r", authorship: .unknown, fields: try BodyCells(RecordFields(fields).body))
  }

  private static func isFound(_ text: String, _ fields: [UInt32: CaravanModel.Value]) throws -> Bool {
    let cells = try cells(fields)
    return try #require(try anchors(text)).contains { $0.finds(cells) }
  }

  @Test(
    "CK-84: several bounds of one field are found by the few cells between them",
    arguments: [
      ("date >= 5 AND date < 9", 5...9), ("date BETWEEN 5 AND 9", 5...9), ("date BETWEEN -3 AND 2", -3...2),
      ("size > 0.5 AND name LIKE '%x' AND size <= 2.5 AND size < 9", nil),
      ("date BETWEEN 1 AND 2 OR date BETWEEN 900 AND 901", 1...2),
    ] as [(String, ClosedRange<Int64>?)])
  func between(text: String, range: ClosedRange<Int64>?) throws {
    let anchors = try #require(try Self.anchors(text))
    #expect((1...4).contains(anchors.count), "\(anchors)")
    for anchor in anchors { if case .cell = anchor {} else { Issue.record("\(anchor) is no cell") } }
    for number in range.map(Array.init) ?? [] { #expect(try Self.isFound(text, [2: .integer(number)])) }
    #expect(try !Self.isFound(text, [2: .integer(1_000), 3: .real(1e9)]))
    #expect(try !Self.isFound(text, [:]), "null lies nowhere")
  }

  @Test("CK-84: what lies between no bounds is found by nothing") func none() throws {
    #expect(try Self.anchors("date > 9 AND date < 5") == [])
  }

  @Test("CK-84: one bound is a range without an end, and what equals a value needs no range")
  func others() throws {
    #expect(try Self.anchors("date >= 5")?.map(\.probe) == [.atLeast(IndexNeed(2, .integer, .key))])
    #expect(try Self.anchors("date <= 5")?.map(\.probe) == [.atMost(IndexNeed(2, .integer, .key))])
    for (number, isAbove, isBelow) in [(4, false, true), (5, true, true), (6, true, false), (-7, false, true)] {
      #expect(try Self.isFound("date >= 5", [2: .integer(Int64(number))]) == isAbove)
      #expect(try Self.isFound("date <= 5", [2: .integer(Int64(number))]) == isBelow)
    }
    #expect(
      try Self.anchors("date >= 5 AND date <= 9 AND name = 'x'")?.map(\.probe) == [.tokens(IndexNeed(1, .text, .key))])
    #expect(try Self.anchors("name LIKE '%x'") == nil)
  }

  @Test("CK-84: a place near the centre of a circle is in its cells, one at the other end of the earth is not")
  func places() throws {
    for (latitude, longitude) in [(60.17, 24.94), (-80, 12), (0, 179.999), (0, 0)] {
      let text = "place NEAR (\(latitude), \(longitude), 5000)"
      #expect(try #require(try Self.anchors(text)).count <= 8)
      for (north, east) in [(0.0, 0.0), (0.005, 0), (0, 0.005), (0, -0.005)] {
        let place = try CaravanModel.Location(
          latitude: max(-90, latitude + north), longitude: min(180, longitude + east))
        #expect(try Self.isFound(text, [4: .location(place)]), "\(text) \(place)")
      }
      let other = try CaravanModel.Location(
        latitude: -latitude, longitude: longitude > 0 ? longitude - 180 : longitude + 179)
      #expect(try !Self.isFound(text, [4: .location(other)]), "\(text) \(other)")
    }
  }

  @Test("CK-84: a word longer than what is kept of it is found by its beginning") func words() throws {
    let word = String(repeating: "x", count: 256)
    #expect(try Self.isFound("name MATCH '\(word)'", [1: .text("a \(word) b")]))
    #expect(try !Self.isFound("name MATCH '\(word)'", [1: .text("a b")]))
  }

  @Test("a probe is read again as what it was") func numbers() {
    let key = IndexNeed(3, .real, .key)
    let probes: [Anchor.Probe] =
      [.atLeast(key), .atMost(key), .tokens(key), .tokens(IndexNeed(3, .real, .members))]
      + (0...64).map { .cells(key, level: UInt8($0)) }
    for probe in probes { #expect(Anchor.Probe(number: probe.number, field: 3, kind: .real) == probe) }
    #expect(Anchor.Probe(number: 9, field: 3, kind: .real) == nil)
  }
}
