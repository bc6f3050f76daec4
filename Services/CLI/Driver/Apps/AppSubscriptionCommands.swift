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
        + QueryLanguage.help, flags: [selection, events, zone, zones, isPublic]
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
      let isAlone =
        session.operands.count == 1 && session.options[selection] == nil && session.options[events].isEmpty
        && session.options[zone] == nil && !session.options[isPublic]
      guard isAlone else {
        throw CaravanError(
          .invalidData, "--zones is of all zones of the user's own database: give it nothing but an ID")
      }
      all = try await session.client.subscribeToZones(id)
    } else {
      guard session.operands.count > 1 else {
        throw CaravanError(.invalidData, "subscribe to what? Name a TABLE behind the ID, or give --zones")
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
      all = try await session.client.table(name).subscribe(
        id, to: Table.Selection(text, values ?? []), events: wanted(session), in: database(session),
        zone: session.options[zone])
    }
    session.say("subscribed to '\(id)'", json: ["subscriptions": .array(all.map(json))])
  }

  private static let names: [(String, CloudSubscription.Events)] = [
    ("enters", .enters), ("leaves", .leaves), ("changes", .changes),
  ]

  private static func wanted(_ session: AppSession) throws(CaravanError) -> CloudSubscription.Events {
    let words = session.options[events]
    guard !words.isEmpty else { return .all }
    var wanted: CloudSubscription.Events = []
    for word in words {
      guard let event = names.first(where: { $0.0 == word }) else {
        throw CaravanError(.invalidData, "--events '\(word)' is none: say enters, leaves, changes, with commas between")
      }
      wanted.insert(event.1)
    }
    return wanted
  }

  private static func words(_ events: CloudSubscription.Events) -> [String] {
    names.filter { events.contains($0.1) }.map(\.0)
  }

  private static func show(_ session: AppSession) async throws {
    let all = try await session.client.subscriptions(in: database(session))
    guard !session.asJSON else {
      var list = JSONList(session.terminal)
      for subscription in all { list.add(json(subscription)) }
      return list.finish()
    }
    var table = TextTable(["ID", "OF", "ZONE", "EVENTS", "WHERE", "ARGUMENTS"])
    for subscription in all {
      switch subscription.subject {
      case .zones: table.add([subscription.id, "zones", "", "", "", ""])
      case .rows(let name, let selection, let zone, let events):
        table.add([
          subscription.id, name, zone ?? "", words(events).joined(separator: ","), selection.text ?? "",
          selection.arguments.map { $0.shown(of: nil) }.joined(separator: ", "),
        ])
      }
    }
    session.terminal.say(table.isEmpty ? "nothing is subscribed to" : table.text)
  }

  private static func json(_ subscription: CloudSubscription) -> JSON {
    switch subscription.subject {
    case .zones: ["id": .string(subscription.id), "zones": .bool(true)]
    case .rows(let table, let selection, let zone, let events):
      [
        "id": .string(subscription.id), "table": .string(table), "where": selection.text.map { .string($0) } ?? .null,
        "arguments": .array(selection.arguments.map(\.json)), "zone": zone.map { .string($0) } ?? .null,
        "events": .array(words(events).map(JSON.string)),
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
    return ([notification.reason.rawValue, notification.subscription] + place + [database])
      .filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private static func json(_ notification: CloudNotification) -> JSON {
    func number(_ value: UInt64) -> JSON { .int(Int64(clamping: value)) }
    return [
      "subscription": .string(notification.subscription), "reason": .string(notification.reason.rawValue),
      "public": .bool(notification.database == .public), "table": .string(notification.type),
      "zone": .string(notification.zone), "row": .string(notification.record), "version": number(notification.version),
      "device": .string(notification.device), "time": .int(notification.at), "source": number(notification.source),
      "number": number(notification.number), "skipped": number(notification.skipped),
      "cursor": .string(notification.cursor.description),
    ]
  }
}
