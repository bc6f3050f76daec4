internal import CaravanCrypto
internal import CaravanEncoding
internal import CaravanHTTPClient
internal import CaravanPushCore
internal import CaravanPushDriver
internal import CaravanRuntime
internal import CaravanTestKit
internal import CaravanWire

/// The servers of all webhooks and push services: they take what comes, refuse it, fail, hang, answer late, lose their
/// answer, or are away for a while, as the seed says.
final class PushReceiver: OutboundLane {
  /// What becomes of a call.
  private enum Fate {
    /// It is answered, after a while.
    case answers(Int, after: Duration, retryAfter: Int?)
    /// It comes there, and nobody hears an answer; nil: there is none.
    case loses(Int?)
    case isAway
  }

  private enum Kind: CaseIterable {
    case takes, isLate, mumbles, hangs, fails, asksForTime, refuses, isGone, leaves

    var weight: Int {
      switch self {
      case .takes: 700
      case .isLate, .fails: 80
      case .mumbles, .hangs: 30
      case .asksForTime, .refuses: 40
      case .isGone: 4
      case .leaves: 8
      }
    }
  }

  private struct State {
    var dice: Dice
    /// Until when nobody is there, by addresses.
    var away: [String: Instant] = [:]
    /// What signatures are checked with, by addresses, as their users were told.
    var secrets: [String: String] = [:]
    var isSound = false
  }

  private let recorder: Recorder
  private let clock: any Clock
  private let key: P256PrivateKey
  private let secret = [UInt8](repeating: 9, count: 16)
  private let state: Mutex<State>

  init(on ground: Ground) throws {
    recorder = ground.recorder
    clock = ground.simulation.host("receiver").host.clock
    key = try P256PrivateKey([UInt8](repeating: 7, count: P256PrivateKey.byteCount))
    state = Mutex(State(dice: Dice(seed: ground.simulation.seed, "receiver")))
  }

  /// From here on every server is there and takes everything.
  func recover() { state.withLock { ($0.isSound, $0.away) = (true, [:]) } }

  // MARK: Addresses

  /// - Parameter perMinute: that the server says it takes; nil: it says nothing.
  static func hook(_ number: Int, perMinute: Int?) -> Webhook {
    Webhook(url: "https://hooks.example.org/\(number)" + (perMinute.map { "?rate=\($0)" } ?? ""))
  }

  /// What a browser or a distributor of UnifiedPush would have given to the app.
  func endpoint(_ number: Int) -> WebPushEndpoint {
    WebPushEndpoint(url: "https://push.example.org/\(number)", key: key.publicKey.bytes, secret: secret)
  }

  /// - Parameter secret: nil: it is about to be another one, perhaps.
  func expect(_ secret: String?, at url: String) { state.withLock { $0.secrets[url] = secret } }

  // MARK: Calls

  func perform(_ call: HTTPCall) async -> Swift.Result<HTTPAnswer, HTTPFailure> {
    let (delay, fate) = state.withLock { state -> (Duration, Fate) in
      let delay = state.dice.milliseconds(1...40)
      return (delay, self.fate(of: call, &state))
    }
    guard (try? await clock.sleep(for: delay)) != nil else { return .failure(.broken("the caller is gone")) }
    switch fate {
    case .answers(let status, let pause, let retryAfter):
      take(call, status)
      guard (try? await clock.sleep(for: pause)) != nil else { return .failure(.broken("the caller is gone")) }
      return .success(answer(to: call, status, retryAfter))
    case .loses(let status):
      take(call, status)
      try? await clock.sleep(for: PushLimits.callTime)
      return .failure(.timedOut)
    case .isAway: return .failure(.unreachable("nobody is there"))
    }
  }

  private func fate(of call: HTTPCall, _ state: inout State) -> Fate {
    let soon = state.dice.milliseconds(0...60)
    let taken = Fate.answers(state.dice.pick([200, 201, 204]), after: soon, retryAfter: nil)
    if state.isSound { return taken }
    if let end = state.away[call.url], end > clock.now { return .isAway }
    switch state.dice.pick(weighted: Kind.allCases.map { ($0.weight, $0) }) {
    case .takes: return taken
    case .isLate: return .answers(200, after: state.dice.milliseconds(500...9_000), retryAfter: nil)
    case .mumbles: return .loses(200)
    case .hangs: return .loses(nil)
    case .fails:
      return .answers(state.dice.pick([302, 401, 408, 425, 500, 502, 503]), after: soon, retryAfter: nil)
    case .asksForTime: return .answers(429, after: soon, retryAfter: state.dice.within(1...30))
    case .refuses: return .answers(state.dice.pick([400, 413, 422]), after: soon, retryAfter: nil)
    case .isGone: return .answers(state.dice.pick([404, 410]), after: soon, retryAfter: nil)
    case .leaves:
      state.away[call.url] = clock.now + state.dice.milliseconds(5_000...60_000)
      return .isAway
    }
  }

  private func answer(to call: HTTPCall, _ status: Int, _ retryAfter: Int?) -> HTTPAnswer {
    var headers: [String: String] = [:]
    if call.method == "OPTIONS" {
      headers["webhook-allowed-origin"] = "*"
      let parts = call.url.split(separator: "=")
      if parts.count == 2 { headers["webhook-allowed-rate"] = String(parts[1]) }
    }
    if let retryAfter { headers["retry-after"] = "\(retryAfter)" }
    return HTTPAnswer(status: status, headers: headers)
  }

  // MARK: What comes

  private func take(_ call: HTTPCall, _ status: Int?) {
    guard call.method == "POST", case .bytes(let body) = call.body else { return }
    guard let said = notification(in: body, call), let seen = SeenNotification(said),
      let id = said["id"]?.stringValue, let at = said["at"]?.stringValue
    else { return recorder.pushed(.unreadable(url: call.url)) }
    recorder.pushed(
      .came(PushCall(call.url, id: id, seen, at: at, time: clock.now.nanoseconds / 1_000_000, status: status)))
  }

  private func notification(in body: [UInt8], _ call: HTTPCall) -> JSON? {
    guard call.headers.contains("Content-Encoding: aes128gcm") else {
      guard let event = try? JSON.parse(body), let id = event["id"]?.stringValue,
        call.headers.contains("webhook-id: \(id)"), isSigned(call, id, body)
      else { return nil }
      return event["data"]
    }
    return (try? opened(body)).flatMap { $0 }.flatMap { try? JSON.parse($0) }
  }

  /// As Standard Webhooks says.
  private func isSigned(_ call: HTTPCall, _ id: String, _ body: [UInt8]) -> Bool {
    guard let secret = state.withLock({ $0.secrets[call.url] }) else { return true }
    func header(_ name: String) -> String {
      call.headers.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) } ?? ""
    }
    guard let key = try? Base64.decode(String(secret.dropFirst("whsec_".count))) else { return false }
    let message = Array("\(id).\(header("webhook-timestamp")).".utf8) + body
    let signature = "v1,\(Base64.encode(HMACSHA256.authenticate(message, key: key).bytes))"
    return header("webhook-signature").split(separator: " ").contains { $0 == signature }
  }

  /// One record of `aes128gcm` (RFC 8188) with keys of Web Push (RFC 8291).
  private func opened(_ body: [UInt8]) throws -> [UInt8]? {
    let head = 21 + P256PublicKey.byteCount
    guard body.count > head else { return nil }
    let (salt, sender) = (Array(body[..<16]), try P256PublicKey(Array(body[21..<head])))
    let shared = HKDFSHA256.derive(
      secret: try key.sharedSecret(with: sender), salt: secret,
      info: Array("WebPush: info\u{0}".utf8) + key.publicKey.bytes + sender.bytes, count: 32)
    func derived(_ what: String, _ count: Int) -> [UInt8] {
      HKDFSHA256.derive(secret: shared, salt: salt, info: Array("Content-Encoding: \(what)\u{0}".utf8), count: count)
    }
    let text = try AES128GCM.open(Array(body[head...]), key: derived("aes128gcm", 16), nonce: derived("nonce", 12))
    return text.flatMap { $0.last == 2 ? Array($0.dropLast()) : nil }
  }
}

extension SeenNotification {
  /// As targets get it.
  fileprivate init?(_ said: JSON) {
    func text(_ name: String) -> String { said[name]?.stringValue ?? "" }
    func number(_ name: String) -> UInt64 { UInt64(clamping: said[name]?.intValue ?? 0) }
    guard let reason = Reason(rawValue: text("reason")) else { return nil }
    self.init(
      text("subscription"), reason, source: number("source"), number: number("number"), zone: text("zone"),
      record: text("record"), version: number("version"))
  }
}
