/// What a ring of keys is for: each is given only to those who seal or open it (TRU-09).
public enum RingPurpose: String, Sendable, CaseIterable {
  /// Of chunks: sync seals, storage opens.
  case tickets
  /// Change tokens, and turns of diff clients: sync seals and opens, notify seals.
  case tokens
  /// Secrets of webhooks come from it: push's.
  case webhooks

  /// What the ring is called in a directory of keys.
  public var file: String {
    switch self {
    case .tickets: "ticket.key"
    case .tokens: "token.key"
    case .webhooks: "webhook.key"
    }
  }

  /// Whether the ring of tickets was for this too, in deployments of before.
  public var wasOfTickets: Bool { self == .tokens }
}
