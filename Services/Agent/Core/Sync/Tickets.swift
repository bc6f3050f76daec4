public import CaravanModel

/// Permissions to move chunks, kept while they last: one a database and direction.
public struct Tickets<Ticket: Sendable>: Sendable {
  public struct Scope: Sendable, Hashable {
    public let app: ContainerID
    public let isUpload: Bool

    public init(app: ContainerID, isUpload: Bool) {
      self.app = app
      self.isUpload = isUpload
    }
  }

  private struct Held: Sendable {
    let ticket: Ticket
    var bytesLeft: UInt64
    let expires: Int64
  }

  private var held: [Scope: Held] = [:]

  public init() {}

  /// - Parameters:
  ///   - bytes: it may move.
  ///   - expires: Unix milliseconds of the cloud's clock.
  public mutating func add(_ ticket: Ticket, for scope: Scope, bytes: UInt64, expires: Int64) {
    if held.count >= EngineLimits.tickets, held[scope] == nil { held = [:] }
    held[scope] = Held(ticket: ticket, bytesLeft: bytes, expires: expires)
  }

  /// A ticket for so many bytes, which are taken off it; nil: ask the cloud for one.
  public mutating func take(_ bytes: UInt64, for scope: Scope, cloudMilliseconds now: Int64) -> Ticket? {
    guard var holding = held[scope], holding.bytesLeft >= bytes,
      holding.expires - now > EngineLimits.ticketMarginMilliseconds
    else { return nil }
    holding.bytesLeft -= bytes
    held[scope] = holding
    return holding.ticket
  }

  /// The cloud did not take it.
  public mutating func drop(_ scope: Scope) { held[scope] = nil }
}
