import CaravanModel
import CaravanWire
import Testing

/// Goal: what a write asks for is the same on both sides of the wire. Method: every term through bytes and back.
@Suite struct TermsWireTests {
  private func carried(_ mutation: CaravanModel.Mutation) throws -> CaravanModel.Mutation {
    try CaravanWire.Mutation(decoding: CaravanWire.Mutation(mutation).encoded()).model()
  }

  static let terms: [WriteTerms] = [
    WriteTerms(scope: .changed), WriteTerms(scope: .known(upTo: 7)), WriteTerms(guards: [8, 1]),
    WriteTerms(references: [CaravanModel.Reference(to: "a", .owning), CaravanModel.Reference(to: "b", .validating)]),
    WriteTerms(expiry: .never), WriteTerms(expiry: .at(1)), WriteTerms(expiry: .after(60_000)),
    WriteTerms(hidesExpired: true), WriteTerms(stamp: HybridStamp(milliseconds: 5)),
    WriteTerms(stamp: HybridStamp(rawValue: 9), fieldStamps: [1: HybridStamp(rawValue: 2)]),
    WriteTerms(policy: .fieldMerge), WriteTerms(policy: .lastWriterWins), WriteTerms(policy: .deterministic),
  ]

  @Test("CK-25, CK-30, E15, UNI-02: every term survives the wire", arguments: terms)
  func roundTrip(_ terms: WriteTerms) throws {
    let sent = CaravanModel.Mutation(
      name: "r", base: .version(3), change: .save(type: 1, body: [], chunks: []), terms: terms)
    var expected = sent
    // What is not said on the wire is false.
    expected.terms?.hidesExpired = terms.hidesExpired ?? false
    #expect(try carried(sent) == expected)
  }

  @Test("CK-23: reads and plain changes have no terms", arguments: [CaravanModel.Mutation.Change.delete, .read])
  func plain(_ change: CaravanModel.Mutation.Change) throws {
    let mutation = CaravanModel.Mutation(name: "r", base: .any, change: change)
    #expect(try carried(mutation) == mutation)
  }

  @Test("CK-30: what would end centuries from now is refused")
  func absurd() throws {
    let terms = WriteTerms(expiry: .at(1 << 50))
    let mutation = CaravanModel.Mutation(name: "r", base: .any, change: .delete, terms: terms)
    let error = try #require(throws: CaravanError.self) { try self.carried(mutation) }
    #expect(error.code == .invalidData && error.message.contains("'r'"), "\(error)")
  }

  @Test("CK-07: locations, references and lists of them survive the wire")
  func values() throws {
    let here = try CaravanModel.Location(latitude: 47.4, longitude: 8.5)
    let fields = RecordFields([
      1: .location(here), 2: .reference(CaravanModel.Reference(to: "r", .owning)), 3: .list([.text("a"), .text("b")]),
      4: .list([.integer(-1), .integer(1 << 40)]), 5: .list([.real(0.5)]), 6: .list([.data([0, 1])]),
      7: .list([.location(here)]), 8: .list([.reference(CaravanModel.Reference(to: "r"))]),
    ])
    #expect(try RecordFields(body: fields.body) == fields)
    #expect(throws: CaravanError.self) { try CaravanModel.Location(latitude: 91, longitude: 0) }
  }

  @Test("CK-30, UNI-02: a type's settings survive the wire, and none stay none")
  func settings() throws {
    let settings = CaravanModel.TypeSettings(
      conflicts: .serverExtension, fallback: .fieldMerge, extensionMilliseconds: 250, ttlMilliseconds: 9,
      hidesExpired: true, chunkBytes: 8_192)
    let fields = [
      CaravanModel.FieldDefinition(id: 1, name: "secret", kind: .date, isEncrypted: true),
      CaravanModel.FieldDefinition(id: 2, name: "tags", kind: .text, isList: true),
    ]
    for settings in [settings, nil] {
      let type = CaravanModel.RecordType(id: 3, definition: 2, name: "t", fields: fields, settings: settings)
      #expect(try CaravanWire.RecordType(decoding: CaravanWire.RecordType(type).encoded()).model() == type)
    }
  }
}
