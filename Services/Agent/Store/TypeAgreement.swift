internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanWire

/// What the cloud says of a table's record type, and what follows from that for the rows that are here.
struct TypeAgreement: TablePart {
  let catalog: TableCatalog

  func agree(on type: CaravanModel.RecordType, for table: TableID) throws(CaravanError) {
    for column in try state(table).schema.columns {
      guard let field = type.field(named: column.name), field.id > 0 else {
        throw CaravanError(
          .schemaViolation, "record type '\(type.name)' lacks the column '\(column.name)' of table '\(table)'")
      }
      guard (field.kind, field.isList) == (column.kind, column.isList) else {
        throw CaravanError(
          .schemaViolation,
          "column '\(column.name)' of '\(table)' is \(column.typeText), in its record type \(field.shape): name "
            + "the column otherwise, or make another table")
      }
    }
    try change(table) { (state) throws(CaravanError) in
      let old = state.type
      state.type = type
      if let old {
        try renumber(FieldRenumbering(from: old, to: type), in: state)
        try noteSettings(from: old, in: state)
        // Rows of a type that was made anew may have come before it was agreed on.
        if !SchemaExtension.isAgreed(old) || old.definition != type.definition { try adoptKnownFields(in: state) }
      }
      state.refused = ""
      try state.save(database)
    }
    catalog.tellNewsIfAny(of: table)
  }

  /// Gives what is encoded here, beside the rows themselves, the numbers that the cloud has for its fields now: a
  /// restore may have taken those that it had (UNI-18).
  private func renumber(_ fields: FieldRenumbering, in state: TableState) throws(CaravanError) {
    guard !fields.isEmpty else { return }
    for name in ["ancestors", "incoming"] {
      let bodies = try database.statement(text: "SELECT rowid, body FROM \(name) WHERE table_id = \(state.number)")
        .all { row in (id: row.integer(0), body: row.bytes(1)) }
      for (id, body) in bodies {
        try database.statement(text: "UPDATE \(name) SET body = ? WHERE rowid = ?").run(fields.of(body), id)
      }
    }
    for key in try state.rows.keys(where: "length(_extra) > 0", database) {
      guard var row = try state.rows.soundRow(key: key, database) else { continue }
      row.extra = try fields.of(row.extra)
      try state.rows.update(row, database)
    }
  }

  /// Fields that were kept as they came, and have become columns: they are the columns' values from now on, but where
  /// an app has written one of its own since.
  func adoptKnownFields(in state: TableState) throws(CaravanError) {
    for key in try state.rows.keys(where: "length(_extra) > 0", database) {
      guard var row = try state.rows.soundRow(key: key, database) else { continue }
      let before = try state.codec.chunks(row.cells, extra: row.extra)
      guard try state.codec.adoptKnownFields(of: &row) else { continue }
      try chunkTable.replace(before, by: try state.codec.chunks(row.cells, extra: row.extra))
      try state.rows.update(row, database)
      state.draft.note(.changed, row.id)
    }
  }

  /// What of the table's settings is not as the device has known it.
  func settingChanges(of state: TableState) throws(CaravanError) -> [CaravanModel.SettingChange] {
    guard let former = try SettingsTable.former(ofTable: state.number, database) else { return [] }
    return (state.type?.settings ?? CaravanModel.TypeSettings()).changes(from: former)
  }

  /// - Parameter old: what was agreed before; the table has the new type already.
  func noteSettings(from old: CaravanModel.RecordType, in state: TableState) throws(CaravanError) {
    let former = try SettingsTable.former(ofTable: state.number, database)
    let (known, new) = (
      former ?? old.settings ?? CaravanModel.TypeSettings(), state.type?.settings ?? CaravanModel.TypeSettings()
    )
    guard old.settings ?? CaravanModel.TypeSettings() != new else { return }
    let changes = new.changes(from: known)
    guard !changes.isEmpty else { return try SettingsTable.forget(ofTable: state.number, database) }
    if former == nil {
      try database.run(
        "INSERT INTO former_settings VALUES (?, ?)", state.number, CaravanWire.TypeSettings(known).encoded())
    }
    host.log.warning(
      "the cloud has other settings for a table's record type than before",
      [.table: state.table, .reason: changes.map(\.description).joined(separator: ", ")])
  }
}
