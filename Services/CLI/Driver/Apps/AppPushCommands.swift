internal import CaravanCLICore
internal import CaravanClient
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime

/// `push`, `unpush` and `push-targets`: where the cloud pushes an app's notifications.
enum AppPushCommands {
  private static let webhook = Flag<String?>("webhook", "URL", "a server that takes signed CloudEvents")
  private static let webPush = Flag<String?>(
    "web-push", "FILE", "a browser's or UnifiedPush's subscription, in JSON: endpoint, keys.p256dh, keys.auth")
  private static let subscriptions = Flag<[String]>(
    "subscriptions", "A,B", "only notifications of these; all without it", default: [])
  private static let key = Flag<Bool>("key", "only the key that a browser subscribes with, in base64url")

  private static let subscriptionBytes = 16 << 10

  static let tools = [
    AppSession.tool(
      "push", "Has the cloud push the app's notifications to a browser, a phone or a server.", .init("ID", 1...1),
      details:
        "ID is your name for it; one that is there is replaced. A webhook's server is asked first whether it wants\n"
        + "events (OPTIONS, WebHook-Request-Origin), and checks signatures with the secret that is shown.",
      flags: [webhook, webPush, subscriptions]
    ) { session in try await push(session) },
    AppSession.tool("unpush", "Has nothing pushed there any more.", .init("ID", 1...1)) { session in
      try await session.client.stopPushing(to: session.operands[0])
      session.say("nothing is pushed to '\(session.operands[0])' any more", json: ["id": .string(session.operands[0])])
    },
    AppSession.tool("push-targets", "Shows where notifications are pushed to, and how that goes.", flags: [key]) {
      session in try await show(session)
    },
  ]

  private static func push(_ session: AppSession) async throws {
    let place: PushTarget.Place
    switch (session.options[webhook], session.options[webPush]) {
    case (let url?, nil): place = .webhook(url: url)
    case (nil, let file?): place = try endpoint(file)
    default: throw CaravanError(.invalidData, "give --webhook URL or --web-push FILE")
    }
    let id = session.operands[0]
    let secret = try await session.client.push(
      to: PushTarget(id, place, subscriptions: session.options[subscriptions]))
    let shown = secret.isEmpty ? "" : "; its server checks signatures with \(secret)"
    session.say(
      "notifications are pushed to '\(id)'\(shown)",
      json: ["id": .string(id), "secret": secret.isEmpty ? .null : .string(secret)])
  }

  /// As `JSON.stringify(subscription)` of a browser writes it.
  private static func endpoint(_ file: String) throws(CaravanError) -> PushTarget.Place {
    let text = try TextFile.read(file, upTo: subscriptionBytes)
    guard let json = try? JSON.parse(text), let url = json["endpoint"]?.stringValue,
      let key = json["keys"]?["p256dh"]?.stringValue.flatMap({ try? Base64.decodeURL($0) }),
      let secret = json["keys"]?["auth"]?.stringValue.flatMap({ try? Base64.decodeURL($0) })
    else {
      throw CaravanError(
        .invalidData, "'\(file)' is no push subscription: it has endpoint, keys.p256dh and keys.auth, in base64url")
    }
    return .webPush(url: url, key: key, secret: secret)
  }

  private static func show(_ session: AppSession) async throws {
    if session.options[key] {
      let text = Base64.encodeURL(try await session.client.pushServerKey())
      return session.say(text, json: ["key": .string(text)])
    }
    let targets = try await session.client.pushTargets()
    guard !session.asJSON else {
      var list = JSONList(session.terminal)
      for target in targets { list.add(json(target)) }
      return list.finish()
    }
    var table = TextTable(["ID", "TO", "SUBSCRIPTIONS", "DELIVERED", "GIVEN UP", "STATE"])
    for target in targets {
      table.add([
        target.id, url(target), target.subscriptions.isEmpty ? "all" : target.subscriptions.joined(separator: ","),
        "\(target.state.delivered)", "\(target.state.givenUp)", words(target.state),
      ])
    }
    session.terminal.say(table.isEmpty ? "nothing is pushed" : table.text)
  }

  private static func url(_ target: PushTarget) -> String {
    switch target.place {
    case .webPush(let url, _, _): url
    case .webhook(let url): url
    }
  }

  private static func words(_ state: PushTarget.State) -> String {
    guard !state.problem.isEmpty else { return "ok" }
    return (state.hasEnded ? "ended: " : "is tried again: ") + state.problem
  }

  private static func json(_ target: PushTarget) -> JSON {
    func number(_ value: UInt64) -> JSON { .int(Int64(clamping: value)) }
    let state = target.state
    let kind = if case .webhook = target.place { "webhook" } else { "web-push" }
    return [
      "id": .string(target.id), "kind": .string(kind), "url": .string(url(target)),
      "subscriptions": .array(target.subscriptions.map(JSON.string)), "delivered": number(state.delivered),
      "givenUp": number(state.givenUp), "status": .int(Int64(state.status)),
      "problem": state.problem.isEmpty ? .null : .string(state.problem), "ended": .bool(state.hasEnded),
      "failingSince": state.failingSince.map { .int($0) } ?? .null,
      "last": .array(
        state.last.map {
          [
            "source": .int(Int64($0.source)), "number": number($0.number), "status": .int(Int64($0.status)),
            "problem": .string($0.problem), "time": .int($0.at),
          ]
        }),
    ]
  }
}
