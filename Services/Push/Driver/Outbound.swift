import CaravanHTTPClient
import CaravanModel
import CaravanPushCore
import CaravanRuntime

/// The one way in which a tenant has the suite call somebody else's server: to public addresses only, each checked as
/// it is connected to, without redirects or proxies, in bounded time, with bounded answers.
final class Outbound: Sendable {
  /// Who a call is for.
  struct Tenant: Sendable {
    let container: ContainerID
    /// The target failed the last time.
    let isRetry: Bool
  }

  /// Servers that the operator lets everybody call, wherever they are, also without TLS.
  private let exceptions: Set<HostPort>
  private let shares: Mutex<LaneShares>

  /// - Parameter lanes: as many calls are on their way at once.
  init(exceptions: [HostPort], lanes: [any OutboundLane]) {
    self.exceptions = Set(exceptions)
    shares = Mutex(LaneShares(free: lanes))
  }

  /// - Throws: `invalidData` for what is no address, or one that is not called: in clear.
  func address(_ url: String) throws(CaravanError) -> TargetAddress {
    let address = try TargetAddress(url)
    guard address.isEncrypted || isException(address) else {
      throw CaravanError(.invalidData, "'\(url.prefix(80))' would be called in clear: use https://")
    }
    return address
  }

  private func isException(_ address: TargetAddress) -> Bool {
    exceptions.contains(HostPort(address.host, address.port))
  }

  /// - Throws: `serverBusy` when there is no lane left for such a call.
  func perform(
    _ call: HTTPCall, to address: TargetAddress, for tenant: Tenant
  ) async throws(CaravanError) -> Swift.Result<HTTPAnswer, HTTPFailure> {
    guard let lane = shares.withLock({ $0.take(tenant, address.host) }) else {
      throw CaravanError(
        .serverBusy, "many notifications are on their way to such targets: try again",
        retryAfterMilliseconds: PushLimits.busyMilliseconds)
    }
    defer { shares.withLock { $0.give(lane, tenant, address.host) } }
    var call = call
    if !isException(address) {
      call.permits = { PublicAddresses.contains($0.bytes) }
    }
    return await lane.perform(call)
  }
}

/// Lanes that are free, and what is on its way in the others.
private struct LaneShares {
  private var free: [any OutboundLane]
  private var byContainer: [ContainerID: Int] = [:]
  private var byHost: [String: Int] = [:]
  private var retries: [ContainerID: Int] = [:]

  init(free: [any OutboundLane]) { self.free = free }

  mutating func take(_ tenant: Outbound.Tenant, _ host: String) -> (any OutboundLane)? {
    guard byContainer[tenant.container, default: 0] < PushLimits.lanesPerContainer,
      byHost[host, default: 0] < PushLimits.lanesPerHost, !tenant.isRetry || hasRetryLane(tenant.container),
      let lane = free.popLast()
    else { return nil }
    byContainer[tenant.container, default: 0] += 1
    byHost[host, default: 0] += 1
    if tenant.isRetry { retries[tenant.container, default: 0] += 1 }
    return lane
  }

  private func hasRetryLane(_ container: ContainerID) -> Bool {
    retries[container, default: 0] < PushLimits.retryLanesPerContainer
      && retries.values.reduce(0, +) < PushLimits.lanesForRetries
  }

  mutating func give(_ lane: any OutboundLane, _ tenant: Outbound.Tenant, _ host: String) {
    free.append(lane)
    Self.release(tenant.container, in: &byContainer)
    Self.release(host, in: &byHost)
    if tenant.isRetry { Self.release(tenant.container, in: &retries) }
  }

  private static func release<Key>(_ key: Key, in counts: inout [Key: Int]) {
    let left = counts[key, default: 1] - 1
    counts[key] = left > 0 ? left : nil
  }
}
