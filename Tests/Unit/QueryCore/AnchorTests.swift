import CaravanModel
import CaravanQuery
import CaravanQueryCore
import Testing

/// Goal: a subscription is found by what lies between its bounds, and not by all that is beyond one of them. Method: a
/// table.
@Suite struct AnchorTests {
  private static let type = RecordType(
    id: 1, definition: 1, name: "photos",
    fields: [
      FieldDefinition(id: 1, name: "name", kind: .text), FieldDefinition(id: 2, name: "date", kind: .integer),
      FieldDefinition(id: 3, name: "size", kind: .real),
    ])

  private static func spans(_ text: String) throws -> [ClosedRange<Double>]? {
    let expression = try ExpressionText(text).bound(to: type) { _, _ in .null }
    return Anchor.anchors(expression)?.map { anchor in
      if case .span(_, let span) = anchor { span.first } else { 0...0 }
    }
  }

  @Test(
    "CK-84: several bounds of one field are one range",
    arguments: [
      ("date >= 5 AND date < 9", [5.0...9.0]), ("date BETWEEN 5 AND 9", [5...9]),
      ("size > 0.5 AND name LIKE '%x' AND size <= 2.5 AND size < 9", [0.5...2.5]),
      ("date > 9 AND date < 5", []), ("date BETWEEN 1 AND 2 OR date BETWEEN 5 AND 6", [1...2, 5...6]),
    ])
  func between(text: String, ranges: [ClosedRange<Double>]) throws { #expect(try Self.spans(text) == ranges) }

  @Test("CK-84: one bound is a range without an end, and what equals a value needs no range")
  func others() throws {
    #expect(try Self.spans("date >= 5")?.first?.lowerBound == 5)
    #expect(try Self.spans("date >= 5 AND date <= 9 AND name = 'x'") == [0...0])
    #expect(try Self.spans("name LIKE '%x'") == nil)
  }
}
