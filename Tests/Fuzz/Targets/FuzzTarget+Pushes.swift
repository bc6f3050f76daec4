import CaravanEncoding
import CaravanModel
import CaravanPushCore
import CaravanStorageClient
import CaravanWire

/// What people subscribe to, and where notifications go.
extension FuzzTarget {
  static let pushes: [FuzzTarget] = [
    FuzzTarget("standing-query", seeds: standing.map { SubscriptionsRequest(save: StandingQuery($0)).encoded() }) {
      bytes in
      let query = try required(SubscriptionsRequest.decode(bytes).save, "query").model()
      let again = try sure {
        try CaravanWire.StandingQuery(decoding: CaravanWire.StandingQuery(query).encoded()).model()
      }
      try hold(again == query, "a subscription is read again as another")
    },
    FuzzTarget("push-target", seeds: targets.map { PushTargets.body(of: StoredTarget(target: $0)) }) { bytes in
      guard let stored: StoredTarget = PushTargets.value(of: bytes) else {
        throw CaravanError(.invalidData, "no target")
      }
      let again: StoredTarget? = try sure { PushTargets.value(of: PushTargets.body(of: stored)) }
      try hold(again == stored, "a target is read again as another")
      guard let url = stored.target?.webPush?.url ?? stored.target?.webhook?.url else { return }
      _ = try TargetAddress(url)
    },
    FuzzTarget("target-address", seeds: addresses.map { Array($0.utf8) }) { bytes in
      let address = try TargetAddress(String(decoding: bytes, as: UTF8.self))
      let origin = try sure { try TargetAddress(address.origin) }
      try hold(
        origin.host == address.host && origin.port == address.port && origin.origin == address.origin,
        "\(address.url) is of \(address.origin), which is of \(origin.origin)")
      try hold(!address.url.utf8.contains { $0 <= 0x20 || $0 >= 0x7f }, "\(address.url) ends a header")
      // Whoever splits at the last '@', or takes '\' for '/', comes to the same host.
      try hold(address.url.dropFirst(7).split(separator: "/").first?.contains("@") != true, address.url)
    },
    FuzzTarget("pushed", seeds: [logged.body]) { bytes in
      let notification = try PushedNotification(
        id: "n", container: ContainerID(unchecked: "chat"), environment: .development,
        record: RecordFields(body: bytes))
      let whole = notification.json(atMost: .max)
      try hold(try JSON.parse(whole.encodedBytes()) == whole, "JSON is read again as another")
      let cut = notification.json(atMost: PushLimits.webPushBytes).encodedBytes().count
      try hold(cut <= max(PushLimits.webPushBytes, 200), "\(cut) bytes do not go into a message")
      _ = notification.cloudEvent.encodedBytes()
    },
  ]

  private static let standing: [CaravanModel.StandingQuery] = [
    CaravanModel.StandingQuery(
      id: "near", .records(type: "places", text: .init("a = ?", arguments: [.integer(5)]), zone: "z", [.enters])),
    CaravanModel.StandingQuery(id: "zones", .zones),
  ]

  private static let targets = [
    PushTarget(id: "b", webPush: WebPushEndpoint(url: "https://p.org/1", key: [4], secret: [1])),
    PushTarget(id: "h", webhook: Webhook(url: "https://h.org:8443/a?b"), subscriptions: ["near"]),
  ]

  private static let addresses = [
    "https://push.example.org/a/b?c=d", "http://10.0.0.7:80/", "https://[2001:db8::1]:9/",
  ]

  private static let logged: RecordFields = {
    typealias Field = NotificationLog.Field
    return RecordFields([
      Field.reason.rawValue: .text("enters"), Field.title.rawValue: .text("Hello"), Field.at.rawValue: .integer(5),
      Field.bodyArguments.rawValue: .list([.text("a")]), Field.fields.rawValue: .text(#"{"a":1}"#),
    ])
  }()
}
