/// What notifications of a subscription show, and which values of the record travel with them (CK-83, CK-85). One that
/// shows nothing is silent: the app hears of it, and no person does.
public struct NotificationContent: Sendable, Hashable {
  /// Shown as it is, where the app has no text of `titleKey`; empty: none.
  public var title: String
  /// Shown below the title, where the app has no text of `bodyKey`; empty: none.
  public var body: String
  /// Of a text that the app has in its user's language; empty: none.
  public var titleKey: String
  /// Names of fields whose values that text takes, in order.
  public var titleArguments: [String]
  /// Of a text that the app has in its user's language; empty: none.
  public var bodyKey: String
  /// Names of fields whose values that text takes, in order.
  public var bodyArguments: [String]
  /// Each notification counts the number on the app's icon up.
  public var badges: Bool
  /// The name of a sound that the app has; empty: none.
  public var sound: String
  /// Names of fields whose values travel in the notification.
  public var fields: [String]

  /// Without a word: silent, and without values.
  public init(
    title: String = "", body: String = "", titleKey: String = "", titleArguments: [String] = [],
    bodyKey: String = "", bodyArguments: [String] = [], badges: Bool = false, sound: String = "",
    fields: [String] = []
  ) {
    self.title = title
    self.body = body
    self.titleKey = titleKey
    self.titleArguments = titleArguments
    self.bodyKey = bodyKey
    self.bodyArguments = bodyArguments
    self.badges = badges
    self.sound = sound
    self.fields = fields
  }

  /// The app hears of it, and no person does.
  public var isSilent: Bool {
    title.isEmpty && body.isEmpty && titleKey.isEmpty && bodyKey.isEmpty && sound.isEmpty && !badges
  }

  /// Silent, and without values of records.
  public var isEmpty: Bool { self == NotificationContent() }

  /// All fields of which something is told.
  package var named: [String] { titleArguments + bodyArguments + fields }
}

// MARK: What is refused

extension NotificationContent {
  /// - Throws: `limitExceeded` beyond a bound; `invalidData` for arguments of no key, and a field that stands twice.
  package func check() throws(CaravanError) {
    let texts: [(what: String, text: String, most: Int)] = [
      ("title", title, Limits.notificationTextBytes), ("body", body, Limits.notificationTextBytes),
      ("title key", titleKey, Limits.notificationKeyBytes), ("body key", bodyKey, Limits.notificationKeyBytes),
      ("sound", sound, Limits.notificationKeyBytes),
    ]
    for (what, text, most) in texts where text.utf8.count > most {
      throw CaravanError(
        .limitExceeded, "the \(what) of notifications has \(text.utf8.count) bytes: the limit is \(most)")
    }
    let lists: [(what: String, names: [String], most: Int)] = [
      ("arguments of the title key", titleArguments, Limits.notificationArguments),
      ("arguments of the body key", bodyArguments, Limits.notificationArguments),
      ("fields in notifications", fields, Limits.notificationFields),
    ]
    for (what, names, most) in lists where names.count > most {
      throw CaravanError(.limitExceeded, "there are \(names.count) \(what): the limit is \(most)")
    }
    for name in named where !(1...SchemaText.maximumNameBytes).contains(name.utf8.count) {
      throw CaravanError(
        .invalidData,
        "notifications name the field '\(name.prefix(80))', and no field is called so: name one of the type")
    }
    for (key, arguments, what) in [(titleKey, titleArguments, "title"), (bodyKey, bodyArguments, "body")] {
      guard key.isEmpty, !arguments.isEmpty else { continue }
      throw CaravanError(
        .invalidData, "a \(what) has arguments and no key: give the key of the app's text that takes them")
    }
    var seen: Set<String> = []
    if let twice = fields.first(where: { !seen.insert($0).inserted }) {
      throw CaravanError(.invalidData, "notifications have the field '\(twice)' twice: leave one out")
    }
  }

  /// Whether all that is told is a field that a notification can carry.
  /// - Throws: `schemaViolation` naming the field.
  package func check(against type: RecordType) throws(CaravanError) {
    for name in named {
      guard let field = type.field(named: name) else {
        throw CaravanError(
          .schemaViolation, "record type '\(type.name)' has no field '\(name.prefix(80))' for notifications to carry")
      }
      guard field.isTellable else {
        throw CaravanError(
          .schemaViolation,
          "field '\(name)' of '\(type.name)' is \(field.shape), which no notification carries: leave it out, and let "
            + "the app read the row")
      }
    }
  }

  /// For a subscription that is about no records.
  /// - Throws: `invalidData` naming a field.
  package func checkNamesNone() throws(CaravanError) {
    guard let name = named.first else { return }
    throw CaravanError(
      .invalidData, "zones have no fields, and notifications of them none to carry: leave '\(name.prefix(80))' out")
  }
}

extension FieldDefinition {
  /// Whether a notification can carry its values: not what only devices can read, and no objects.
  package var isTellable: Bool { !isEncrypted && kind != .object }
}
