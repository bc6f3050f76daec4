internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `subscribe`, `unsubscribe`, `subscriptions` and `notifications`: what the cloud tells an app of.
enum AppSubscriptionCommands {
  private static let selection = Flag<String?>(
    "where", "TEXT", "which rows: a=? AND (b>? OR c MATCH 'snow'), arguments follow as operands")
  private static let events = Flag<[String]>(
    "events", "A,B", "what to be told of them: enters, leaves, changes; all without it", default: [])
  private static let isPublic = Flag<Bool>("public", "the database that all users of the app share")
  private static let zone = Flag<String?>("zone", "ZONE", "only rows of this zone: of a table, its name")
  private static let zones = Flag<Bool>("zones", "of zones that are made and deleted, in place of rows")
  private static let template = Flag<String?>(
    "template", "NAME", "as this template of the app's schema says; operands behind the ID are its parameters")
  private static let follow = Flag<Bool>("follow", "goes on with those that come, until it is interrupted")
  private static let after = Flag<String?>(
    "after", "CURSOR", "begins behind the notification that --json shows with this cursor")
  private static let count = Flag<Int?>("count", "N", "end after so many notifications")

  static let tools = [
    AppSession.tool(
      "subscribe", "Has the cloud tell all devices of the user of rows, or of zones.",
      .init("ID [TABLE [ARGUMENT ...]]", 1...AppCommands.operandLimit),
      details:
        "ID is your name for it; one that is there is replaced. Notifications show in 'caravan app notifications'.\n"
        + "In production rows are subscribed to with --template only. A parameter is a number, or a text, which\n"
        + "may be in single quotes ('5'); a date is its Unix milliseconds.\n"
        + QueryLanguage.help, flags: [selection, events, zone, zones, template, isPublic] + ContentFlags.all
    ) { session in try await subscribe(session) },
    AppSession.tool(
      "unsubscribe", "Ends a subscription; notifications of it stay.", .init("ID", 1...1), flags: [isPublic]
    ) { session in
      let all = try await session.client.unsubscribe(session.operands[0], in: database(session))
      session.say(
        "not subscribed to '\(session.operands[0])' any more", json: ["subscriptions": .array(all.map(json))])
    },
    AppSession.tool("subscriptions", "Shows what the user has subscribed to.", flags: [isPublic]) { session in
      try await show(session)
    },
    AppSession.tool(
      "notifications", "Shows what has happened of all that is subscribed to, a line each.",
      details: "They are rows of the table '_notifications', which the agent keeps and apps only read.",
      flags: [follow, after, count]
    ) { session in try await notifications(session) },
  ]

  private static func database(_ session: AppSession) -> CloudDatabase {
    session.options[isPublic] ? .public : .private
  }

  // MARK: Subscriptions

  private static func subscribe(_ session: AppSession) async throws {
    let id = session.operands[0]
    let all: [CloudSubscription]
    if session.options[zones] {
      all = try await subscribeToZones(id, session)
    } else if let template = session.options[template] {
      let says = ContentFlags.content(session.options) != NotificationContent() || !session.options[events].isEmpty
      guard !says, session.options[selection] == nil else {
        throw CaravanError(
          .invalidData, "a template says which rows, events and what notifications show: give --template no more")
      }
      all = try await session.client.subscribe(
        id, template: template, parameters: session.operands.dropFirst().map(TypedText.parameter),
        in: database(session), zone: session.options[zone])
    } else {
      all = try await subscribeToRows(id, session)
    }
    session.say("subscribed to '\(id)'", json: ["subscriptions": .array(all.map(json))])
  }

  private static func subscribeToZones(_ id: String, _ session: AppSession) async throws -> [CloudSubscription] {
    let options = session.options
    let isAlone =
      session.operands.count == 1 && options[selection] == nil && options[events].isEmpty && options[zone] == nil
      && options[template] == nil && !options[isPublic]
    guard isAlone else {
      throw CaravanError(
        .invalidData,
        "--zones is of all zones of the user's own database: give it an ID, and what notifications show, no more")
    }
    return try await session.client.subscribeToZones(id, showing: ContentFlags.content(options))
  }

  private static func subscribeToRows(_ id: String, _ session: AppSession) async throws -> [CloudSubscription] {
    guard session.operands.count > 1 else {
      throw CaravanError(
        .invalidData, "subscribe to what? Name a TABLE behind the ID, or give --template or --zones")
    }
    let text = session.options[selection]
    let arguments = Array(session.operands.dropFirst(2))
    guard text != nil || arguments.isEmpty else {
      throw CaravanError(.invalidData, "'\(arguments.first ?? "")' is an argument of no --where")
    }
    let name = session.operands[1]
    let schema = try await session.schema(of: name)
    let values = try text.map { text throws(CaravanError) in
      try AppCloudCommand.values(text, arguments, schema)
    }
    return try await session.client.table(name).subscribe(
      id, to: Table.Selection(text, values ?? []), events: EventWords.events(session.options[events]),
      showing: ContentFlags.content(session.options), in: database(session), zone: session.options[zone])
  }

  private static func show(_ session: AppSession) async throws {
    let all = try await session.client.subscriptions(in: database(session))
    guard !session.asJSON else {
      var list = JSONList(session.terminal)
      for subscription in all { list.add(json(subscription)) }
      return list.finish()
    }
    var table = TextTable(["ID", "OF", "ZONE", "EVENTS", "WHERE", "ARGUMENTS", "TEMPLATE", "SHOWS"])
    for subscription in all {
      let shows = ContentFlags.text(subscription.content)
      switch subscription.subject {
      case .zones: table.add([subscription.id, "zones", "", "", "", "", "", shows])
      case .rows(let name, let selection, let zone, let events):
        table.add([
          subscription.id, name, zone ?? "", events.words.joined(separator: ","), selection.text ?? "",
          selection.arguments.map { $0.shown(of: nil) }.joined(separator: ", "), subscription.template ?? "", shows,
        ])
      }
    }
    session.terminal.say(table.isEmpty ? "nothing is subscribed to" : table.text)
  }

  private static func json(_ subscription: CloudSubscription) -> JSON {
    let shows = ContentFlags.json(subscription.content)
    return switch subscription.subject {
    case .zones: ["id": .string(subscription.id), "zones": .bool(true), "shows": shows]
    case .rows(let table, let selection, let zone, let events):
      [
        "id": .string(subscription.id), "table": .string(table), "where": selection.text.map { .string($0) } ?? .null,
        "arguments": .array(selection.arguments.map(\.json)), "zone": zone.map { .string($0) } ?? .null,
        "events": .array(events.words.map(JSON.string)),
        "template": subscription.template.map { .string($0) } ?? .null, "shows": shows,
      ]
    }
  }

  // MARK: Notifications

  private static func notifications(_ session: AppSession) async throws {
    var left = session.options[count] ?? .max
    guard left > 0 else { throw CaravanError(.invalidData, "--count \(left): give 1 or more") }
    let text = session.options[after] ?? ""
    guard let cursor = NotificationCursor(text) else {
      throw CaravanError(.invalidData, "--after '\(text)' is no cursor: take one that --json shows, SOURCE:NUMBER,...")
    }
    for try await notification in session.client.notifications(after: cursor, waits: session.options[follow]) {
      session.say(line(notification), json: json(notification))
      left -= 1
      if left == 0 { return }
    }
  }

  static func line(_ notification: CloudNotification) -> String {
    guard notification.skipped == 0 else {
      return "missed  \(notification.skipped) notification\(notification.skipped == 1 ? "" : "s")"
    }
    let place = [notification.type, notification.zone, notification.record].filter { !$0.isEmpty }
    let database = notification.database == .public ? "public" : ""
    return
      ([notification.reason.rawValue, notification.subscription] + place + [database, text(notification.content)])
      .filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private static func text(_ content: CloudNotification.Content) -> String {
    func key(_ key: String, _ arguments: [String]) -> String {
      key.isEmpty ? "" : "\(key)(\(arguments.joined(separator: ", ")))"
    }
    let fields = content.fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.shown(of: nil))" }
    return
      ([
        content.title, content.body, key(content.titleKey, content.titleArguments),
        key(content.bodyKey, content.bodyArguments), content.badges ? "badge" : "",
        content.sound.isEmpty ? "" : "sound \(content.sound)",
      ] + fields + [content.isCut ? "cut" : ""]).filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private static func json(_ content: CloudNotification.Content) -> JSON {
    [
      "title": .string(content.title), "body": .string(content.body), "title_key": .string(content.titleKey),
      "title_arguments": .array(content.titleArguments.map(JSON.string)), "body_key": .string(content.bodyKey),
      "body_arguments": .array(content.bodyArguments.map(JSON.string)), "badge": .bool(content.badges),
      "sound": .string(content.sound), "fields": .object(JSON.Object(sorting: content.fields.mapValues(\.json))),
      "cut": .bool(content.isCut),
    ]
  }

  private static func json(_ notification: CloudNotification) -> JSON {
    func number(_ value: UInt64) -> JSON { .int(Int64(clamping: value)) }
    return [
      "subscription": .string(notification.subscription), "reason": .string(notification.reason.rawValue),
      "public": .bool(notification.database == .public), "table": .string(notification.type),
      "zone": .string(notification.zone), "row": .string(notification.record), "version": number(notification.version),
      "device": .string(notification.device), "time": .int(notification.at), "source": number(notification.source),
      "number": number(notification.number), "skipped": number(notification.skipped),
      "content": notification.content.isEmpty ? .null : json(notification.content),
      "cursor": .string(notification.cursor.description),
    ]
  }
}
