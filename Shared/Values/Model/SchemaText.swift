/// A table's schema as apps write it: `name VARCHAR, since DATE, tags LIST<VARCHAR>, photo OBJECT` (SIM-10).
///
/// Grammar, keywords in any case:
///
///     schema = column *("," column)
///     column = name (type / list) ["PRIMARY" "KEY"]
///     name   = letter *(letter / digit / "_")          1 to 64 characters, not quoted, not starting with "_"
///     type   = word ["(" number *("," number) ")"]     the lengths are taken and, as in SQLite, not enforced
///     list   = "LIST" "<" type ">"                     of any type but OBJECT
///
/// Two names that differ in case only are the same name. At most one column is the primary key, and it is a text or an
/// integer: the row's id is derived from it (SIM-33).
public struct SchemaText: Sendable, Hashable, CustomStringConvertible {
  /// A column of an app's table.
  public struct Column: Sendable, Hashable {
    /// As it is written; SQL compares it without case.
    public let name: String
    /// What its cells hold, or each member of their lists.
    public let kind: FieldKind
    /// Its cells are lists of values of `kind`.
    public let isList: Bool
    /// Its cells differ from each other, and are never null.
    public let isPrimaryKey: Bool

    /// A column; one of a table may be its primary key.
    public init(name: String, kind: FieldKind, isList: Bool = false, isPrimaryKey: Bool = false) {
      self.name = name
      self.kind = kind
      self.isList = isList
      self.isPrimaryKey = isPrimaryKey
    }

    /// The canonical spelling of its type: `INTEGER`, `LIST<DATE>`.
    public var typeText: String { isList ? "LIST<\(kind.schemaWord)>" : kind.schemaWord }
  }

  /// The fields of a record type with these columns.
  /// - Parameter id: of each column, by its place; 0: the registry is to give it one.
  public func fields(id: (Int) -> UInt32 = { _ in 0 }) -> [FieldDefinition] {
    columns.enumerated().map { place, column in
      FieldDefinition(id: id(place), name: column.name, kind: column.kind, isList: column.isList)
    }
  }

  /// Of the text.
  public static let maximumBytes = 32 << 10
  /// Of a column's name.
  public static let maximumNameBytes = 64

  /// In the order in which they are written.
  public let columns: [Column]

  /// Nil: rows are known by the ids that they are given.
  public var primaryKey: Column? { columns.first(where: \.isPrimaryKey) }
  /// The column that is spelled so; nil: there is none.
  public func column(named name: String) -> Column? { columns.first { $0.name == name } }

  /// - Throws: `schemaViolation` with the position (in bytes, from 1), what was found there and what is expected.
  public init(parsing text: String) throws(CaravanError) {
    guard text.utf8.count <= Self.maximumBytes else {
      throw CaravanError(
        .limitExceeded, "the schema has \(text.utf8.count) bytes: the limit is \(Self.maximumBytes), use fewer columns")
    }
    var parser = SchemaParser(text)
    columns = try parser.parse()
  }

  /// - Parameter columns: of a schema or of two, which has no name twice and one primary key at most.
  public init(columns: [Column]) { self.columns = columns }

  /// The schema in its one canonical spelling; parses to the same value.
  public var description: String {
    columns.map { "\($0.name) \($0.typeText)\($0.isPrimaryKey ? " PRIMARY KEY" : "")" }.joined(separator: ", ")
  }
}

extension FieldKind {
  /// The canonical type name in a schema's text.
  public var schemaWord: String {
    switch self {
    case .text: "VARCHAR"
    case .integer: "INTEGER"
    case .real: "FLOAT"
    case .data: "BLOB"
    case .object: "OBJECT"
    case .date: "DATE"
    case .location: "LOCATION"
    case .reference: "REFERENCE"
    }
  }

  /// The kind that a SQL type name means, in any case; nil for a name that is not one.
  public init?(schemaWord word: String) {
    switch word.uppercased() {
    case "VARCHAR", "TEXT", "STRING", "CHAR", "CLOB": self = .text
    case "INTEGER", "INT", "BIGINT", "SMALLINT", "TINYINT", "BOOLEAN", "BOOL": self = .integer
    case "FLOAT", "REAL", "DOUBLE": self = .real
    case "BLOB", "BYTES", "BINARY", "VARBINARY": self = .data
    case "OBJECT": self = .object
    case "DATE", "DATETIME", "TIMESTAMP": self = .date
    case "LOCATION": self = .location
    case "REFERENCE": self = .reference
    default: return nil
    }
  }
}

/// One pass over the bytes; every error says where it stands.
private struct SchemaParser {
  private enum Token: Equatable {
    case word(String)
    case number(String)
    case symbol(UInt8)
    case end

    var text: String {
      switch self {
      case .word(let word): "'\(word.prefix(80))'"
      case .number(let digits): "'\(digits.prefix(80))'"
      case .symbol(let byte): byte < 0x80 ? "'\(UnicodeScalar(byte))'" : "a character outside ASCII"
      case .end: "the end"
      }
    }
  }

  private static let listed = "VARCHAR, INTEGER, FLOAT, BLOB, DATE, LOCATION or REFERENCE"
  private static let types = "VARCHAR, INTEGER, FLOAT, BLOB, DATE, LOCATION, REFERENCE, OBJECT or LIST<...>"
  /// SQLite's own names for a row's number: a column of that name would hide it.
  private static let taken: Set<String> = ["rowid", "oid"]

  private let bytes: [UInt8]
  private var position = 0
  private var tokenStart = 0
  private var token = Token.end

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func parse() throws(CaravanError) -> [SchemaText.Column] {
    advance()
    var columns: [SchemaText.Column] = []
    var names: Set<String> = []
    while true {
      let start = tokenStart
      let column = try column()
      guard names.insert(column.name.lowercased()).inserted else {
        throw refusal(at: start, "column '\(column.name)' stands twice (case does not count): rename or remove one")
      }
      if column.isPrimaryKey, columns.contains(where: \.isPrimaryKey) {
        throw refusal(at: start, "'\(column.name)' is a second PRIMARY KEY: a table has at most one")
      }
      columns.append(column)
      guard columns.count <= Limits.fieldsPerType else {
        throw CaravanError(
          .limitExceeded, "the schema has more than \(Limits.fieldsPerType) columns: split the table")
      }
      if token == .end { return columns }
      try expect(.symbol(UInt8(ascii: ",")), "',' or the end after column '\(column.name)'")
    }
  }

  private mutating func column() throws(CaravanError) -> SchemaText.Column {
    let name = try name()
    let isList = if case .word(let word) = token { word.uppercased() == "LIST" } else { false }
    let kind = isList ? try listedKind(of: name) : try kind("a type for column '\(name)' (\(Self.types))")
    let isKey = try primaryKey(of: SchemaText.Column(name: name, kind: kind, isList: isList))
    return SchemaText.Column(name: name, kind: kind, isList: isList, isPrimaryKey: isKey)
  }

  private mutating func kind(_ expected: String) throws(CaravanError) -> FieldKind {
    guard case .word(let word) = token, let kind = FieldKind(schemaWord: word) else { throw unexpected(expected) }
    advance()
    if token == .symbol(UInt8(ascii: "(")) { try lengths() }
    return kind
  }

  /// `LIST<VARCHAR>`.
  private mutating func listedKind(of name: String) throws(CaravanError) -> FieldKind {
    advance()
    try expect(.symbol(UInt8(ascii: "<")), "'<' after LIST of column '\(name)': write LIST<VARCHAR>")
    let start = tokenStart
    let kind = try kind("what the lists of column '\(name)' hold (\(Self.listed))")
    guard kind != .object else {
      throw refusal(at: start, "column '\(name)' is a list of OBJECT, and a list holds \(Self.listed)")
    }
    try expect(.symbol(UInt8(ascii: ">")), "'>' behind what the lists of column '\(name)' hold")
    return kind
  }

  private mutating func name() throws(CaravanError) -> String {
    let start = tokenStart
    guard case .word(let name) = token else {
      throw unexpected("a column name (letters, digits and '_', not quoted, beginning with a letter)")
    }
    guard !name.hasPrefix("_") else {
      throw refusal(at: start, "column '\(name.prefix(80))' begins with '_', which is reserved: rename it")
    }
    guard name.utf8.count <= SchemaText.maximumNameBytes else {
      throw refusal(
        at: start, "a column name has \(name.utf8.count) characters: the limit is \(SchemaText.maximumNameBytes)")
    }
    guard !Self.taken.contains(name.lowercased()) else {
      throw refusal(at: start, "column '\(name)' has a name the store needs for itself: rename it")
    }
    advance()
    return name
  }

  /// `(80)` or `(10, 2)`.
  private mutating func lengths() throws(CaravanError) {
    repeat {
      advance()
      guard case .number = token else { throw unexpected("a length") }
      advance()
    } while token == .symbol(UInt8(ascii: ","))
    try expect(.symbol(UInt8(ascii: ")")), "')' after the length")
  }

  private mutating func primaryKey(of column: SchemaText.Column) throws(CaravanError) -> Bool {
    guard case .word(let word) = token else { return false }
    let start = tokenStart
    guard word.uppercased() == "PRIMARY" else {
      throw unexpected("PRIMARY KEY, ',' or the end after column '\(column.name)'")
    }
    advance()
    guard case .word(let next) = token, next.uppercased() == "KEY" else { throw unexpected("KEY after PRIMARY") }
    advance()
    switch column.kind {
    case .text where !column.isList, .integer where !column.isList: return true
    case .text, .integer, .real, .data, .object, .date, .location, .reference:
      throw refusal(
        at: start, "column '\(column.name)' is \(column.typeText): only VARCHAR or INTEGER can be PRIMARY KEY")
    }
  }

  private mutating func expect(_ wanted: Token, _ description: String) throws(CaravanError) {
    guard token == wanted else { throw unexpected(description) }
    advance()
  }

  private mutating func advance() {
    while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
    tokenStart = position
    guard position < bytes.count else {
      token = .end
      return
    }
    let first = bytes[position]
    guard Self.isWord(first) else {
      position += 1
      token = .symbol(first)
      return
    }
    while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
    let text = String(decoding: bytes[tokenStart..<position], as: UTF8.self)
    token = Self.isDigit(first) ? .number(text) : .word(text)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  private static func isWord(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x61...0x7a).contains(byte | 0x20) || byte == 0x5f
  }

  private func unexpected(_ expected: String) -> CaravanError {
    refusal(at: tokenStart, "expected \(expected), found \(token.text)")
  }

  private func refusal(at offset: Int, _ message: String) -> CaravanError {
    CaravanError(.schemaViolation, "schema, position \(offset + 1): \(message)")
  }
}
