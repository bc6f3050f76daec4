/// A table's schema as apps write it: `name VARCHAR, date INTEGER, location FLOAT, photo OBJECT` (SIM-10).
///
/// Grammar, keywords in any case:
///
///     schema = column *("," column)
///     column = name type ["PRIMARY" "KEY"]
///     name   = letter *(letter / digit / "_")          1 to 64 characters, not quoted, not starting with "_"
///     type   = word ["(" number *("," number) ")"]     the lengths are taken and, as in SQLite, not enforced
///
/// Two names that differ in case only are the same name. At most one column is the primary key, and it is a text or an
/// integer: the row's id is derived from it (SIM-33).
public struct SchemaText: Sendable, Hashable, CustomStringConvertible {
  /// A column of an app's table.
  public struct Column: Sendable, Hashable {
    /// As it is written; SQL compares it without case.
    public let name: String
    /// What its cells hold.
    public let kind: FieldKind
    /// Its cells differ from each other, and are never null.
    public let isPrimaryKey: Bool

    /// A column; one of a table may be its primary key.
    public init(name: String, kind: FieldKind, isPrimaryKey: Bool = false) {
      self.name = name
      self.kind = kind
      self.isPrimaryKey = isPrimaryKey
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
    columns.map { "\($0.name) \($0.kind.schemaWord)\($0.isPrimaryKey ? " PRIMARY KEY" : "")" }.joined(separator: ", ")
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

  /// The kind that a SQL type name means, in any case; nil for a name that is not one. Tables have no columns of the
  /// kinds that SQL has no type for.
  public init?(schemaWord word: String) {
    switch word.uppercased() {
    case "VARCHAR", "TEXT", "STRING", "CHAR", "CLOB": self = .text
    case "INTEGER", "INT", "BIGINT", "SMALLINT", "TINYINT", "BOOLEAN", "BOOL": self = .integer
    case "FLOAT", "REAL", "DOUBLE": self = .real
    case "BLOB", "BYTES", "BINARY", "VARBINARY": self = .data
    case "OBJECT": self = .object
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

  private static let types = "VARCHAR, INTEGER, FLOAT, BLOB or OBJECT"
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
    guard case .word(let word) = token, let kind = FieldKind(schemaWord: word) else {
      throw unexpected("a type for column '\(name)' (\(Self.types))")
    }
    advance()
    if token == .symbol(UInt8(ascii: "(")) { try lengths() }
    let isKey = try primaryKey(of: name, kind)
    return SchemaText.Column(name: name, kind: kind, isPrimaryKey: isKey)
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

  private mutating func primaryKey(of name: String, _ kind: FieldKind) throws(CaravanError) -> Bool {
    guard case .word(let word) = token else { return false }
    let start = tokenStart
    guard word.uppercased() == "PRIMARY" else { throw unexpected("PRIMARY KEY, ',' or the end after column '\(name)'") }
    advance()
    guard case .word(let next) = token, next.uppercased() == "KEY" else { throw unexpected("KEY after PRIMARY") }
    advance()
    switch kind {
    case .text, .integer: return true
    case .real, .data, .object, .date, .location, .reference:
      throw refusal(at: start, "column '\(name)' is \(kind.schemaWord): only VARCHAR or INTEGER can be PRIMARY KEY")
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
