import CaravanModel
import CaravanSchemaCore
import CaravanWire

/// How the registry lies in storage: records of the zone `schema` of a container's public database.
///
/// - `type.<id>`: one immutable record type. Field 1: an encoded `RecordType`.
/// - `head.<name in lower case>`: the versions of a name. Field 1: their ids as text, oldest first.
/// - `counter`: field 1: how many types there are.
/// - `grants`: field 1: names of types whose grants are not the standard ones, as text.
/// - `settings`: field 1: encoded `ContainerSettings`, written once.
enum SchemaRecords {
  static let zone = "schema"
  static let settings = "settings"
  static let counter = "counter"
  static let grants = "grants"
  /// As whom the registry asks what became of the zone.
  static let reader = "@schema"
  private static let content: UInt32 = 1

  static func typeName(_ id: UInt32) -> String { "type.\(id)" }
  static func headName(_ name: String) -> String { "head.\(name.lowercased())" }

  static func body(of type: CaravanModel.RecordType) -> [UInt8] {
    RecordFields([content: .data(CaravanWire.RecordType(type).encoded())]).body
  }

  static func body(ofVersions ids: [UInt32]) -> [UInt8] {
    RecordFields([content: .text(ids.map(String.init).joined(separator: " "))]).body
  }

  static func body(ofCounter count: UInt32) -> [UInt8] { RecordFields([content: .integer(Int64(count))]).body }

  static func body(ofGranted names: [String]) -> [UInt8] {
    RecordFields([content: .text(names.joined(separator: " "))]).body
  }

  static func granted(_ entry: CaravanModel.Entry) throws(CaravanError) -> [String] {
    guard case .text(let text) = try RecordFields(body: entry.body)[content] else { throw damaged(entry) }
    return text.split(separator: " ").map(String.init)
  }

  static func type(_ entry: CaravanModel.Entry) throws(CaravanError) -> CaravanModel.RecordType {
    guard case .data(let bytes) = try RecordFields(body: entry.body)[content] else { throw damaged(entry) }
    return try CaravanWire.RecordType.decode(bytes).model()
  }

  static func versions(_ entry: CaravanModel.Entry) throws(CaravanError) -> [UInt32] {
    guard case .text(let text) = try RecordFields(body: entry.body)[content] else { throw damaged(entry) }
    let ids = text.split(separator: " ").compactMap { UInt32($0) }
    guard !ids.isEmpty else { throw damaged(entry) }
    return ids
  }

  static func counter(_ entry: CaravanModel.Entry) throws(CaravanError) -> UInt32 {
    guard case .integer(let number) = try RecordFields(body: entry.body)[content], let count = UInt32(exactly: number)
    else {
      throw damaged(entry)
    }
    return count
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
