public import CaravanModel

/// One change of a schema, for a person: what became of which schema, when, by whom, and line by line.
public enum SchemaChangeText {
  /// - Parameter time: when it was, in words.
  public static func heading(_ change: SchemaChange, _ environment: Environment, at time: String) -> String {
    let device = change.author.device.isEmpty ? "" : " on \(change.author.device)"
    let author = change.author.user.map { "\($0.text)\(device)" } ?? "the operator"
    return "\(environment.rawValue) schema \(change.id), \(time), by \(author): \(cause(change))"
  }

  private static func cause(_ change: SchemaChange) -> String {
    switch change.cause {
    case .inferred: "inferred from an app's table"
    case .said: "said"
    case .removed: "removed"
    case .promoted: "promoted from development schema \(change.source)"
    case .reset: "reset to production schema \(change.source)"
    case .imported: "imported"
    }
  }

  /// One line each, indented.
  public static func lines(_ differences: [SchemaDifference]) -> String {
    differences.map { "  \($0)" }.joined(separator: "\n")
  }
}
