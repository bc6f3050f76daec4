/// What subscriptions are made from: defined in development, and promoted with the schema that it is a part of (CK-83).
public struct SubscriptionTemplate: Sendable, Hashable {
  /// One of its container's, in whatever case.
  public var name: String
  /// The record type's name.
  public var type: String
  /// Which records, in the query language: its `?` are the parameters that a subscription binds. nil: all of the type.
  public var text: String?
  public var events: StandingQuery.Events
  /// What notifications show.
  public var shows: NotificationContent
  /// Grows by one with each change in its environment; 0: not registered.
  public var version: UInt32

  public init(
    name: String, type: String, text: String?, events: StandingQuery.Events = .all,
    shows: NotificationContent = NotificationContent(), version: UInt32 = 0
  ) {
    self.name = name
    self.type = type
    self.text = text
    self.events = events
    self.shows = shows
    self.version = version
  }

  /// What is said, without when: versions of two environments say nothing of each other.
  public var withoutVersion: SubscriptionTemplate {
    var template = self
    template.version = 0
    return template
  }

  /// The subscription that it makes.
  /// - Parameter arguments: one for each `?`.
  public func bound(id: String, _ arguments: [Value], zone: String?) -> StandingQuery {
    StandingQuery(
      id: id,
      .records(type: type, text: text.map { Query.Text($0, arguments: arguments) }, zone: zone, events), shows: shows,
      source: StandingQuery.TemplateVersion(name: name, version: version))
  }
}

extension SubscriptionTemplate: CustomStringConvertible {
  /// All that is said of it behind its name, as a schema's text has it.
  public var description: String { (["ON \(type)"] + clauses { $0 }).joined(separator: " ") }

  /// What a schema's text says of it behind its type, one clause each.
  /// - Parameter spelled: how the name of a field is written.
  public func clauses(_ spelled: (String) -> String) -> [String] {
    func quoted(_ text: String) -> String {
      "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
    func key(_ word: String, _ key: String, _ arguments: [String]) -> String? {
      guard !key.isEmpty else { return nil }
      let list = arguments.isEmpty ? "" : " (\(arguments.map(spelled).joined(separator: ", ")))"
      return "\(word) KEY \(quoted(key))\(list)"
    }
    return [
      text.map { "WHERE \(quoted($0))" }, events == .all ? nil : "EVENTS \(events.words.joined(separator: ", "))",
      shows.title.isEmpty ? nil : "TITLE \(quoted(shows.title))", key("TITLE", shows.titleKey, shows.titleArguments),
      shows.body.isEmpty ? nil : "BODY \(quoted(shows.body))", key("BODY", shows.bodyKey, shows.bodyArguments),
      shows.badges ? "BADGE" : nil, shows.sound.isEmpty ? nil : "SOUND \(quoted(shows.sound))",
      shows.fields.isEmpty ? nil : "FIELDS \(shows.fields.map(spelled).joined(separator: ", "))",
    ].compactMap(\.self)
  }
}

extension StandingQuery.Events {
  /// Words of them, in the order in which people read them.
  public static let words: [(word: String, event: StandingQuery.Events)] = [
    ("enters", .enters), ("leaves", .leaves), ("changes", .changes),
  ]

  /// The words of those that are in here.
  public var words: [String] { Self.words.filter { contains($0.event) }.map(\.word) }
}
