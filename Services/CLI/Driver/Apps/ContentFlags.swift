internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// The flags that say what notifications of a subscription, or of those of a template, show.
enum ContentFlags {
  private static let title = Flag<String>("title", "TEXT", "what notifications show; silent without any", default: "")
  private static let body = Flag<String>("body", "TEXT", "below the title", default: "")
  private static let titleKey = Flag<String>(
    "title-key", "KEY", "of a text that the app has in its user's language", default: "")
  private static let titleArguments = Flag<[String]>(
    "title-arguments", "A,B", "fields whose values that text takes", default: [])
  private static let bodyKey = Flag<String>("body-key", "KEY", "as --title-key, of the text below", default: "")
  private static let bodyArguments = Flag<[String]>(
    "body-arguments", "A,B", "fields whose values that text takes", default: [])
  private static let badge = Flag<Bool>("badge", "each notification counts the app's badge up")
  private static let sound = Flag<String>("sound", "NAME", "a sound that the app has", default: "")
  private static let fields = Flag<[String]>(
    "fields", "A,B", "fields whose values travel in notifications: no objects, and none that are encrypted",
    default: [])

  static let all: FlagList = [
    title, body, titleKey, titleArguments, bodyKey, bodyArguments, badge, sound, fields,
  ]

  static func content(_ options: Options) -> NotificationContent {
    NotificationContent(
      title: options[title], body: options[body], titleKey: options[titleKey],
      titleArguments: options[titleArguments], bodyKey: options[bodyKey], bodyArguments: options[bodyArguments],
      badges: options[badge], sound: options[sound], fields: options[fields])
  }

  /// As a schema's text says it.
  static func text(_ content: NotificationContent) -> String {
    SubscriptionTemplate(name: "", type: "", text: nil, shows: content).clauses { $0 }.joined(separator: " ")
  }

  /// Null: they are silent, and carry nothing.
  static func json(_ content: NotificationContent) -> JSON {
    guard !content.isEmpty else { return .null }
    func list(_ names: [String]) -> JSON { .array(names.map(JSON.string)) }
    return [
      "title": .string(content.title), "body": .string(content.body), "title_key": .string(content.titleKey),
      "title_arguments": list(content.titleArguments), "body_key": .string(content.bodyKey),
      "body_arguments": list(content.bodyArguments), "badge": .bool(content.badges), "sound": .string(content.sound),
      "fields": list(content.fields),
    ]
  }
}

/// `enters`, `leaves` and `changes`, as people give them to `--events`.
enum EventWords {
  /// - Parameter words: none: all events.
  static func events(_ words: [String]) throws(CaravanError) -> StandingQuery.Events {
    guard !words.isEmpty else { return .all }
    var events: StandingQuery.Events = []
    for word in words {
      guard let event = StandingQuery.Events.words.first(where: { $0.word == word })?.event else {
        throw CaravanError(.invalidData, "--events '\(word)' is none: say enters, leaves, changes, with commas between")
      }
      events.insert(event)
    }
    return events
  }
}
