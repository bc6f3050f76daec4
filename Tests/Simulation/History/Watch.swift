/// What happened, in the order in which the cloud committed it or somebody learned of it, to zones that a user has
/// subscribed to (CK-82, CK-83).
public enum WatchEvent: Sendable, Hashable {
  /// One commit; of a deleted record nothing.
  case wrote(zone: String, life: UInt64, [WatchedRecord])
  case deletedZone(String)
  /// From here on somebody changes the subscription, and cannot tell which of the two it is.
  case changing(String)
  /// They were told that it counts.
  case subscribed(WatchedQuery)
  /// The log has it.
  case told(SeenNotification)
  case answered(SeenAnswer)
}

/// A record as a commit leaves it.
public struct WatchedRecord: Sendable, Hashable {
  public var name: String
  public var seq: UInt64
  /// nil: it is deleted.
  public var number: Int64?

  public init(_ name: String, seq: UInt64, number: Int64?) {
    (self.name, self.seq, self.number) = (name, seq, number)
  }
}

/// A subscription, or a question.
public struct WatchedQuery: Sendable, Hashable {
  public enum Subject: Sendable, Hashable {
    /// Records whose number is smaller, in one zone or in all.
    case below(Int64, zone: String?)
    /// Which zones there are.
    case zones
  }

  public var id: String
  public var subject: Subject
  /// It also asks for writes of records that stay in the answer.
  public var hearsChanges: Bool

  public init(_ id: String, _ subject: Subject, hearsChanges: Bool = true) {
    (self.id, self.subject, self.hearsChanges) = (id, subject, hearsChanges)
  }

  func has(_ number: Int64?) -> Bool {
    guard let number, case .below(let end, _) = subject else { return false }
    return number < end
  }

  func isAbout(_ zone: String) -> Bool {
    guard case .below(_, let own) = subject else { return true }
    return own.map { $0 == zone } ?? true
  }
}

/// One notification of a user's log.
public struct SeenNotification: Sendable, Hashable {
  public enum Reason: String, Sendable, Hashable {
    case enters, leaves, changes
    case zoneMade = "zone-made"
    case zoneDeleted = "zone-deleted"
    case missed

    /// Whether what it names is there then.
    var isThere: Bool { self != .leaves && self != .zoneDeleted }
  }

  public var subscription: String
  public var reason: Reason
  public var source: UInt64
  public var number: UInt64
  public var zone: String
  public var record: String
  public var version: UInt64

  public init(
    _ subscription: String, _ reason: Reason, source: UInt64 = 1, number: UInt64, zone: String = "",
    record: String = "", version: UInt64 = 0
  ) {
    (self.subscription, self.reason, self.source, self.number) = (subscription, reason, source, number)
    (self.zone, self.record, self.version) = (zone, record, version)
  }
}

/// What the query service found.
public struct SeenAnswer: Sendable, Hashable {
  public var query: WatchedQuery
  public var zone: String
  /// Versions of the records by their names.
  public var found: [String: UInt64]
  /// What had happened when the asker was told of their own last write, which the answer is to have: it cannot be of
  /// what was before.
  public var since: Int

  public init(_ query: WatchedQuery, zone: String, found: [String: UInt64], since: Int) {
    (self.query, self.zone, self.found, self.since) = (query, zone, found, since)
  }
}
