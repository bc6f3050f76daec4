internal import CaravanChunking
internal import CaravanModel
internal import CaravanSQLite
internal import CaravanWire

/// Rows' content in its two forms: cells by column as SQLite keeps them, and bodies by field id as the cloud does.
/// An object is an encoded `Asset` in both.
struct RowCodec {
  let columns: [SchemaText.Column]
  /// Field ids by column; empty until the type is agreed.
  private let fieldIDs: [UInt32]
  private let columnOfField: [UInt32: Int]

  init(columns: [SchemaText.Column], type: CaravanModel.RecordType?) {
    self.columns = columns
    fieldIDs = type.map { type in columns.map { type.field(named: $0.name)?.id ?? 0 } } ?? []
    columnOfField = Dictionary(
      fieldIDs.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: To the cloud

  /// - Parameter extra: encoded fields that this device's schema does not have (a newer device's).
  func body(_ cells: [SQLValue], extra: [UInt8]) throws(CaravanError) -> [UInt8] {
    precondition(fieldIDs.count == columns.count, "a body was made before the record type was agreed")
    var fields: [CaravanWire.Field] = []
    for (column, cell) in cells.enumerated() {
      guard let value = try CellCodec.field(cell, of: columns[column]) else { continue }
      fields.append(CaravanWire.Field(id: fieldIDs[column], value: value))
    }
    if !extra.isEmpty {
      // What an app has put into a column takes the place of what was none of the column's.
      let written = Set(fields.map(\.id))
      fields += try CaravanWire.Fields.decode(extra).fields.filter { !written.contains($0.id) }
    }
    fields.sort { $0.id < $1.id }
    return CaravanWire.Fields(fields: fields).encoded()
  }

  // MARK: From the cloud

  struct Content {
    var cells: [SQLValue]
    var extra: [UInt8]
    /// By field id.
    var objects: [(field: UInt32, object: StoredObject)]

    /// The chunks its objects name, lists among them, but not what these list.
    var chunks: [ChunkHash] { objects.flatMap(\.object.named) }
  }

  /// Fields unknown here, or of another kind than their column, are kept as they are: a device must not lose what a
  /// newer one wrote.
  func content(_ body: [UInt8]) throws(CaravanError) -> Content {
    var cells = [SQLValue](repeating: .null, count: columns.count)
    var extra: [CaravanWire.Field] = []
    var objects: [(field: UInt32, object: StoredObject)] = []
    for field in try CaravanWire.Fields.decode(body).fields {
      guard let value = field.value else { continue }
      for asset in value.assets { objects.append((field.id, try StoredObject(asset))) }
      if let column = columnOfField[field.id], let cell = CellCodec.cell(value, of: columns[column]) {
        cells[column] = cell
      } else {
        extra.append(field)
      }
    }
    return Content(
      cells: cells, extra: extra.isEmpty ? [] : CaravanWire.Fields(fields: extra).encoded(), objects: objects)
  }

  /// The chunks a body's objects name, lists among them, but not what these list.
  static func chunks(inBody body: [UInt8]) throws(CaravanError) -> [ChunkHash] {
    try objects(inBody: body).flatMap(\.object.named)
  }

  /// A body's objects by field id.
  static func objects(inBody body: [UInt8]) throws(CaravanError) -> [(field: UInt32, object: StoredObject)] {
    var objects: [(field: UInt32, object: StoredObject)] = []
    for field in try CaravanWire.Fields.decode(body).fields {
      for asset in field.value?.assets ?? [] { objects.append((field.id, try StoredObject(asset))) }
    }
    return objects
  }

  // MARK: References

  /// Owning and validating ones of a row, each once.
  func references(_ cells: [SQLValue], extra: [UInt8]) throws(CaravanError) -> [CaravanModel.Reference] {
    var found = extra.isEmpty ? [] : try Self.references(inBody: extra)
    for (column, cell) in cells.enumerated() where columns[column].kind == .reference {
      for reference in try CellCodec.value(cell, of: columns[column])?.references ?? []
      where !found.contains(reference) {
        found.append(reference)
      }
    }
    return found
  }

  /// Owning and validating ones of a body, each once.
  static func references(inBody body: [UInt8]) throws(CaravanError) -> [CaravanModel.Reference] {
    var found: [CaravanModel.Reference] = []
    for field in try CaravanWire.Fields.decode(body).fields {
      for reference in try field.model().references where !found.contains(reference) { found.append(reference) }
    }
    return found
  }

  // MARK: Objects

  /// The cell that a field of a body is kept in; nil: it is none of this device's.
  func column(ofField id: UInt32) -> Int? { columnOfField[id] }

  /// Bytes of a cell's object; nil when there is none.
  static func objectSize(_ cell: SQLValue) throws(CaravanError) -> UInt64? {
    guard case .blob(let bytes) = cell else { return nil }
    return try CaravanWire.Asset.decode(bytes).size
  }

  /// What the hashes in the lists of a row's objects take, about: the cloud bounds them too.
  func listedBytes(_ cells: [SQLValue]) -> Int {
    var bytes = 0
    for (column, cell) in cells.enumerated() where columns[column].kind == .object {
      guard let object = try? StoredObject(cell), object.list != nil else { continue }
      bytes += Int(clamping: object.size) / ChunkingParameters.standard.average * ChunkHash.byteCount
    }
    return bytes
  }

  /// The chunks that a row's cells and extra fields name, lists among them, but not what these list.
  func chunks(_ cells: [SQLValue], extra: [UInt8]) throws(CaravanError) -> [ChunkHash] {
    var chunks: [ChunkHash] = []
    for (column, cell) in cells.enumerated() where columns[column].kind == .object {
      if let object = try StoredObject(cell) { chunks += object.named }
    }
    return extra.isEmpty ? chunks : chunks + (try Self.chunks(inBody: extra))
  }
}

extension CaravanModel.Value {
  /// The owning and validating references in it.
  fileprivate var references: [CaravanModel.Reference] {
    switch self {
    case .reference(let reference): reference.kind == .plain ? [] : [reference]
    case .list(let items): items.flatMap(\.references)
    case .null, .text, .integer, .real, .data, .asset, .assetList, .location: []
    }
  }
}

extension CaravanWire.Field.Value {
  /// The objects in it.
  fileprivate var assets: [CaravanWire.Asset] {
    switch self {
    case .asset(let asset): [asset]
    case .list(let list): list.assets
    case .text, .integer, .real, .data, .location, .reference: []
    }
  }
}
