/// What queries may do with a field (CK-91).
public struct FieldIndexes: OptionSet, Sendable, Hashable {
  /// One bit each, as messages carry them.
  public let rawValue: UInt8
  /// - Parameter rawValue: 1 queryable, 2 sortable, 4 searchable.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Compare the field with something.
  public static let queryable = FieldIndexes(rawValue: 1)
  /// Sort by the field.
  public static let sortable = FieldIndexes(rawValue: 2)
  /// Look for words in the field.
  public static let searchable = FieldIndexes(rawValue: 4)
}

extension FieldIndexes: CustomStringConvertible {
  /// The words for them, in the order in which they are said.
  public static let words: [(word: String, index: FieldIndexes)] = [
    ("queryable", .queryable), ("sortable", .sortable), ("searchable", .searchable),
  ]

  /// `queryable+sortable`, or `nothing`.
  public var description: String {
    let words = Self.words.filter { contains($0.index) }.map(\.word)
    return words.isEmpty ? "nothing" : words.joined(separator: "+")
  }
}

extension FieldDefinition {
  /// Those that a field of its kind can have. Objects are not compared, nor is what only devices can read; places have
  /// no order.
  public var possibleIndexes: FieldIndexes {
    guard !isEncrypted, kind != .object else { return [] }
    let words: FieldIndexes = kind == .text ? .searchable : []
    return isList || kind == .location ? words.union(.queryable) : words.union([.queryable, .sortable])
  }

  /// Those that it has.
  public var effectiveIndexes: FieldIndexes { indexes ?? possibleIndexes }
}
