import CaravanModel
import CaravanSchemaCore
import CaravanTestKit
import Testing

/// What becomes of a proposal of some fields, as a table over what is registered.
@Suite struct PartialProposalTests {
  private static func type(_ fields: [(UInt32, String, FieldKind)], id: UInt32 = 3, name: String = "notes")
    -> RecordType
  {
    RecordType(
      id: id, definition: 3, name: name, fields: fields.map { FieldDefinition(id: $0.0, name: $0.1, kind: $0.2) })
  }

  private static func decide(
    _ fields: [(UInt32, String, FieldKind)], after known: RecordType?, in environment: Environment = .development,
    name: String = "notes"
  ) throws(CaravanError) -> RegistryDecision {
    try Registry.decide(
      onSome: type(fields, id: 0, name: name), history: NameHistory(known.map { [$0] } ?? []),
      numbers: TypeNumbers(after: 8), in: environment, by: .user)
  }

  private static let known = type([(1, "text", .text), (2, "n", .integer)])

  @Test("CK-91: fields that are there need nothing; others are added behind all that there are")
  func adds() throws {
    #expect(try Self.decide([], after: Self.known) == .existing(Self.known))
    #expect(try Self.decide([(0, "n", .integer)], after: Self.known, in: .production) == .existing(Self.known))
    let wider = Self.type([(1, "text", .text), (2, "n", .integer), (3, "place", .location)], id: 9)
    #expect(try Self.decide([(0, "place", .location), (0, "n", .integer)], after: Self.known) == .add(wider))
  }

  @Test("CK-93: production names what it lacks; a field of another kind, or in another case, is refused everywhere")
  func refuses() throws {
    func refusal(
      _ fields: [(UInt32, String, FieldKind)], after known: RecordType? = Self.known, _ environment: Environment,
      name: String = "notes"
    ) -> CaravanError? {
      #expect(throws: CaravanError.self) { try Self.decide(fields, after: known, in: environment, name: name) }
    }
    let lacking = refusal([(0, "a", .text), (0, "n", .integer), (0, "b", .text)], .production)
    #expect(lacking?.code == .schemaViolation && lacking?.message.contains("'a', 'b'") == true)
    #expect(refusal([(0, "n", .text)], .development)?.code == .schemaNotAdditive)
    #expect(refusal([(0, "N", .integer)], .development)?.code == .schemaViolation)
    #expect(refusal([], .development, name: "Notes")?.code == .schemaViolation)
    #expect(refusal([], after: nil, .development)?.code == .tableNotFound)
    #expect(refusal([(0, "text", .text)], after: nil, .production)?.code == .schemaViolation)
  }
}
