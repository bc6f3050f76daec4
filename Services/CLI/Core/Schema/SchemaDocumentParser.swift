import CaravanModel

/// One pass over a schema's text; every error says where it stands.
struct SchemaDocumentParser {
  private enum Token: Equatable {
    case word(String)
    case quoted(String)
    case text(String)
    case symbol(Character)
    case end

    var text: String {
      switch self {
      case .word(let word), .quoted(let word), .text(let word): "'\(word.prefix(80))'"
      case .symbol(let symbol): "'\(symbol)'"
      case .end: "the end"
      }
    }
  }

  private static let kinds: [String: FieldKind] = [
    "ASSET": .object, "BYTES": .data, "DOUBLE": .real, "INT64": .integer, "LOCATION": .location,
    "REFERENCE": .reference, "STRING": .text, "TIMESTAMP": .date,
  ]
  private static let keywords: Set<String> = [
    "DEFINE", "SCHEMA", "RECORD", "TYPE", "GRANT", "TO", "CREATE", "ROLE", "WITH", "LIST", "ENCRYPTED", "NUMBER",
    "PREFERRED", "AS", "QUERYABLE", "SORTABLE", "SEARCHABLE", "READ", "WRITE",
  ]
  /// Fields that every record has begin so.
  private static let systemPrefix = "___"

  static func isKeyword(_ name: String) -> Bool {
    keywords.contains(name.uppercased()) || kinds[name.uppercased()] != nil
  }

  private let characters: [Character]
  private var position = 0
  private(set) var tokenStart = 0
  private var token = Token.end
  /// Roles of the container's own, and where each stands first: created, and in grants.
  private var createdRoles: [String: Int] = [:]
  private var grantedRoles: [String: Int] = [:]

  init(_ text: String) throws(CaravanError) {
    characters = Array(text)
    try advance()
  }

  mutating func document() throws(CaravanError) -> (types: [RecordType], templates: [SubscriptionTemplate]) {
    try keyword("DEFINE", "DEFINE SCHEMA, with which a schema begins")
    try keyword("SCHEMA", "SCHEMA after DEFINE")
    var types: [RecordType] = []
    var templates: [SubscriptionTemplate] = []
    var names: Set<String> = []
    while token != .end {
      let start = tokenStart
      if try takes("CREATE") {
        try role()
        continue
      }
      let kind: String
      let name: String
      if try takes("TEMPLATE") {
        templates.append(try template())
        (kind, name) = ("template", templates.last?.name ?? "")
      } else {
        try keyword("RECORD", "CREATE ROLE, RECORD TYPE, TEMPLATE or the end")
        try keyword("TYPE", "TYPE after RECORD")
        types.append(try recordType())
        (kind, name) = ("record type", types.last?.name ?? "")
      }
      guard names.insert("\(kind) \(name.lowercased())").inserted else {
        throw refusal(at: start, "\(kind) '\(name)' stands twice (case does not count): leave one out")
      }
      guard types.count <= SchemaDocument.maximumTypes, templates.count <= SchemaDocument.maximumTemplates else {
        throw CaravanError(
          .limitExceeded,
          "the schema has more than \(SchemaDocument.maximumTypes) record types, or more than "
            + "\(SchemaDocument.maximumTemplates) templates: import it in parts")
      }
      try symbol(";", "';' after \(kind) '\(name)'")
    }
    try checkRoles()
    return (types, templates)
  }

  // MARK: Roles

  private mutating func role() throws(CaravanError) {
    try keyword("ROLE", "ROLE after CREATE")
    let start = tokenStart
    let name = try name("the role's name")
    do { try OwnRole.check(name) } catch { throw refusal(at: start, error.message) }
    guard createdRoles.updateValue(start, forKey: name) == nil else {
      throw refusal(at: start, "role '\(name)' stands twice: leave one out")
    }
    guard createdRoles.count <= Limits.ownRoles else {
      throw CaravanError(.limitExceeded, "the schema has more than \(Limits.ownRoles) roles of its own")
    }
    try symbol(";", "';' after role '\(name)'")
  }

  /// A role is there wherever a type grants it something, and a name that is nowhere created is a slip of the pen.
  private func checkRoles() throws(CaravanError) {
    if let (name, start) = grantedRoles.first(where: { createdRoles[$0.key] == nil }) {
      throw refusal(
        at: start,
        "there is no role '\(name.prefix(80))': create it (CREATE ROLE \(name.prefix(80));), or use "
          + TypeGrants.Role.standard.map { "\"\($0.schemaName)\"" }.joined(separator: ", "))
    }
    if let (name, start) = createdRoles.first(where: { grantedRoles[$0.key] == nil }) {
      throw refusal(at: start, "no type grants role '\(name)' anything: grant it something, or leave it out")
    }
  }

  // MARK: Types

  private mutating func recordType() throws(CaravanError) -> RecordType {
    let name = try name("the record type's name")
    try symbol("(", "'(' after the name of record type '\(name)'")
    var type = RecordType(id: 0, definition: 0, name: name, fields: [], settings: TypeSettings())
    var granted: [(role: TypeGrants.Role, rights: TypeGrants.Rights, start: Int)] = []
    repeat {
      if isKeyword("GRANT") {
        granted.append(try grant())
      } else if let field = try field() {
        let isNew = !type.fields.contains { $0.name.lowercased() == field.name.lowercased() }
        guard isNew else {
          throw refusal(at: tokenStart, "field '\(field.name)' stands twice before here: rename or remove one")
        }
        type.fields.append(field)
        guard type.fields.count <= Limits.fieldsPerType else {
          throw CaravanError(
            .limitExceeded, "record type '\(name)' has more than \(Limits.fieldsPerType) fields: divide it")
        }
      }
    } while try comma()
    try symbol(")", "',' or ')' after an item of record type '\(name)'")
    guard !type.fields.isEmpty else {
      throw refusal(at: tokenStart, "record type '\(name)' has no field of its own: give it one")
    }
    type.grants = try grants(granted)
    if isKeyword("WITH") { try settings(of: &type, areGranted: !granted.isEmpty) }
    return type
  }

  /// nil: one that every record has.
  private mutating func field() throws(CaravanError) -> FieldDefinition? {
    let name = try name("a field's name, or GRANT")
    let isEncrypted = try takes("ENCRYPTED")
    let isList = try takes("LIST")
    if isList { try symbol("<", "'<' after LIST") }
    let kind = try kind(of: name)
    if isList { try symbol(">", "'>' after what the list has") }
    var indexes: FieldIndexes = []
    while let index = FieldIndexes.words.first(where: { isKeyword($0.word.uppercased()) })?.index {
      indexes.insert(index)
      try advance()
    }
    guard !name.hasPrefix(Self.systemPrefix) else { return nil }
    return FieldDefinition(
      id: 0, name: name, kind: kind, isList: isList, isEncrypted: isEncrypted, indexes: indexes)
  }

  private mutating func kind(of field: String) throws(CaravanError) -> FieldKind {
    if try takes("NUMBER") {
      guard try takes("PREFERRED") else { return .real }
      try keyword("AS", "AS after PREFERRED")
      guard case .word(let word) = token, let kind = Self.kinds[word.uppercased()],
        [.integer, .real, .date].contains(kind)
      else { throw unexpected("INT64, DOUBLE or TIMESTAMP") }
      try advance()
      return kind
    }
    guard case .word(let word) = token, let kind = Self.kinds[word.uppercased()] else {
      throw unexpected("what field '\(field)' holds: NUMBER, \(Self.kinds.keys.sorted().joined(separator: ", "))")
    }
    try advance()
    return kind
  }

  private mutating func grant() throws(CaravanError) -> (role: TypeGrants.Role, rights: TypeGrants.Rights, start: Int) {
    let start = tokenStart
    try keyword("GRANT", "GRANT")
    var rights: TypeGrants.Rights = []
    repeat {
      guard let right = TypeGrants.Rights.words.first(where: { isKeyword($0.word.uppercased()) })?.right else {
        throw unexpected("READ, CREATE or WRITE")
      }
      rights.insert(right)
      try advance()
    } while try comma()
    try keyword("TO", "TO and a role")
    let name = try name("a role")
    let role = TypeGrants.Role.standard.first { $0.schemaName == name } ?? .own(name)
    if case .own = role { grantedRoles[name] = grantedRoles[name] ?? start }
    return (role, rights, start)
  }

  private func grants(
    _ granted: [(role: TypeGrants.Role, rights: TypeGrants.Rights, start: Int)]
  ) throws(CaravanError) -> TypeGrants {
    guard !granted.isEmpty else { return .standard }
    var grants = TypeGrants.standard
    for role in TypeGrants.Role.standard + granted.map(\.role) {
      let said = granted.filter { $0.role == role }
      // Whether there is such a role at all is seen when the whole text is read.
      if case .own(let name) = role, (try? OwnRole.check(name)) == nil { continue }
      do { try grants.grant(said.reduce([]) { $0.union($1.rights) }, to: role) } catch {
        throw refusal(at: said.first?.start ?? tokenStart, error.message)
      }
    }
    return grants
  }

  private mutating func settings(of type: inout RecordType, areGranted: Bool) throws(CaravanError) {
    try keyword("WITH", "WITH")
    try symbol("(", "'(' after WITH")
    var settings = TypeSettings()
    repeat {
      let start = tokenStart
      guard case .word(let name) = token else {
        throw unexpected("a setting: \(SchemaSettings.names.joined(separator: ", "))")
      }
      try advance()
      guard case .word(let value) = token else { throw unexpected("the value of \(name)") }
      if "\(name) \(value)".lowercased() == SchemaSettings.noGrants, !areGranted {
        for role in TypeGrants.Role.standard { try type.grants?.grant([], to: role) }
      } else {
        guard SchemaSettings.set(name.lowercased(), to: value, in: &settings) else {
          throw refusal(
            at: start,
            "there is no setting \(name.prefix(40)) '\(value.prefix(40))': use "
              + "\(SchemaSettings.names.joined(separator: ", ")), with values as caravan schema set takes them")
        }
      }
      try advance()
    } while try comma()
    try symbol(")", "',' or ')' after a setting")
    type.settings = settings
  }

  // MARK: Tokens

  func isKeyword(_ word: String) -> Bool {
    if case .word(let text) = token { text.uppercased() == word } else { false }
  }

  mutating func takes(_ word: String) throws(CaravanError) -> Bool {
    guard isKeyword(word) else { return false }
    try advance()
    return true
  }

  mutating func keyword(_ word: String, _ expected: String) throws(CaravanError) {
    guard try takes(word) else { throw unexpected(expected) }
  }

  mutating func symbol(_ symbol: Character, _ expected: String) throws(CaravanError) {
    guard token == .symbol(symbol) else { throw unexpected(expected) }
    try advance()
  }

  mutating func comma() throws(CaravanError) -> Bool { try takesSymbol(",") }

  mutating func takesSymbol(_ symbol: Character) throws(CaravanError) -> Bool {
    guard token == .symbol(symbol) else { return false }
    try advance()
    return true
  }

  mutating func name(_ expected: String) throws(CaravanError) -> String {
    switch token {
    case .quoted(let name):
      try advance()
      return name
    case .word(let name) where !Self.keywords.contains(name.uppercased()):
      try advance()
      return name
    case .word, .text, .symbol, .end: throw unexpected("\(expected) (in double quotes if it is a word of the language)")
    }
  }

  private mutating func advance() throws(CaravanError) {
    try skipBlanks()
    tokenStart = position
    guard position < characters.count else {
      token = .end
      return
    }
    let first = characters[position]
    if first == "\"" { return token = .quoted(try quoted()) }
    if first == "'" { return token = .text(try singleQuoted()) }
    guard Self.isWord(first) else {
      position += 1
      return token = .symbol(first)
    }
    while position < characters.count, Self.isWord(characters[position]) { position += 1 }
    token = .word(String(characters[tokenStart..<position]))
  }

  private mutating func quoted() throws(CaravanError) -> String {
    position += 1
    let start = position
    while position < characters.count, characters[position] != "\"", !characters[position].isNewline { position += 1 }
    guard position < characters.count, characters[position] == "\"", position > start else {
      throw refusal(at: tokenStart, "a name in double quotes has no end, or nothing in it")
    }
    position += 1
    return String(characters[start..<position - 1])
  }

  /// A quote that stands twice is one of the text.
  private mutating func singleQuoted() throws(CaravanError) -> String {
    var text = ""
    position += 1
    while position < characters.count {
      guard characters[position] == "'" else {
        text.append(characters[position])
        position += 1
        continue
      }
      position += 1
      guard position < characters.count, characters[position] == "'" else { return text }
      text.append("'")
      position += 1
    }
    throw refusal(at: tokenStart, "a text in single quotes has no end")
  }

  /// The next token, which is to be a text in single quotes.
  mutating func text(_ expected: String) throws(CaravanError) -> String {
    guard case .text(let text) = token else { throw unexpected("\(expected) in single quotes") }
    try advance()
    return text
  }

  private mutating func skipBlanks() throws(CaravanError) {
    while position < characters.count {
      if characters[position].isWhitespace {
        position += 1
      } else if begins("//") || begins("--") {
        while position < characters.count, !characters[position].isNewline { position += 1 }
      } else if begins("/*") {
        let start = position
        position += 2
        while position < characters.count, !begins("*/") { position += 1 }
        guard position < characters.count else { throw refusal(at: start, "a comment has no end: close it with */") }
        position += 2
      } else {
        return
      }
    }
  }

  private func begins(_ text: String) -> Bool {
    position + 1 < characters.count && String(characters[position...position + 1]) == text
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber) || character == "_" || character == "-"
  }

  func unexpected(_ expected: String) -> CaravanError {
    refusal(at: tokenStart, "expected \(expected), found \(token.text)")
  }

  func refusal(at offset: Int, _ message: String) -> CaravanError {
    CaravanError(.schemaViolation, "\(place(offset)): \(message)")
  }

  private func place(_ offset: Int) -> String {
    let before = characters[..<min(offset, characters.count)]
    let line = before.count { $0.isNewline } + 1
    let column = offset - (before.lastIndex { $0.isNewline } ?? -1)
    return "line \(line), column \(column)"
  }
}
