public import CaravanCrypto
public import CaravanModel
public import CaravanWire

/// What a ticket allows.
public struct TicketGrant: Sendable, Hashable {
  /// Which chunks it is for.
  public enum Subject: Sendable, Hashable {
    /// All of a private database, which is the user's.
    case everything
    /// Those of a public database that its user sends: who they are, is how commits there name them.
    case staged(by: String)
    /// Those of one record of a public database, to be fetched, as long as it is at this version.
    case record(RecordVersion)
  }

  public var database: DatabaseID
  public var device: EnrolledDevice
  /// True: to send chunks; false: to fetch them.
  public var isUpload: Bool
  public var subject: Subject
  /// At most this many.
  public var bytes: UInt64
  /// Unix time.
  public var expiresMilliseconds: Int64

  public init(
    database: DatabaseID, device: EnrolledDevice, isUpload: Bool, of subject: Subject = .everything, bytes: UInt64,
    expiresMilliseconds: Int64
  ) {
    precondition(expiresMilliseconds >= 0, "tickets do not expire before 1970")
    self.database = database
    self.device = device
    self.isUpload = isUpload
    self.subject = subject
    self.bytes = bytes
    self.expiresMilliseconds = expiresMilliseconds
  }

  /// Whether anybody who knows what a hash is worth would have issued it.
  fileprivate var isSound: Bool {
    switch subject {
    case .everything: !database.isPublic
    case .staged(let author): database.isPublic && isUpload && !author.isEmpty
    case .record(let record): database.isPublic && !isUpload && record.zone.database == database
    }
  }
}

/// Chunk tickets: sync issues them by storage's time, storage checks them. Whatever storage's clock is worth, both mean
/// the same one.
public struct TicketSeal: Sendable {
  /// How long a ticket may be used.
  public static let lifetime: Duration = .seconds(900)
  /// The same of one for a record that may be hidden from its user any time.
  public static let recordLifetime: Duration = .seconds(60)
  /// What clocks of several storage processes may differ by.
  private static let tolerance: Duration = .seconds(60)
  private let keys: any TicketKeys

  public init(key keys: any TicketKeys) { self.keys = keys }

  public func issue(_ grant: TicketGrant) -> Ticket {
    precondition(grant.isSound, "a ticket for what nobody may have")
    var ticket = Ticket(
      database: DatabaseRef(grant.database), device: grant.device.text, upload: grant.isUpload, bytes: grant.bytes,
      expiresMilliseconds: UInt64(grant.expiresMilliseconds), mac: keys.ring.mac(over: message(grant).bytes),
      partition: Partition(of: grant.database).number)
    switch grant.subject {
    case .everything: break
    case .staged(let author): ticket.author = author
    case .record(let record):
      (ticket.zone, ticket.incarnation) = (record.zone.name, record.incarnation)
      (ticket.record, ticket.version) = (record.name, record.version)
    }
    return ticket
  }

  /// - Parameters:
  ///   - device: who shows it, as the broker proves.
  ///   - now: Unix time.
  /// - Throws: `notAuthenticated` when no key of the ring issued it, or to another device; `leaseExpired` when its
  ///   time is over; `invalidData` when it is no ticket at all.
  public func open(
    _ ticket: Ticket, from device: EnrolledDevice, nowMilliseconds now: Int64
  ) throws(CaravanError) -> TicketGrant {
    let database = try required(ticket.database, "database").model()
    let grant = TicketGrant(
      database: database, device: try EnrolledDevice(ticket.device), isUpload: ticket.upload,
      of: try ticket.subject(in: database), bytes: ticket.bytes,
      expiresMilliseconds: Int64(clamping: ticket.expiresMilliseconds))
    // Nobody issues one for another environment; if somebody did, it would be worth nothing.
    guard keys.ring.verify(ticket.mac, over: message(grant).bytes), grant.device == device,
      grant.database.environment == device.environment, grant.isSound
    else {
      throw CaravanError(.notAuthenticated, "the ticket is not one for this device: ask sync for another")
    }
    // One that would last longer than any was issued before storage's time went back.
    let latest = now + (Self.lifetime + Self.tolerance).components.seconds * 1_000
    guard (now + 1...latest).contains(grant.expiresMilliseconds) else {
      throw CaravanError(.leaseExpired, "the ticket's time is over: ask sync for another")
    }
    return grant
  }

  private func message(_ grant: TicketGrant) -> SealedMessage {
    var message = SealedMessage("chunk ticket")
    message.add(grant.database)
    message.add(grant.device.text)
    message.add(grant.isUpload ? 1 : 0)
    message.add(grant.bytes)
    message.add(UInt64(grant.expiresMilliseconds))
    switch grant.subject {
    case .everything: break
    case .staged(let author):
      message.add("staged by")
      message.add(author)
    case .record(let record):
      message.add("record")
      message.add(record.zone.name)
      message.add(record.incarnation)
      message.add(record.name)
      message.add(record.version)
    }
    return message
  }
}

extension Ticket {
  fileprivate func subject(in database: DatabaseID) throws(CaravanError) -> TicketGrant.Subject {
    guard record.isEmpty else {
      let zone = try ZoneID(database, zone)
      return .record(RecordVersion(zone: zone, incarnation: incarnation, name: record, version: version))
    }
    return author.isEmpty ? .everything : .staged(by: author)
  }
}
