public import CaravanModel
internal import CaravanWire

/// Where the cloud pushes an app's notifications that holds no connection: a browser, a phone, a server (CK-85).
public struct PushTarget: Sendable, Hashable {
  public enum Place: Sendable, Hashable {
    /// A subscription of a browser's `PushManager`, or of UnifiedPush: messages are encrypted for it (RFC 8291).
    /// - Parameters:
    ///   - url: its endpoint.
    ///   - key: its `p256dh`, 65 bytes.
    ///   - secret: its `auth`, 16 bytes; empty in what the cloud lists.
    case webPush(url: String, key: [UInt8], secret: [UInt8])
    /// A server that takes signed CloudEvents, after it has said that it wants them.
    case webhook(url: String)
  }

  /// A notification that a target did not take; the log of notifications has it.
  public struct GivenUp: Sendable, Hashable {
    /// Which it is: its numbers in the log.
    public let source: UInt32
    public let number: UInt64
    /// Of the answer; 0: there was none.
    public let status: UInt32
    /// In words.
    public let problem: String
    /// Unix milliseconds.
    public let at: Int64
  }

  /// How a target does.
  public struct State: Sendable, Hashable {
    /// Notifications that it took, and those that it did not.
    public var delivered: UInt64 = 0
    public var givenUp: UInt64 = 0
    /// Of the last answer; 0: there was none, or the last one went well.
    public var status: UInt32 = 0
    /// Why the last notification was not taken; empty: it was.
    public var problem = ""
    /// Unix milliseconds; nil: the last try went well.
    public var failingSince: Int64?
    /// Nothing is sent there any more, until it is saved again.
    public var hasEnded = false
    /// The last ones that it did not take.
    public var last: [GivenUp] = []
  }

  /// The app's name for it, one of its user's.
  public var id: String
  public var place: Place
  /// Names of the subscriptions whose notifications go there; none: all.
  public var subscriptions: [String]
  /// As the cloud has it; of no use where a target is saved.
  public private(set) var state = State()

  /// - Parameters:
  ///   - id: the app's name for it: 1 to 64 bytes.
  ///   - place: where it is.
  ///   - subscriptions: names of those whose notifications go there; none: all.
  public init(_ id: String, _ place: Place, subscriptions: [String] = []) {
    self.id = id
    self.place = place
    self.subscriptions = subscriptions
  }

  init(_ status: PushTargetStatus) throws(CaravanError) {
    let target = try required(status.target, "target")
    let place: Place =
      if let endpoint = target.webPush {
        .webPush(url: endpoint.url, key: endpoint.key, secret: endpoint.secret)
      } else {
        .webhook(url: target.webhook?.url ?? "")
      }
    self.init(target.id, place, subscriptions: target.subscriptions)
    guard let known = status.state else { return }
    state = State(
      delivered: known.delivered, givenUp: known.givenUp, status: known.status, problem: known.problem,
      failingSince: known.failingSinceMilliseconds == 0 ? nil : Int64(clamping: known.failingSinceMilliseconds),
      hasEnded: known.ended,
      last: known.last.map {
        GivenUp(
          source: $0.source, number: $0.number, status: $0.status, problem: $0.problem,
          at: Int64(clamping: $0.atMilliseconds))
      })
  }

  var wire: CaravanWire.PushTarget {
    var target = CaravanWire.PushTarget(id: id, subscriptions: subscriptions)
    switch place {
    case .webPush(let url, let key, let secret): target.webPush = WebPushEndpoint(url: url, key: key, secret: secret)
    case .webhook(let url): target.webhook = Webhook(url: url)
    }
    return target
  }
}

extension CaravanClient {
  /// Has the app's notifications pushed to a target from now on; one of the same name makes room. Notifications come
  /// in the order of the log, each at least once and under one id, so whoever gets them tells repetitions apart. One
  /// that cannot be delivered for three days is given up, and a target that takes none for a week is tried no more.
  /// - Parameter target: where they go; up to 20 of a user in an app.
  /// - Returns: the secret with which a webhook's server checks signatures (Standard Webhooks); empty for others.
  /// - Throws: `invalidData` for what is no target; `accessDenied` for a webhook whose server does not say that it
  ///   wants events; `limitExceeded`; `unavailable` where it cannot be asked; `networkNotConnected`,
  ///   `networkNotPermitted`.
  @discardableResult
  public func push(to target: PushTarget) async throws(CaravanError) -> String {
    try await manage(PushTargetsRequest(save: target.wire)).secret
  }

  /// Has nothing pushed to a target any more; none of this name is removed already.
  /// - Parameter id: the app's name for it.
  /// - Throws: `invalidData` for an empty name; `networkNotConnected`, `networkNotPermitted`.
  public func stopPushing(to id: String) async throws(CaravanError) {
    // Nothing to remove would be a list.
    try RecordName.check(id)
    _ = try await manage(PushTargetsRequest(remove: id))
  }

  /// Where the user has the app's notifications pushed to, and how that goes.
  /// - Throws: `networkNotConnected`, `networkNotPermitted`.
  public func pushTargets() async throws(CaravanError) -> [PushTarget] {
    var list: [PushTarget] = []
    for status in try await manage(PushTargetsRequest()).targets { list.append(try PushTarget(status)) }
    return list
  }

  /// What a browser, or a UnifiedPush distributor, is given as `applicationServerKey`: it takes messages of this cloud
  /// only then (VAPID, RFC 8292).
  /// - Returns: a point of P-256, 65 bytes.
  /// - Throws: `networkNotConnected`, `networkNotPermitted`; `unavailable` where the suite pushes nothing.
  public func pushServerKey() async throws(CaravanError) -> [UInt8] {
    try await manage(PushTargetsRequest()).serverKey
  }

  private func manage(_ request: PushTargetsRequest) async throws(CaravanError) -> PushTargetsReply {
    guard case .pushTargets(let reply) = try await connection.request(.managePushTargets(request)) else {
      throw AppConnection.surprise("push")
    }
    return reply
  }
}
