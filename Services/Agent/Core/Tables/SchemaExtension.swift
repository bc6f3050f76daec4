public import CaravanModel

/// What a table that is there makes of the columns that an app says it has.
public enum SchemaExtension {
  /// - Returns: the table's columns, and behind them those that it lacks.
  /// - Throws: `schemaNotAdditive` when a column would vanish or become another one.
  public static func of(
    _ known: SchemaText, by wanted: SchemaText, in table: String
  ) throws(CaravanError) -> SchemaText {
    for column in known.columns {
      guard let other = wanted.columns.first(where: { $0.name.lowercased() == column.name.lowercased() }) else {
        throw refusal(
          "table '\(table)' has the column '\(column.name) \(column.typeText)', and the schema leaves it out: "
            + "columns stay, with what is in them; name it too, or create a table of another name")
      }
      guard (other.kind, other.isList) == (column.kind, column.isList) else {
        throw refusal(
          "column '\(column.name)' of table '\(table)' is \(column.typeText), and the schema says "
            + "\(other.typeText): a column keeps its kind; add one of another name")
      }
      guard other.isPrimaryKey == column.isPrimaryKey else {
        throw refusal(
          "column '\(column.name)' of table '\(table)' is \(column.isPrimaryKey ? "" : "not ")the primary key, and "
            + "that stays so: say it the same way, or create a table of another name")
      }
    }
    let new = wanted.columns.filter { column in
      !known.columns.contains { $0.name.lowercased() == column.name.lowercased() }
    }
    if let key = new.first(where: \.isPrimaryKey) {
      throw refusal(
        "table '\(table)' has no primary key, and '\(key.name)' cannot become one: rows that are there have their ids; "
          + "add it without PRIMARY KEY, or create a table of another name")
    }
    return new.isEmpty ? known : SchemaText(columns: known.columns + new)
  }

  private static func refusal(_ reason: String) -> CaravanError { CaravanError(.schemaNotAdditive, reason) }

  // MARK: Fields before the cloud knows them

  /// Ids of fields that the cloud has yet to number; it gives none so high.
  private static let firstProvisional: UInt32 = 0xFFFF_0000

  /// The record type with a field for each column, those that it lacks under ids that only this device knows.
  public static func provisional(_ type: RecordType, for schema: SchemaText) -> RecordType {
    var extended = type
    extended.fields += schema.fields { firstProvisional + UInt32($0) }.filter { type.field(named: $0.name) == nil }
    return extended
  }

  /// Whether the cloud has numbered all fields.
  public static func isAgreed(_ type: RecordType) -> Bool { type.fields.allSatisfy { $0.id < firstProvisional } }
}
