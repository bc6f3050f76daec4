import CaravanAgentCore
import CaravanModel
import Testing

/// What an app's columns are in a record type, as a table.
@Suite struct ColumnFitTests {
  private static let type = RecordType(
    id: 1, definition: 1, name: "notes",
    fields: [
      FieldDefinition(id: 1, name: "text", kind: .text), FieldDefinition(id: 2, name: "size", kind: .real),
      FieldDefinition(id: 3, name: "at", kind: .date), FieldDefinition(id: 4, name: "photo", kind: .object),
      FieldDefinition(id: 5, name: "tags", kind: .text, isList: true),
    ])

  private static func refusal(_ columns: [String: Value], in type: RecordType? = type) -> ErrorCode? {
    do throws(CaravanError) { _ = try ColumnFit(columns, in: type) } catch { return error.code }
    return nil
  }

  @Test("CK-25: values come by field id, as their fields hold them; null ones are removed")
  func fits() throws {
    guard
      case .fits(let values) = try ColumnFit(
        ["tags": .list([.text("x")]), "size": .integer(2), "text": .null, "photo": .null, "at": .integer(5)],
        in: Self.type)
    else { return #expect(Bool(false)) }
    #expect(values.map(\.id) == [1, 2, 3, 4, 5])
    #expect(values.map(\.value) == [.null, .real(2), .integer(5), .null, .list([.text("x")])])
  }

  @Test("CK-93: what the type lacks is a field of the value's kind")
  func lacks() throws {
    guard
      case .lacks(let fields) = try ColumnFit(
        ["a": .text("x"), "b": .list([.real(1)]), "c": .data([1]), "text": .text("y")], in: Self.type)
    else { return #expect(Bool(false)) }
    #expect(
      fields == [
        FieldDefinition(id: 0, name: "a", kind: .text), FieldDefinition(id: 0, name: "b", kind: .real, isList: true),
        FieldDefinition(id: 0, name: "c", kind: .data),
      ])
    guard case .lacks(let all) = try ColumnFit(["text": .text("y")], in: nil) else { return #expect(Bool(false)) }
    #expect(all.map(\.name) == ["text"])
  }

  @Test("CK-07: other kinds, and values that say no kind, are refused")
  func refuses() {
    #expect(Self.refusal(["text": .integer(1)]) == .schemaViolation)
    #expect(Self.refusal(["tags": .text("x")]) == .schemaViolation)
    #expect(Self.refusal(["photo": .text("x")]) == .schemaViolation)
    #expect(Self.refusal(["text": .asset(AssetManifest(parts: []))]) == .schemaViolation)
    #expect(Self.refusal(["new": .null]) == .schemaViolation)
    #expect(Self.refusal(["new": .list([])], in: nil) == .schemaViolation)
    #expect(Self.refusal(["size": .real(.nan)]) == .schemaViolation)
    #expect(Self.refusal(["new": .text("a\0b")]) == .schemaViolation)
  }
}
