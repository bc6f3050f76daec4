import CaravanCrypto
import CaravanEncoding
import CaravanHTTPClient
import CaravanModel
import CaravanPushCore
import CaravanWire
import Testing

@testable import CaravanPushDriver

/// Goal: messages of Web Push and webhooks are what their standards say. Method: their examples, and opening them as
/// whoever gets them does.
@Suite struct WebPushTests {
  static func notification(_ id: String = "n_1") throws -> PushedNotification {
    typealias Field = NotificationLog.Field
    return try PushedNotification(
      id: id, container: ContainerID(unchecked: "chat"), environment: .development,
      record: RecordFields([
        Field.reason.rawValue: .text("enters"), Field.subscription.rawValue: .text("mine"),
        Field.title.rawValue: .text("Hello"), Field.at.rawValue: .integer(1_700_000_000_000),
      ]))
  }

  @Test("CK-85: the example of RFC 8291, appendix A, byte for byte")
  func example() throws {
    let sender = try P256PrivateKey(Base64.decodeURL("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
    let endpoint = WebPushEndpoint(
      url: "https://push.example.org/a",
      key: try Base64.decodeURL(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
      secret: try Base64.decodeURL("BTBZMqHH6r4Tts7J_aSIgg"))
    let body = try WebPush.encrypted(
      Array("When I grow up, I want to be a watermelon".utf8), for: endpoint, by: sender,
      salt: Base64.decodeURL("DGv6ra1nlYgDCS1FRnbzlw"))
    #expect(
      Base64.encodeURL(body)
        == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWA"
        + "mS6TlzAC8wEqKK6PBru"
        + "3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
  }

  @Test("CK-85: who sends proves it to that push service alone, for half a day (RFC 8292)")
  func proof() throws {
    let key = try P256PrivateKey.generate()
    let receiver = try P256PrivateKey.generate()
    let endpoint = WebPushEndpoint(
      url: "https://push.example.org:444/a", key: receiver.publicKey.bytes, secret: [UInt8](repeating: 1, count: 16))
    let call = try WebPush(key: key, contact: "mailto:ops@example.org").call(
      Self.notification(), to: endpoint, at: TargetAddress(endpoint.url), seconds: 60, now: 1_000_000)
    #expect(call.method == "POST" && call.url == endpoint.url)
    #expect(call.headers.contains("TTL: 60") && call.headers.contains("Content-Encoding: aes128gcm"))
    #expect(call.headers.contains("Urgency: high"), "it shows something")
    let header = try #require(call.headers.first { $0.hasPrefix("Authorization: vapid t=") })
    let parts = header.dropFirst("Authorization: vapid t=".count).split(separator: ",")
    #expect(parts.last == " k=\(Base64.encodeURL(key.publicKey.bytes))")
    let token = try #require(parts.first).split(separator: ".").map(String.init)
    #expect(key.publicKey.verify(try Base64.decodeURL(token[2]), over: Array("\(token[0]).\(token[1])".utf8)))
    #expect(try JSON.parse(Base64.decodeURL(token[0])) == ["typ": "JWT", "alg": "ES256"])
    #expect(
      try JSON.parse(Base64.decodeURL(token[1]))
        == ["aud": "https://push.example.org:444", "exp": .int(1_000 + 43_200), "sub": "mailto:ops@example.org"])
  }

  @Test("CK-85: an endpoint whose key is no point of the curve is refused")
  func malformedKey() throws {
    let endpoint = WebPushEndpoint(url: "https://push.example.org/a", key: [4], secret: [])
    let error = #expect(throws: CaravanError.self) {
      try WebPush(key: P256PrivateKey.generate(), contact: nil).call(
        Self.notification(), to: endpoint, at: TargetAddress(endpoint.url), seconds: 60, now: 0)
    }
    #expect(error?.code == .invalidData)
  }

  // MARK: Webhooks

  @Test("CK-85: a webhook is signed over id, time and body with its own secret, by each key that is trusted")
  func webhook() throws {
    let (old, new) = (try TicketKey.generate(), try TicketKey.generate())
    let both = try KeyRing(old).adding(new, at: 5)
    let rotated = try #require(both.sealing(with: both.members[1].id, at: 6))
    let target = StoredTarget(
      target: PushTarget(id: "hook", webhook: Webhook(url: "https://hook.example.org/")), registration: [1, 2, 3])
    let hooks = Webhooks(keys: rotated, origin: "cloud.example.org")
    let call = hooks.call(
      try Self.notification(), to: target, at: try TargetAddress("https://hook.example.org/"), now: 9_000)
    guard case .bytes(let body) = call.body else { return #expect(Bool(false), "it has a body") }
    #expect(try JSON.parse(body)["data"]?["title"] == "Hello")
    #expect(call.headers.contains("webhook-id: n_1") && call.headers.contains("webhook-timestamp: 9"))
    let header = try #require(call.headers.first { $0.hasPrefix("webhook-signature: ") })
    let signatures = header.dropFirst("webhook-signature: ".count).split(separator: " ").map(String.init)
    #expect(signatures.count == 2)
    func signature(_ hooks: Webhooks, _ target: StoredTarget) throws -> String {
      let secret = try Base64.decode(String(hooks.secret(of: target).dropFirst("whsec_".count)))
      return "v1," + Base64.encode(HMACSHA256.authenticate(Array("n_1.9.".utf8) + body, key: secret).bytes)
    }
    #expect(try signatures.contains(signature(hooks, target)))
    #expect(try signatures.contains(signature(Webhooks(keys: KeyRing(old), origin: ""), target)))
    var other = target
    other.registration = [1, 2, 4]
    #expect(try !signatures.contains(signature(hooks, other)), "another target has another secret")
  }

  @Test(
    "CK-85: a server gets events that says so, and as many as it says",
    arguments: [
      (200, ["webhook-allowed-origin": "cloud.example.org"], 0),
      (204, ["webhook-allowed-origin": "*", "webhook-allowed-rate": "120"], 120),
      (200, ["webhook-allowed-origin": "*", "webhook-allowed-rate": "*"], 0),
      (200, [:], nil), (200, ["webhook-allowed-origin": "cloud.example"], nil),
      (404, ["webhook-allowed-origin": "*"], nil), (301, ["webhook-allowed-origin": "*"], nil),
      (200, ["webhook-allowed-origin": "*", "webhook-allowed-rate": "many"], nil),
      (200, ["webhook-allowed-origin": "*", "webhook-allowed-rate": "0"], nil),
    ] as [(Int, [String: String], UInt32?)])
  func permission(status: Int, headers: [String: String], perMinute: UInt32?) throws {
    let hooks = Webhooks(keys: KeyRing(try TicketKey.generate()), origin: "cloud.example.org")
    #expect(
      try hooks.question(to: TargetAddress("https://h.org/")).headers == ["WebHook-Request-Origin: cloud.example.org"])
    let answer = HTTPAnswer(status: status, headers: headers)
    #expect((try? hooks.permission(answer)) == perMinute)
  }
}
