public import Crypto
public import Model

/// Where a device is in a zone's history.
public struct ChangePosition: Sendable, Hashable {
  public var incarnation: Incarnation
  public var seq: Seq

  public init(incarnation: Incarnation, seq: Seq) {
    self.incarnation = incarnation
    self.seq = seq
  }
}

/// Change tokens (CK-42): a position under a MAC that binds it to its zone, and so to its user. Opaque to devices; the
/// first byte is the format's version.
public struct TokenSeal: Sendable {
  private static let version: UInt8 = 1
  private static let byteCount = 1 + 8 + 8 + TicketKey.macByteCount

  private let key: TicketKey

  public init(key: TicketKey) { self.key = key }

  public func seal(_ position: ChangePosition, of zone: ZoneID) -> [UInt8] {
    var token = [Self.version]
    SealedMessage.append(position.incarnation, to: &token)
    SealedMessage.append(position.seq, to: &token)
    return token + message(position, zone).mac(key)
  }

  /// - Throws: `invalidSyncToken` when this key did not make it for this zone.
  public func open(_ token: [UInt8], of zone: ZoneID) throws(CaravanError) -> ChangePosition {
    guard token.count == Self.byteCount, token[0] == Self.version else { throw Self.refusal(zone) }
    let position = ChangePosition(incarnation: Self.number(token[1..<9]), seq: Self.number(token[9..<17]))
    guard key.verify(Array(token[17...]), over: message(position, zone).bytes) else { throw Self.refusal(zone) }
    return position
  }

  private func message(_ position: ChangePosition, _ zone: ZoneID) -> SealedMessage {
    var message = SealedMessage("change token")
    message.add(zone)
    message.add(position.incarnation)
    message.add(position.seq)
    return message
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  private static func refusal(_ zone: ZoneID) -> CaravanError {
    CaravanError(
      .invalidSyncToken, "the change token is not one of zone '\(zone.name)': drop it and pull from the beginning")
  }
}

extension SealedMessage {
  mutating func add(_ database: DatabaseID) {
    add(database.container.text)
    add(database.environment.rawValue)
    add(database.ownerText)
  }

  mutating func add(_ zone: ZoneID) {
    add(zone.database)
    add(zone.name)
  }
}
