import CaravanCrypto
import CaravanHTTPClient
import CaravanModel
import CaravanPushCore
import CaravanRuntime
import CaravanWire

/// Says whether notifications may go to a target, and carries each to its target once a request.
struct PushHandler: Sendable {
  let webPush: WebPush
  let webhooks: Webhooks
  let outbound: Outbound
  let metrics: PushMetrics
  let host: Host

  // MARK: Registration

  /// - Throws: `invalidData`, `limitExceeded` for a target that cannot be one; `accessDenied` for a server that does
  ///   not say that it wants events; `unavailable` where it cannot be asked.
  func register(_ request: RegisterTargetRequest) async throws(CaravanError) -> RegisterTargetReply {
    var reply = RegisterTargetReply(serverKey: webPush.key.publicKey.bytes)
    guard let stored = request.target else { return reply }
    let target = try required(stored.target, "target")
    let address = try address(of: target)
    if let endpoint = target.webPush {
      guard (try? P256PublicKey(endpoint.key)) != nil, endpoint.secret.count == 16 else {
        throw CaravanError(
          .invalidData, "the subscription's keys are not those of Web Push: p256dh has 65 bytes, auth has 16")
      }
    } else {
      let tenant = Outbound.Tenant(container: try ContainerID(request.container), isRetry: false)
      let answer = try await outbound.perform(webhooks.question(to: address), to: address, for: tenant)
      switch answer {
      case .success(let answer): reply.perMinute = try webhooks.permission(answer)
      case .failure(let failure):
        throw CaravanError(.unavailable, "\(address.host) cannot be asked whether it takes events: \(failure.reason)")
      }
      reply.secret = webhooks.secret(of: stored)
    }
    return reply
  }

  private func address(of target: PushTarget) throws(CaravanError) -> TargetAddress {
    switch (target.webPush, target.webhook) {
    case (let endpoint?, nil): try outbound.address(endpoint.url)
    case (nil, let webhook?): try outbound.address(webhook.url)
    default: throw CaravanError(.invalidData, "a push target is a Web Push endpoint or a webhook: give one of them")
    }
  }

  // MARK: Delivery

  /// - Throws: `serverBusy` when it is to be tried again soon; `invalidData` for what is no notification.
  func deliver(_ request: DeliverRequest) async throws(CaravanError) -> DeliverReply {
    let stored = try required(request.target, "target")
    let target = try required(stored.target, "target")
    guard let environment = CaravanModel.Environment(rawValue: request.environment) else {
      throw CaravanError(.invalidData, "there is no environment '\(request.environment.prefix(40))'")
    }
    let container = try ContainerID(request.container)
    let notification = try PushedNotification(
      id: request.id, container: container, environment: environment,
      record: RecordFields(body: request.notification))
    // What the operator has forbidden since is not called any more.
    let address = try address(of: target)
    let now = host.clock.wallTime.milliseconds
    let call =
      if let endpoint = target.webPush {
        try webPush.call(notification, to: endpoint, at: address, seconds: request.seconds, now: now)
      } else {
        webhooks.call(notification, to: stored, at: address, now: now)
      }
    let started = host.clock.now
    let answer = try await outbound.perform(
      call, to: address, for: Outbound.Tenant(container: container, isRetry: request.isRetry))
    metrics.seconds.record(host.clock.now - started)
    let reply = Self.reply(answer)
    metrics.count(reply.outcome)
    return reply
  }

  private static func reply(_ answer: Swift.Result<HTTPAnswer, HTTPFailure>) -> DeliverReply {
    switch answer {
    case .success(let answer):
      let status = UInt32(clamping: answer.status)
      let problem = "the server answered with status \(answer.status)"
      return switch DeliveryVerdict(status: answer.status, retryAfter: answer.headers["retry-after"]) {
      case .taken: DeliverReply(outcome: .taken, status: status)
      case .later(let seconds):
        DeliverReply(outcome: .later, status: status, problem: problem, waitSeconds: seconds)
      case .refused: DeliverReply(outcome: .refused, status: status, problem: problem)
      case .gone: DeliverReply(outcome: .gone, status: status, problem: problem)
      }
    case .failure(let failure): return DeliverReply(outcome: .later, problem: failure.reason)
    }
  }
}

extension HTTPFailure {
  /// For whoever registered the target: nothing of what a server said, and nothing of the operator's network.
  fileprivate var reason: String {
    switch self {
    case .forbidden: "its name means no public address"
    case .unreachable: "nobody answers there"
    case .untrusted: "its certificate does not prove who it is"
    case .timedOut: "it did not answer in time"
    case .tooLong: "its answer is too long"
    case .broken, .noBody: "it broke the connection, or does not speak HTTP"
    }
  }
}
