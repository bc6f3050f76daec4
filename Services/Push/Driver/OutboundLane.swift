public import CaravanHTTPClient
import CaravanModel
import CaravanPushCore
import CaravanRuntime

/// Carries one call at a time to the server that it names, in `PushLimits.callTime` at most.
public protocol OutboundLane: Sendable {
  func perform(_ call: HTTPCall) async -> Swift.Result<HTTPAnswer, HTTPFailure>
}

/// A lane of libcurl, which blocks, on a thread of its own.
actor HTTPLane: OutboundLane {
  private static let limits = {
    var limits = HTTPClientLimits()
    (limits.connect, limits.total, limits.answerBytes) = (
      PushLimits.connectTime, PushLimits.callTime, PushLimits.answerBytes
    )
    return limits
  }()

  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  private let client: HTTPClient

  private init(_ executor: any SerialExecutor, authority: String?) throws(CaravanError) {
    self.executor = executor
    client = try HTTPClient(authorityFile: authority)
  }

  /// - Parameter authority: who may have signed servers' certificates (PEM); nil: whom the system trusts.
  static func all(authority: String?, executors: any ExecutorSource) throws(CaravanError) -> [HTTPLane] {
    var lanes: [HTTPLane] = []
    for number in 0..<PushLimits.lanes {
      lanes.append(try HTTPLane(executors.makeSerial("push-\(number)"), authority: authority))
    }
    return lanes
  }

  func perform(_ call: HTTPCall) -> Swift.Result<HTTPAnswer, HTTPFailure> {
    do throws(HTTPFailure) { return .success(try client.performBlocking(call, limits: Self.limits)) } catch {
      return .failure(error)
    }
  }
}
