/// What an app wants to be told of: a subscription of its user (CK-82, CK-83). Notifications of it come as records of
/// the user's `NotificationLog`.
public struct StandingQuery: Sendable, Hashable {
  /// What happens to the answer of a query, as rows of the log name it.
  public struct Events: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A record belongs to the answer that did not before.
    public static let enters = Events(rawValue: 1)
    /// A record does not belong to it any more, or is gone.
    public static let leaves = Events(rawValue: 2)
    /// A record that stays in the answer was written.
    public static let changes = Events(rawValue: 4)
    public static let all: Events = [.enters, .leaves, .changes]
  }

  public enum Subject: Sendable, Hashable {
    /// Records of one type.
    /// - Parameters:
    ///   - text: which of them; nil: all.
    ///   - zone: nil: in all zones of the database.
    case records(type: String, text: Query.Text?, zone: String?, Events)
    /// The zones of a private database: that one is made or deleted.
    case zones
    /// What a template of the container's schema says: only as it is asked for, as the cloud makes `records` of it.
    /// - Parameters:
    ///   - arguments: values of the `?` in the template's text, in order.
    ///   - zone: nil: in all zones of the database.
    case template(String, arguments: [Value], zone: String?)
  }

  /// One state of a template.
  public struct TemplateVersion: Sendable, Hashable {
    public var name: String
    public var version: UInt32

    public init(name: String, version: UInt32) {
      self.name = name
      self.version = version
    }
  }

  /// The app's name for it, one of its user's in the database: `RecordName` says which are possible.
  public var id: String
  public var subject: Subject
  /// What its notifications show.
  public var shows: NotificationContent
  /// What the cloud has made it from; later changes of that template are not in it. nil: from no template.
  public var source: TemplateVersion?

  public init(
    id: String, _ subject: Subject, shows: NotificationContent = NotificationContent(), source: TemplateVersion? = nil
  ) {
    self.id = id
    self.subject = subject
    self.shows = shows
    self.source = source
  }
}

/// Where a database keeps subscriptions to it: a zone that no device sees.
public enum SubscriptionZone {
  /// Begins with a dot, so that it is none of a table.
  public static let name = ".subscriptions"
}

/// The notifications of one user in one container (CK-86): records of this zone of their private database, which
/// devices read as a table. Each source, a partition of the cloud, numbers those it writes from 1 on and keeps the last
/// `kept` under the same names.
public enum NotificationLog {
  /// Of the zone, of the record type and of a device's table.
  public static let name = "_notifications"
  /// Notifications of one source that are there; an older one makes room.
  public static let kept: UInt64 = 1_000
  /// And how long they stay.
  public static let keptMilliseconds: Int64 = 30 * 86_400_000

  /// What a notification is of.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// A record belongs to the answer that did not before.
    case enters
    /// A record does not belong to it any more, or is gone.
    case leaves
    /// A record that stays in the answer was written.
    case changes
    /// A zone of the user's own database was made.
    case zoneMade = "zone-made"
    /// A zone of the user's own database was deleted.
    case zoneDeleted = "zone-deleted"
    /// Something may have happened that nobody can tell any more: what the subscription is about, or where none is
    /// named what all are about, is to be asked anew.
    case missed
  }

  public enum Field: UInt32, Sendable, CaseIterable {
    case subscription = 1, reason, source, number, isPublic, type, zone, record, version, device, at
    /// What its subscription has notifications show, and values of the record. `fields` is a JSON object of names and
    /// values; `isCut` is 1 where the record had more than one notification carries.
    case title, body, titleKey, titleArguments, bodyKey, bodyArguments, badge, sound, fields, isCut
    /// The number of the first one of its source that is not known to have gone before: nothing is missing below it.
    case since

    public var name: String { "\(self)" }

    fileprivate var definition: FieldDefinition {
      FieldDefinition(id: rawValue, name: name, kind: kind, isList: self == .titleArguments || self == .bodyArguments)
    }

    private var kind: FieldKind {
      switch self {
      case .source, .number, .isPublic, .version, .badge, .isCut, .since: .integer
      case .at: .date
      case .subscription, .reason, .type, .zone, .record, .device, .title, .body, .titleKey, .titleArguments, .bodyKey,
        .bodyArguments, .sound, .fields:
        .text
      }
    }
  }

  /// In every container and environment, though nobody registers it: ids of registered types are smaller.
  public static let type = RecordType(
    id: .max, definition: .max, name: name, fields: Field.allCases.map(\.definition))
}
