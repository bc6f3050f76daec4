public import CaravanModel

/// A record of the public database, and the version of which objects are read; 0: of which objects are sent.
public struct CloudRecordVersion: Sendable, Hashable {
  public let name: String
  public let version: Seq

  public init(_ name: String, version: Seq) {
    self.name = name
    self.version = version
  }
}

/// Permissions to move chunks, kept while they last: one a database and direction, or record.
public struct Tickets<Ticket: Sendable>: Sendable {
  public struct Scope: Sendable, Hashable {
    public let app: ContainerID
    public let isUpload: Bool
    /// nil: of the app's private database.
    public let record: CloudRecordVersion?

    public init(app: ContainerID, isUpload: Bool, record: CloudRecordVersion? = nil) {
      self.app = app
      self.isUpload = isUpload
      self.record = record
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
