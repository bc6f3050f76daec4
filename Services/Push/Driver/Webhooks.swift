import CaravanCrypto
import CaravanEncoding
import CaravanHTTPClient
import CaravanModel
import CaravanPushCore
import CaravanWire

/// Signed CloudEvents to servers. The signature is that of the specification *Standard Webhooks*: over id, time and
/// body, so that nobody replays an event, or sends one of their own.
struct Webhooks: Sendable {
  /// Each target's secret comes from it.
  let keys: any TicketKeys
  /// How the suite calls itself when it asks servers whether they want events.
  let origin: String

  /// - Parameter now: Unix milliseconds.
  func call(
    _ notification: PushedNotification, to target: StoredTarget, at address: TargetAddress, now: Int64
  ) -> HTTPCall {
    let body = notification.cloudEvent.encodedBytes()
    let seconds = now / 1_000
    let message = Array("\(notification.id).\(seconds).".utf8) + body
    let signatures = keys.ring.members.map { member in
      "v1,\(Base64.encode(HMACSHA256.authenticate(message, key: Self.secret(of: target, member.key)).bytes))"
    }
    return HTTPCall(
      "POST", address.url,
      headers: [
        "Content-Type: application/cloudevents+json; charset=utf-8", "webhook-id: \(notification.id)",
        "webhook-timestamp: \(seconds)", "webhook-signature: \(signatures.joined(separator: " "))",
      ], body: .bytes(body))
  }

  /// What the target's server checks signatures with, as Standard Webhooks writes it: of the newest key.
  func secret(of target: StoredTarget) -> String {
    "whsec_\(Base64.encode(Self.secret(of: target, keys.ring.sealing.key)))"
  }

  private static func secret(of target: StoredTarget, _ key: TicketKey) -> [UInt8] {
    HMACSHA256.authenticate(Array("caravan webhook ".utf8) + target.registration, key: key.bytes).bytes
  }

  // MARK: Whether a server wants events

  /// Asks the server whether it takes events from here (CloudEvents, *HTTP 1.1 Web Hooks*, section 4): nobody has the
  /// suite send to who did not ask for it.
  func question(to address: TargetAddress) -> HTTPCall {
    HTTPCall("OPTIONS", address.url, headers: ["WebHook-Request-Origin: \(origin)"])
  }

  /// - Returns: how many events a minute the server takes; 0: as many as there are.
  /// - Throws: `accessDenied` when it takes none.
  func permission(_ answer: HTTPAnswer) throws(CaravanError) -> UInt32 {
    let allowed = answer.headers["webhook-allowed-origin"]
    guard (200..<300).contains(answer.status), allowed == "*" || allowed == origin else {
      throw CaravanError(
        .accessDenied,
        "the server did not say that it takes events from here (status \(answer.status)): have it answer OPTIONS with "
          + "WebHook-Allowed-Origin: \(origin)")
    }
    guard let rate = answer.headers["webhook-allowed-rate"], rate != "*" else { return 0 }
    guard let number = UInt32(rate), number > 0 else {
      throw CaravanError(.invalidData, "the server's WebHook-Allowed-Rate is no number of events a minute")
    }
    return number
  }
}
