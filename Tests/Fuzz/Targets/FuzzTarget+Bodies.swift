import CaravanModel
import CaravanStore
import CaravanSyncCore
import CaravanWire

extension FuzzTarget {
  /// Records' bodies, which two decoders read that share no line: what the scanner lets in, every reader must be able
  /// to decode, to the same.
  static let bodies: [FuzzTarget] = [
    FuzzTarget("body", seeds: [Samples.body, RecordFields([3: .null]).body]) { bytes in
      try Fields.check(bytes)
      let named = try PushCheck.save("r", body: bytes, against: Samples.type)
      let record: RecordFields
      do { record = try RecordFields(body: bytes) } catch {
        preconditionFailure("the scanner lets in what cannot be decoded: \(error)")
      }
      do { try Samples.type.check(record) } catch { preconditionFailure("the scanner lets in another type: \(error)") }
      let hashes = try sure { try ChunkHash.list(named.chunks) }
      try hold(
        Set(hashes) == Set(record.chunks), "the scanner finds chunks \(hashes), the record names \(record.chunks)")
      try hold(
        Set(named.references) == Set(references(of: record)),
        "the scanner finds references \(named.references), the record has \(references(of: record))")
    },
    FuzzTarget("record", seeds: [Samples.body]) { bytes in
      let record = try RecordFields(body: bytes)
      // As bytes: a real that is no number does not equal itself.
      let again = try sure { try RecordFields(body: record.body) }
      try hold(again.body == record.body, "a record is read again as another")
    },
    FuzzTarget("merge", seeds: [Samples.body, RecordFields([2: .integer(9)]).body]) { bytes in
      let patch = try EncodedFields(bytes)
      try scan(bytes)
      let merged = try sure { try EncodedFields(Samples.body).merging(patch) }
      try sure { try scan(merged) }
      try hold(try sure { try EncodedFields(merged).merging(patch) } == merged, "a merge that is made twice is another")
      let selected = patch.selecting([1, 2])
      try hold(try sure { try EncodedFields(selected).ids } == patch.ids.filter { $0 < 3 }, "other fields are selected")
    },
    FuzzTarget("asset-list", seeds: [Asset(Samples.object).encoded()]) { bytes in
      let listed = try BodyScanner.chunks(listedIn: bytes)
      let asset = try Asset.decode(bytes)
      try hold(listed == (try? asset.model())?.parts.map(\.hash) ?? listed, "a list names other chunks than its asset")
    },
    FuzzTarget("schema", seeds: schemas.map { Array($0.utf8) }) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      let schema = try SchemaText(parsing: text)
      try hold(!schema.columns.isEmpty, "a schema without columns")
      try hold(Set(schema.columns.map(\.name)).count == schema.columns.count, "two columns of one name")
      for column in schema.columns { try hold(schema.column(named: column.name) != nil, "a column is not found") }
      let again = try sure { try SchemaText(parsing: schema.description) }
      try hold(again == schema, "a schema is read again as another: \(schema)")
    },
    FuzzTarget("cell", seeds: Samples.fields.values.map { Cell(column: "c", $0).encoded() }) { bytes in
      let cell = try Cell.decode(bytes)
      let value = try cell.model()
      // As bytes: a real that is no number does not equal itself.
      let again = Cell(column: cell.column, value)
      let reread = try sure { Cell(column: cell.column, try Cell(decoding: again.encoded()).model()) }
      try hold(reread.encoded() == again.encoded(), "a cell is read again as another: \(value)")
    },
    FuzzTarget("field-versions", seeds: [fieldVersions.encoded(writer: "phone")]) { bytes in
      guard let history = FieldHistory(encoded: bytes, writer: "phone") else { throw CaravanError(.invalidData, "no") }
      let again = FieldHistory(encoded: history.encoded(writer: "phone"), writer: "phone")
      try hold(again == history, "a history is read again as another: \(history), \(String(describing: again))")
    },
  ]

  private static let schemas = [
    "name VARCHAR, n INTEGER, photo OBJECT", "id VARCHAR(20) PRIMARY KEY", "a LIST<VARCHAR(3)>, at LOCATION, d DATE",
  ]

  private static let fieldVersions = FieldHistory([
    0: FieldHistory.Item(seq: 5, stamp: HybridStamp(milliseconds: 5), writer: "phone"),
    2: FieldHistory.Item(seq: 9, stamp: HybridStamp(milliseconds: 7), writer: "tablet"),
  ])

  private static func scan(_ bytes: [UInt8]) throws(BodyProblem) {
    var scanner = BodyScanner()
    try scanner.scan(bytes.span, against: nil)
  }

  private static func references(of record: RecordFields) -> [CaravanModel.Reference] {
    record.ascending.flatMap { _, value -> [CaravanModel.Reference] in
      switch value {
      case .reference(let reference): [reference]
      case .list(let items):
        items.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
      default: []
      }
    }.filter { $0.kind != .plain }
  }
}
