public import CaravanModel
public import CaravanWire

/// Where push targets lie: in the private database of their user in the system container, which no device reaches.
/// Sync writes targets, notify how far each has come.
public enum PushTargets {
  public static let zone = "push"
  public static let stateZone = "pushed"
  private static let field: UInt32 = 1

  public static func record(_ container: ContainerID, _ id: String) -> String { "\(container.text)/\(id)" }

  /// Which target a record of that name is of; nil: of none.
  public static func place(_ record: String) -> (container: ContainerID, id: String)? {
    let parts = record.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let container = try? ContainerID(String(parts[0])) else { return nil }
    return (container, String(parts[1]))
  }

  public static func body(of value: some WireMessage) -> [UInt8] {
    RecordFields([field: .data(value.encoded())]).body
  }

  /// nil: it is none.
  public static func value<Value: WireMessage>(of body: [UInt8]) -> Value? {
    guard let fields = try? RecordFields(body: body), case .data(let bytes) = fields[field] else { return nil }
    return try? Value.decode(bytes)
  }
}
