public import CaravanCrypto
public import CaravanModel

/// A client's turn between SYNC_BEGIN and SYNC_CONTINUE (DIF-14).
public struct SyncTurn: Sendable, Hashable {
  /// Of the lease that keeps others out.
  public var leaseToken: UInt64
  /// `current_height`: what the client has been shown.
  public var height: Seq
  /// 0: there was no such zone.
  public var incarnation: Incarnation

  public init(leaseToken: UInt64, height: Seq, incarnation: Incarnation) {
    self.leaseToken = leaseToken
    self.height = height
    self.incarnation = incarnation
  }
}

/// Sync tokens: a turn under a MAC that binds it to its zone and its client. The first byte is the format's version.
public struct TurnSeal: Sendable {
  private static let version: UInt8 = 1
  private static let byteCount = 1 + 3 * 8 + TicketKey.macByteCount

  private let keys: any TicketKeys

  public init(key keys: any TicketKeys) { self.keys = keys }

  /// - Parameter client: whose turn it is.
  public func seal(_ turn: SyncTurn, in zone: ZoneID, of client: String) -> [UInt8] {
    var token = [Self.version]
    for number in [turn.leaseToken, turn.height, turn.incarnation] { SealedMessage.append(number, to: &token) }
    return token + keys.ring.mac(over: message(turn, zone, client).bytes)
  }

  /// nil: no key of the ring sealed it, or for another zone or client.
  public func open(_ token: [UInt8], in zone: ZoneID, of client: String) -> SyncTurn? {
    guard token.count == Self.byteCount, token[0] == Self.version else { return nil }
    let numbers = stride(from: 1, to: 25, by: 8).map { token[$0..<($0 + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
    let turn = SyncTurn(leaseToken: numbers[0], height: numbers[1], incarnation: numbers[2])
    return keys.ring.verify(Array(token[25...]), over: message(turn, zone, client).bytes) ? turn : nil
  }

  private func message(_ turn: SyncTurn, _ zone: ZoneID, _ client: String) -> SealedMessage {
    var message = SealedMessage("sync turn")
    message.add(zone)
    message.add(client)
    for number in [turn.leaseToken, turn.height, turn.incarnation] { message.add(number) }
    return message
  }
}
