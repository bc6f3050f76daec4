public import CaravanCrypto
public import CaravanModel

/// Change tokens (CK-42): a position under a MAC that binds it to what it is a position in, and so to its user. Opaque
/// to devices; the first byte is the format's version, the numbers behind it are LEB128.
public struct TokenSeal: Sendable {
  private static let version: UInt8 = 2

  private let keys: any TicketKeys

  public init(key keys: any TicketKeys) { self.keys = keys }

  // MARK: Zones

  public func seal(_ position: ChangePosition, of zone: ZoneID) -> [UInt8] {
    seal(
      [position.incarnation, position.seq, position.settled, position.below, position.target], Self.scope(zone))
  }

  /// - Throws: `invalidSyncToken` when no key of the ring made it for this zone.
  public func open(_ token: [UInt8], of zone: ZoneID) throws(CaravanError) -> ChangePosition {
    guard let numbers = open(token, Self.scope(zone)) else {
      throw CaravanError(
        .invalidSyncToken, "the change token is not one of zone '\(zone.name)': drop it and pull from the beginning")
    }
    return ChangePosition(
      incarnation: numbers[0], seq: numbers[1], settled: numbers[2], below: numbers[3], target: numbers[4])
  }

  private static func scope(_ zone: ZoneID) -> SealedMessage {
    var scope = SealedMessage("change token")
    scope.add(zone)
    return scope
  }

  // MARK: Databases

  public func seal(_ position: DatabasePosition, of database: DatabaseID) -> [UInt8] {
    seal([position.life, position.log], Self.scope(database))
  }

  /// - Throws: `invalidSyncToken` when no key of the ring made it for this database.
  public func open(_ token: [UInt8], of database: DatabaseID) throws(CaravanError) -> DatabasePosition {
    guard let numbers = open(token, Self.scope(database)) else {
      throw CaravanError(
        .invalidSyncToken,
        "the token is not one of the zones of '\(database.container)': drop it and list all zones")
    }
    return DatabasePosition(life: numbers[0], log: numbers[1])
  }

  private static func scope(_ database: DatabaseID) -> SealedMessage {
    var scope = SealedMessage("zones token")
    scope.add(database)
    return scope
  }

  // MARK: Form

  /// Zeros at the end are left out.
  private func seal(_ numbers: [UInt64], _ scope: SealedMessage) -> [UInt8] {
    var token = [Self.version]
    let count = (numbers.lastIndex { $0 > 0 } ?? -1) + 1
    for number in numbers.prefix(count) { Self.append(number, to: &token) }
    return token + keys.ring.mac(over: Self.message(token, scope).bytes)
  }

  /// - Returns: as many numbers as any position has; nil: no key of the ring sealed it in this scope.
  private func open(_ token: [UInt8], _ scope: SealedMessage) -> [UInt64]? {
    let content = Array(token.dropLast(TicketKey.macByteCount))
    guard
      content.first == Self.version,
      keys.ring.verify(Array(token[content.count...]), over: Self.message(content, scope).bytes)
    else { return nil }
    var rest = content.dropFirst()
    return (0..<Self.numbers).map { _ in Self.takeNumber(&rest) }
  }

  private static let numbers = 5

  private static func message(_ content: [UInt8], _ scope: SealedMessage) -> SealedMessage {
    var message = scope
    message.add(content)
    return message
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var number = number
    while number >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: number) | 0x80)
      number >>= 7
    }
    bytes.append(UInt8(number))
  }

  /// Of bytes that the ring has sealed; 0 behind their end.
  private static func takeNumber(_ bytes: inout ArraySlice<UInt8>) -> UInt64 {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while let byte = bytes.popFirst() {
      number |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { break }
      shift += 7
    }
    return number
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
