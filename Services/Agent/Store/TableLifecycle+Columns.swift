internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite
internal import CaravanWire

// A table that gains columns (CK-26). Its rows stay as they are; what newer devices have written into the columns was
// kept with the rows that it came with, and shows once the cloud has said which fields they are.
extension TableLifecycle {
  /// Adds the columns of `schema` that the table lacks. Reads that are open end.
  func extend(_ table: TableID, to schema: SchemaText) throws(CaravanError) {
    try change(table) { (state) throws(CaravanError) in
      for column in schema.columns.dropFirst(state.schema.columns.count) { try state.rows.add(column, database) }
      state.extend(to: schema, damage: damage)
      // The cloud may not have taken the table without them.
      if state.fault == .schema { (state.fault, state.refused) = (nil, "") }
      // Fields that the cloud has numbered already show at once.
      if state.agreedType != nil { try TypeAgreement(catalog: catalog).adoptKnownFields(in: state) }
      try state.saveSchema(database)
      try state.save(database)
    }
    readers.closeAll(of: table)
    readers.pool.forgetPrepared()
    KeptRoots.write(context.directory, try database, options)
  }
}

extension RowCodec {
  /// - Returns: whether any of the row's other fields is a column.
  func adoptKnownFields(of row: inout StoredRow) throws(CaravanError) -> Bool {
    let fields = try CaravanWire.Fields.decode(row.extra).fields
    var left: [CaravanWire.Field] = []
    for field in fields {
      guard let value = field.value, let column = column(ofField: field.id),
        let cell = CellCodec.cell(value, of: columns[column])
      else {
        left.append(field)
        continue
      }
      if row.cells[column] == .null { row.cells[column] = cell }
    }
    guard left.count < fields.count else { return false }
    row.extra = left.isEmpty ? [] : CaravanWire.Fields(fields: left).encoded()
    return true
  }
}
