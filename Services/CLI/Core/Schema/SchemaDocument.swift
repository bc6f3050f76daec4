public import CaravanModel

/// A container's schema as a text that people keep with their app's source: CloudKit's schema language, and what
/// Caravan says of a type beside it.
///
///     DEFINE SCHEMA
///
///     CREATE ROLE curators;
///
///     RECORD TYPE photos (
///         name  STRING QUERYABLE SORTABLE SEARCHABLE,
///         photo ASSET,
///         GRANT READ TO "_world",
///         GRANT READ, WRITE TO "curators"
///     ) WITH (conflicts fieldMerge, ttl 30d);
///
///     TEMPLATE named ON photos
///         WHERE 'name = ?'
///         EVENTS enters
///         TITLE KEY 'NEW_PHOTO' (name);
///
/// Grammar, keywords in any case, `//` and `--` to the end of the line and `/* */` are comments:
///
///     schema  = "DEFINE" "SCHEMA" *((role / type / template) ";")
///     role    = "CREATE" "ROLE" name
///     type    = "RECORD" "TYPE" name "(" item *("," item) ")" ["WITH" "(" setting *("," setting) ")"]
///     item    = name kind *("QUERYABLE" / "SORTABLE" / "SEARCHABLE") / "GRANT" right *("," right) "TO" name
///     kind    = ["ENCRYPTED"] (value / "LIST" "<" value ">")
///     value   = "ASSET" / "BYTES" / "DOUBLE" / "INT64" / "LOCATION" / "REFERENCE" / "STRING" / "TIMESTAMP"
///             / "NUMBER" ["PREFERRED" "AS" ("INT64" / "DOUBLE" / "TIMESTAMP")]
///     right   = "READ" / "CREATE" / "WRITE"
///     setting = word word                             as `caravan schema set` names and takes them; `grants nothing`
///     name    = word / DQUOTE 1*character DQUOTE
///     template = "TEMPLATE" name "ON" name *clause        each clause once, in any order
///     clause  = "WHERE" text / "EVENTS" event *("," event) / ("TITLE" / "BODY") text / "BADGE" / "SOUND" text
///             / ("TITLE" / "BODY") "KEY" text ["(" name *("," name) ")"] / "FIELDS" name *("," name)
///     event   = "enters" / "leaves" / "changes"           without the clause: all of them
///     text    = "'" *character "'"                        a quote in it is written twice
///
/// A field without words behind its kind is not queried. A type without grants has the usual ones, and one without
/// settings behaves as usual: the text says all that is otherwise. Fields that every record has (`___createTime` and
/// others) may stand in it, and say nothing. A template without what notifications show makes silent subscriptions.
/// Roles of the container's own are created in the text, wherever in it, and each is granted something by a type: who
/// has them is no part of the schema.
public struct SchemaDocument: Sendable, Hashable {
  /// Of the text.
  public static let maximumBytes = 1 << 20
  /// Types of one text: as many as one change writes.
  public static let maximumTypes = 190
  /// Templates of one text: as many as a container has.
  public static let maximumTemplates = 100

  /// In the order in which they stand. Their ids are 0, and everything that can be left open is said.
  public let types: [RecordType]
  /// In the order in which they stand. Their versions are 0.
  public let templates: [SubscriptionTemplate]

  /// - Throws: `schemaViolation` with line and column (in characters, from 1), what was found there and what is
  ///   expected; `limitExceeded`; `featureDisabled` for what Caravan does not have.
  public init(parsing text: String) throws(CaravanError) {
    guard text.utf8.count <= Self.maximumBytes else {
      throw CaravanError(
        .limitExceeded, "the schema's text has \(text.utf8.count) bytes: the limit is \(Self.maximumBytes)")
    }
    var parser = try SchemaDocumentParser(text)
    (types, templates) = try parser.document()
  }

  /// What a registry has.
  public init(_ types: [RecordType], templates: [SubscriptionTemplate] = []) {
    self.templates = templates.map(\.withoutVersion)
    self.types = types.map { type in
      var type = type
      (type.id, type.definition) = (0, 0)
      (type.settings, type.grants) = (type.settings ?? TypeSettings(), type.grants ?? .standard)
      for index in type.fields.indices {
        type.fields[index].id = 0
        type.fields[index].indexes = type.fields[index].effectiveIndexes
      }
      return type
    }
  }
}

// MARK: The text

extension SchemaDocument: CustomStringConvertible {
  /// Parses to the same value; two schemas that are the same have the same text.
  public var description: String {
    "DEFINE SCHEMA\n"
      + (roles.map { "CREATE ROLE \($0.quotedIfNeeded);" } + types.sorted { $0.name < $1.name }.map(\.declaration)
      + templates.sorted { $0.name < $1.name }.map(\.declaration)).map { "\n\($0)\n" }.joined()
  }

  /// Of the container's own, in order.
  private var roles: [String] { Set(types.flatMap { $0.grants?.ownRoles ?? [] }).sorted() }

  /// What is otherwise here than in `old`.
  public func differences(from old: SchemaDocument) -> [SchemaDifference] {
    SchemaDifference.between(old.types, types) + SchemaDifference.between(old.templates, templates)
  }
}

extension RecordType {
  fileprivate var declaration: String {
    let names = fields.map(\.name.quotedIfNeeded)
    let width = names.map(\.count).max() ?? 0
    var items = zip(names, fields).map { name, field in
      ([name + String(repeating: " ", count: width - name.count), field.kindText] + field.indexWords)
        .joined(separator: " ")
    }
    let grants = grants ?? .standard
    for role in grants.roles where !grants[role].isEmpty {
      let rights = TypeGrants.Rights.words.filter { grants[role].contains($0.right) }.map { $0.word.uppercased() }
      items.append("GRANT \(rights.joined(separator: ", ")) TO \"\(role.schemaName)\"")
    }
    var settings = [SchemaSettings.text(settings ?? TypeSettings())].filter { !$0.isEmpty }
    if grants.roles.allSatisfy({ grants[$0].isEmpty }) { settings.append(SchemaSettings.noGrants) }
    let with = settings.isEmpty ? "" : " WITH (\(settings.joined(separator: ", ")))"
    return "RECORD TYPE \(name.quotedIfNeeded) (\n    " + items.joined(separator: ",\n    ") + "\n)\(with);"
  }
}

extension SubscriptionTemplate {
  fileprivate var declaration: String {
    let first = "TEMPLATE \(name.quotedIfNeeded) ON \(type.quotedIfNeeded)"
    return ([first] + clauses(\.quotedIfNeeded)).joined(separator: "\n    ") + ";"
  }
}

extension FieldDefinition {
  fileprivate var kindText: String {
    (isEncrypted ? "ENCRYPTED " : "") + (isList ? "LIST<\(kind.documentWord)>" : kind.documentWord)
  }

  fileprivate var indexWords: [String] {
    FieldIndexes.words.filter { effectiveIndexes.contains($0.index) }.map { $0.word.uppercased() }
  }
}

extension String {
  /// Words of the language are no names there.
  fileprivate var quotedIfNeeded: String { SchemaDocumentParser.isKeyword(self) ? "\"\(self)\"" : self }
}

extension FieldKind {
  var documentWord: String {
    switch self {
    case .text: "STRING"
    case .integer: "INT64"
    case .real: "DOUBLE"
    case .data: "BYTES"
    case .object: "ASSET"
    case .date: "TIMESTAMP"
    case .location: "LOCATION"
    case .reference: "REFERENCE"
    }
  }
}

extension TypeGrants.Role {
  /// As CloudKit calls it, which has none for server apps.
  var schemaName: String {
    switch self {
    case .world: "_world"
    case .authenticated: "_icloud"
    case .creator: "_creator"
    case .server: "_server"
    case .own(let name): name
    }
  }
}
