import CaravanModel
import CaravanSchemaCore
import CaravanWire

/// What a registry remembers of its types' grants, so that it need not read all types for them.
struct GrantedNames: Hashable {
  /// Names of types whose grants are not the standard ones.
  var types: [String] = []
  /// Roles of the container's own to which a type grants something, by the type's name.
  var roles: [String: [String]] = [:]

  var ownRoles: [String] { Set(roles.values.joined()).sorted() }

  /// - Parameter removed: names of types that are no more.
  /// - Throws: `limitExceeded`.
  func after(_ added: [CaravanModel.RecordType], removed: [String]) throws(CaravanError) -> GrantedNames {
    var names = self
    names.types.removeAll { removed.contains($0) }
    for name in removed { names.roles[name] = nil }
    for type in added { names.types = try Registry.granted(names.types, after: type) }
    names.roles = try Registry.ownRoles(names.roles, after: added)
    return names
  }
}

/// How the registry lies in storage: records of the zone `schema` of a container's public database.
///
/// - `type.<id>`: one immutable record type. Field 1: an encoded `RecordType`.
/// - `head.<name in lower case>`: the versions of a name. Field 1: their ids as text, oldest first; field 2: 1 where
///   the type was removed, and not made again.
/// - `counter`: field 1: how many types there are; field 2: their bytes, as far as they were counted.
/// - `grants`: field 1: names of types whose grants are not the standard ones, as text; field 2: roles of the
///   container's own to which types grant something, as text: a line a type, its name and then those.
/// - `history`: how the latest schema came from the one before. Field 1: an encoded `SchemaChange`. Those before it lie
///   under `schema.<id>` in a zone of their own, so that it costs nothing how many there are.
/// - `retired`: field 1: types that were removed, as text: a line a name, which is followed by their ids.
/// - `template.<name in lower case>`: field 1: an encoded `SubscriptionTemplate`. Where it was removed, that has only a
///   version, and field 2 is 1. Earlier ones stand in the history.
/// - `settings`: field 1: encoded `ContainerSettings`, written once.
enum SchemaRecords {
  static let zone = "schema"
  static let historyZone = "schema-history"
  static let settings = "settings"
  static let counter = "counter"
  static let grants = "grants"
  static let history = "history"
  static let retired = "retired"
  /// As whom the registry asks what became of the zone.
  static let reader = "@schema"
  private static let content: UInt32 = 1
  private static let removal: UInt32 = 2
  private static let size: UInt32 = 2
  private static let ownRoles: UInt32 = 2
  private static let typePrefix = "type."
  private static let headPrefix = "head."
  private static let templatePrefix = "template."

  static func typeName(_ id: UInt32) -> String { "\(typePrefix)\(id)" }
  static func headName(_ name: String) -> String { "\(headPrefix)\(name.lowercased())" }
  static func templateName(_ name: String) -> String { "\(templatePrefix)\(name.lowercased())" }
  static func changeName(_ id: UInt32) -> String { "schema.\(id)" }

  static func isType(_ entry: CaravanModel.Entry) -> Bool { entry.name.hasPrefix(typePrefix) }
  /// In lower case; nil: the record is no name's.
  static func key(ofHead entry: CaravanModel.Entry) -> String? {
    entry.name.hasPrefix(headPrefix) ? String(entry.name.dropFirst(headPrefix.count)) : nil
  }

  /// In lower case; nil: the record is no template.
  static func key(ofTemplate entry: CaravanModel.Entry) -> String? {
    entry.name.hasPrefix(templatePrefix) ? String(entry.name.dropFirst(templatePrefix.count)) : nil
  }

  static func body(of template: TemplateState) -> [UInt8] {
    let wire =
      template.latest.map { CaravanWire.SubscriptionTemplate($0) }
      ?? CaravanWire.SubscriptionTemplate(version: template.version)
    var fields = RecordFields([content: .data(wire.encoded())])
    if template.latest == nil { fields[removal] = .integer(1) }
    return fields.body
  }

  static func template(_ entry: CaravanModel.Entry) throws(CaravanError) -> TemplateState {
    let fields = try RecordFields(body: entry.body)
    guard case .data(let bytes) = fields[content] else { throw damaged(entry) }
    let template = try CaravanWire.SubscriptionTemplate.decode(bytes).model()
    return TemplateState(version: template.version, latest: fields[removal] == .integer(1) ? nil : template)
  }

  static func body(of type: CaravanModel.RecordType) -> [UInt8] {
    RecordFields([content: .data(CaravanWire.RecordType(type).encoded())]).body
  }

  static func body(ofVersions ids: [UInt32], isRemoved: Bool) -> [UInt8] {
    var fields = RecordFields([content: .text(ids.map(String.init).joined(separator: " "))])
    if isRemoved { fields[removal] = .integer(1) }
    return fields.body
  }

  static func body(ofRetired types: [CaravanModel.RetiredType]) -> [UInt8] {
    let lines = types.map { ([$0.name] + $0.versions.map(String.init)).joined(separator: " ") }
    return RecordFields([content: .text(lines.joined(separator: "\n"))]).body
  }

  static func retired(_ entry: CaravanModel.Entry) throws(CaravanError) -> [CaravanModel.RetiredType] {
    guard case .text(let text) = try RecordFields(body: entry.body)[content] else { throw damaged(entry) }
    return text.split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      return CaravanModel.RetiredType(
        name: String(words.first ?? ""), versions: words.dropFirst().compactMap { UInt32($0) })
    }
  }

  static func body(of change: CaravanModel.SchemaChange) -> [UInt8] {
    RecordFields([content: .data(CaravanWire.SchemaChange(change).encoded())]).body
  }

  static func change(_ entry: CaravanModel.Entry) throws(CaravanError) -> CaravanModel.SchemaChange {
    guard case .data(let bytes) = try RecordFields(body: entry.body)[content] else { throw damaged(entry) }
    return try CaravanWire.SchemaChange.decode(bytes).model()
  }

  static func body(ofCounter count: UInt32, bytes: Int) -> [UInt8] {
    RecordFields([content: .integer(Int64(count)), size: .integer(Int64(bytes))]).body
  }

  static func body(of granted: GrantedNames) -> [UInt8] {
    var fields = RecordFields([content: .text(granted.types.joined(separator: " "))])
    let lines = granted.roles.sorted { $0.key < $1.key }.map { ([$0.key] + $0.value).joined(separator: " ") }
    if !lines.isEmpty { fields[ownRoles] = .text(lines.joined(separator: "\n")) }
    return fields.body
  }

  static func granted(_ entry: CaravanModel.Entry) throws(CaravanError) -> GrantedNames {
    let fields = try RecordFields(body: entry.body)
    guard case .text(let text) = fields[content] else { throw damaged(entry) }
    var granted = GrantedNames(types: text.split(separator: " ").map(String.init))
    guard case .text(let lines) = fields[ownRoles] else { return granted }
    for line in lines.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      granted.roles[words.first ?? ""] = Array(words.dropFirst())
    }
    return granted
  }

  static func type(_ entry: CaravanModel.Entry) throws(CaravanError) -> CaravanModel.RecordType {
    guard case .data(let bytes) = try RecordFields(body: entry.body)[content] else { throw damaged(entry) }
    return try CaravanWire.RecordType.decode(bytes).model()
  }

  static func versions(_ entry: CaravanModel.Entry) throws(CaravanError) -> (ids: [UInt32], isRemoved: Bool) {
    let fields = try RecordFields(body: entry.body)
    guard case .text(let text) = fields[content] else { throw damaged(entry) }
    let words = text.split(separator: " ")
    let ids = words.compactMap { UInt32($0) }
    guard !ids.isEmpty, ids.count == words.count else { throw damaged(entry) }
    return (ids, fields[removal] == .integer(1))
  }

  static func counter(_ entry: CaravanModel.Entry) throws(CaravanError) -> (count: UInt32, bytes: Int) {
    let fields = try RecordFields(body: entry.body)
    guard case .integer(let number) = fields[content], let count = UInt32(exactly: number) else {
      throw damaged(entry)
    }
    if case .integer(let bytes) = fields[size] { return (count, Int(clamping: bytes)) }
    return (count, 0)
  }

  static func body(of settings: CaravanModel.ContainerSettings) -> [UInt8] {
    RecordFields([content: .data(CaravanWire.ContainerSettings(settings).encoded())]).body
  }

  static func settings(_ entry: CaravanModel.Entry) throws(CaravanError) -> CaravanModel.ContainerSettings {
    guard case .data(let bytes) = try RecordFields(body: entry.body)[content] else { throw damaged(entry) }
    return try CaravanWire.ContainerSettings.decode(bytes).model()
  }

  static func damaged(_ entry: CaravanModel.Entry) -> CaravanError {
    CaravanError(.internalError, "record '\(entry.name)' of the schema zone is not as the registry writes it")
  }
}
