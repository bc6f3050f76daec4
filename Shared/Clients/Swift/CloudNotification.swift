internal import CaravanEncoding
public import CaravanModel

/// Something that the app has subscribed to has happened (CK-86).
public struct CloudNotification: Sendable, Hashable {
  /// What has happened.
  public typealias Reason = NotificationLog.Reason

  /// The app's name for the subscription; empty: of notifications that were missed nobody knows it.
  public let subscription: String
  /// What has happened.
  public let reason: Reason
  /// Where it has.
  public let database: CloudDatabase
  /// The name of the row's table, its record type; empty where no row is meant.
  public let type: String
  /// The zone of the row, or that was made or deleted.
  public let zone: String
  /// The row's id; empty where no row is meant.
  public let record: String
  /// The row's version then.
  public let version: UInt64
  /// The name of the device that did it as the cloud keeps it, which `act` reads; empty: nobody knows.
  public let device: String
  /// Unix milliseconds on the cloud's clock; 0: nobody knows.
  public let at: Int64
  /// The part of the cloud that tells it: each numbers what it tells.
  public let source: UInt64
  /// Grows by one with each notification of its source; of those that were missed, the last one's.
  public let number: UInt64
  /// How many notifications of the source have gone before this device had them: only with `missed`, and 0 where it was
  /// the cloud that missed something.
  public let skipped: UInt64
  /// Of the first number of its source below which nothing is missing; 0: of none.
  let since: UInt64
  /// What it shows, and which values of the row it carries.
  public let content: Content
  /// Where an app goes on that has dealt with this one and all before it.
  public internal(set) var cursor: NotificationCursor

  /// When and by whom it was done; in the public database users and devices are called as in no other app, and as the
  /// records themselves say (`CloudRecord.created`). nil: nobody knows.
  public var act: RowAct? { RowAct(milliseconds: UInt64(clamping: at), by: device) }

  /// What a notification shows, as its subscription says, and values of the row as it was then (CK-85). Of a row that
  /// left an answer there are no values.
  public struct Content: Sendable, Hashable {
    /// Shown as it is, where the app has no text of `titleKey`; empty: none.
    public var title = ""
    /// Shown below the title, where the app has no text of `bodyKey`; empty: none.
    public var body = ""
    /// Of a text that the app has in its user's language; empty: none.
    public var titleKey = ""
    /// What that text takes, in order: values of the row as texts, an empty one for what it does not have.
    public var titleArguments: [String] = []
    /// Of a text that the app has in its user's language; empty: none.
    public var bodyKey = ""
    /// What that text takes, in order: values of the row as texts, an empty one for what it does not have.
    public var bodyArguments: [String] = []
    /// It counts the number on the app's icon up.
    public var badges = false
    /// The name of a sound that the app has; empty: none.
    public var sound = ""
    /// Values of the row by the names of its fields. A date is its Unix milliseconds, and bytes are their base 64.
    public var fields: [String: Value] = [:]
    /// The row had more than a notification carries: of texts there is the beginning, other values are missing.
    public var isCut = false

    /// Silent, and without values of the row.
    public var isEmpty: Bool { self == Content() }

    /// The app hears of it, and no person does.
    public var isSilent: Bool {
      title.isEmpty && body.isEmpty && titleKey.isEmpty && bodyKey.isEmpty && sound.isEmpty && !badges
    }
  }
}

/// Which notifications an app has dealt with. It is the app's to keep, as `description`.
public struct NotificationCursor: Sendable, Hashable, LosslessStringConvertible {
  /// The number of the last one of each source.
  public private(set) var taken: [UInt64: UInt64]

  /// - Parameter taken: the number of the last notification of each source that was dealt with; none: of no source any.
  public init(taken: [UInt64: UInt64] = [:]) { self.taken = taken }

  /// Before all there are.
  public static let start = NotificationCursor()

  /// - Parameter description: a cursor's own; nil comes of any other text.
  public init?(_ description: String) {
    taken = [:]
    for part in description.split(separator: ",") {
      let numbers = part.split(separator: ":", omittingEmptySubsequences: false).map { UInt64($0) }
      guard numbers.count == 2, let source = numbers[0], let number = numbers[1], taken[source] == nil else {
        return nil
      }
      taken[source] = number
    }
  }

  /// `SOURCE:NUMBER` for each source, in their order, with commas between; empty: the start.
  public var description: String {
    taken.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
  }

  mutating func take(_ number: UInt64, of source: UInt64) { taken[source] = number }

  /// Which rows of the table are behind it.
  var selection: Table.Selection {
    // A database has few sources; the text of a selection has an end.
    let known = taken.sorted { $0.key < $1.key }.suffix(Self.selected)
    guard !known.isEmpty else { return .all }
    let (source, number) = (NotificationLog.Field.source.name, NotificationLog.Field.number.name)
    let terms = known.map { _ in "\(source) = ? AND \(number) <= ?" }.joined(separator: " OR ")
    return Table.Selection(
      "NOT (\(terms))",
      known.flatMap { [.integer(Int64(bitPattern: $0.key)), .integer(Int64(bitPattern: $0.value))] })
  }

  /// Sources that a selection names; of others all rows are read.
  private static let selected = 16

  /// Puts what was found in the order of its arrival, each once, and says what is missing between.
  /// - Parameter found: in any order; what is not behind this is left out.
  func following(_ found: [CloudNotification]) -> [CloudNotification] {
    var cursor = self
    var told: [CloudNotification] = []
    for notification in Self.ordered(found) {
      let last = max(cursor.taken[notification.source] ?? 0, max(notification.since, 1) - 1)
      guard notification.number > last else { continue }
      let skipped = notification.number - last - 1
      if skipped > 0 {
        cursor.take(notification.number - 1, of: notification.source)
        told.append(CloudNotification(missing: skipped, before: notification, cursor))
      }
      cursor.take(notification.number, of: notification.source)
      var notification = notification
      notification.cursor = cursor
      told.append(notification)
    }
    return told
  }

  /// By time, but those of one source by their numbers, whatever its clock did.
  private static func ordered(_ found: [CloudNotification]) -> [CloudNotification] {
    var latest: [UInt64: Int64] = [:]
    var timed: [(at: Int64, notification: CloudNotification)] = []
    for notification in found.sorted(by: { ($0.source, $0.number) < ($1.source, $1.number) }) {
      let at = max(latest[notification.source] ?? .min, notification.at)
      latest[notification.source] = at
      timed.append((at, notification))
    }
    return timed.sorted {
      ($0.at, $0.notification.source, $0.notification.number) < ($1.at, $1.notification.source, $1.notification.number)
    }.map(\.notification)
  }
}

extension CloudNotification {
  /// A row of the table of notifications; nil: its reason is none that this release knows.
  init?(_ row: AppRow) {
    func text(_ field: NotificationLog.Field) -> String { row[field.name].textValue ?? "" }
    func integer(_ field: NotificationLog.Field) -> Int64 { row[field.name].integerValue ?? 0 }
    guard integer(.number) > 0, let reason = NotificationLog.Reason(rawValue: text(.reason)) else { return nil }
    self.init(
      subscription: text(.subscription), reason: reason, database: integer(.isPublic) == 0 ? .private : .public,
      type: text(.type), zone: text(.zone), record: text(.record), version: UInt64(bitPattern: integer(.version)),
      device: text(.device), at: integer(.at), source: UInt64(bitPattern: integer(.source)),
      number: UInt64(bitPattern: integer(.number)), skipped: 0, since: UInt64(bitPattern: integer(.since)),
      content: Content(row), cursor: .start)
  }

  fileprivate init(missing count: UInt64, before next: CloudNotification, _ cursor: NotificationCursor) {
    self.init(
      subscription: "", reason: .missed, database: next.database, type: "", zone: "", record: "", version: 0,
      device: "", at: 0, source: next.source, number: next.number - 1, skipped: count, since: next.since,
      content: Content(), cursor: cursor)
  }
}

extension CloudNotification.Content {
  fileprivate init(_ row: AppRow) {
    func text(_ field: NotificationLog.Field) -> String { row[field.name].textValue ?? "" }
    func texts(_ field: NotificationLog.Field) -> [String] {
      (row[field.name].listValue ?? []).map { $0.textValue ?? "" }
    }
    func isSet(_ field: NotificationLog.Field) -> Bool { (row[field.name].integerValue ?? 0) != 0 }
    (title, body, titleKey, bodyKey, sound) = (
      text(.title), text(.body), text(.titleKey), text(.bodyKey), text(.sound)
    )
    (titleArguments, bodyArguments) = (texts(.titleArguments), texts(.bodyArguments))
    (badges, isCut) = (isSet(.badge), isSet(.isCut))
    for member in (try? JSON.parse(text(.fields)))?.objectValue?.members ?? [] {
      fields[member.name] = Value(member.value)
    }
  }
}
