/// What a broker lets one connection do, as nats-server 2.9 reads its permissions (`auth.go`, `client.go`). A
/// conformance test holds it against the real one.
public struct BrokerRights: Sendable, Hashable {
  /// Subjects with the wildcards of subscriptions.
  public struct Rules: Sendable, Hashable {
    private let allow: [[UInt8]]
    private let deny: [[UInt8]]

    /// - Parameter allow: nothing in it allows everything that `deny` does not name.
    public init(allow: [String] = [], deny: [String] = []) {
      self.allow = allow.map { Array($0.utf8) }
      self.deny = deny.map { Array($0.utf8) }
    }

    func admits(_ text: String) -> Bool {
      let subject = Array(text.utf8)
      guard allow.isEmpty || allow.contains(where: { BrokerRights.matches($0, subject) }) else { return false }
      return !denies(subject)
    }

    fileprivate func denies(_ subject: [UInt8]) -> Bool { deny.contains { BrokerRights.matches($0, subject) } }
    fileprivate var hasDenials: Bool { !deny.isEmpty }
  }

  /// Leave to answer a request where it says, whatever `publish` says.
  public struct Answers: Sendable, Hashable {
    /// Of each request; nil: any number.
    public var count: Int?
    /// How long after the request; nil: for ever.
    public var lifetime: Duration?

    public init(count: Int?, lifetime: Duration?) {
      self.count = count
      self.lifetime = lifetime
    }
  }

  public var publish: Rules
  public var subscribe: Rules
  public var answers: Answers?

  public init(publish: Rules = Rules(), subscribe: Rules = Rules(), answers: Answers? = nil) {
    self.publish = publish
    self.subscribe = subscribe
    self.answers = answers
  }

  /// What it may answer comes beside that.
  public func mayPublish(to subject: String) -> Bool { publish.admits(subject) }

  /// A wildcard in `pattern` counts as a token like any other, which only a wildcard of a rule matches: nobody hears
  /// more than a rule allows, but for `>`, which the broker lets pass where a rule ends with `*`.
  public func maySubscribe(to pattern: String) -> Bool { subscribe.admits(pattern) }

  /// Of what comes on a subscription that is allowed: one with wildcards may be wider than what is denied.
  func mayHear(_ subject: Subject) -> Bool {
    !subscribe.hasDenials || !subscribe.denies(Array(subject.text.utf8))
  }

  private static func matches(_ rule: [UInt8], _ subject: [UInt8]) -> Bool {
    let (dot, star, rest) = (UInt8(ascii: "."), UInt8(ascii: "*"), UInt8(ascii: ">"))
    var (r, s) = (0, 0)
    while r < rule.count, s < subject.count {
      let isToken = (r == 0 || rule[r - 1] == dot) && (r + 1 == rule.count || rule[r + 1] == dot)
      if isToken, rule[r] == rest { return r + 1 == rule.count }
      if isToken, rule[r] == star {
        while s < subject.count, subject[s] != dot { s += 1 }
        r += 1
        continue
      }
      guard rule[r] == subject[s] else { return false }
      r += 1
      s += 1
    }
    return r == rule.count && s == subject.count
  }
}

/// Whom a broker lets in, and as what.
public struct BrokerAdmission: Sendable {
  /// The account's public key.
  public var account: String
  /// The user's public key: a revocation names it.
  public var key: String
  /// When the credentials were made, in Unix seconds.
  public var issuedAt: Int64
  /// Answers come below `<inbox>.r`.
  public var inbox: String
  public var rights: BrokerRights

  public init(account: String, key: String, issuedAt: Int64, inbox: String, rights: BrokerRights) {
    self.account = account
    self.key = key
    self.issuedAt = issuedAt
    self.inbox = inbox
    self.rights = rights
  }
}

/// Something that a broker did not let a connection do.
public struct BrokerRefusal: Sendable, Hashable {
  public enum Action: String, Sendable, Hashable {
    case publish = "Publish"
    case subscribe = "Subscription"
  }

  /// The name that it has on this bus.
  public let peer: String
  public let action: Action
  public let subject: String

  public init(peer: String, action: Action, subject: String) {
    self.peer = peer
    self.action = action
    self.subject = subject
  }

  /// In the broker's words.
  var text: String { "Permissions Violation for \(action.rawValue) to \"\(subject)\"" }

  var event: BusEvent { .denied(action == .publish ? .publish : .subscription, text) }
}
