internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime

/// Apps that wait for the sync of a table and direction to end.
struct SyncWaiters: Sendable {
  typealias Answer = Promise<Swift.Result<Void, CaravanError>>

  private var waiting: [Coalescer.Key: [Answer]] = [:]

  /// In order.
  var keys: [Coalescer.Key] { waiting.keys.sorted() }

  func isAwaited(_ key: Coalescer.Key) -> Bool { waiting[key] != nil }

  /// - Throws: `limitExceeded` when too many wait.
  mutating func add(_ key: Coalescer.Key) throws(CaravanError) -> Answer {
    let others = waiting[key] ?? []
    guard others.count < EngineLimits.waitersPerTable else {
      throw CaravanError(.limitExceeded, "\(others.count) calls wait for a sync of \(key.table) already: wait for one")
    }
    let answer = Answer()
    waiting[key] = others + [answer]
    return answer
  }

  /// Those a session that begins now will answer: what they wait for was there before.
  mutating func take(_ key: Coalescer.Key) -> [Answer] { waiting.removeValue(forKey: key) ?? [] }

  /// The session is tried again: they wait for that.
  mutating func putBack(_ answers: [Answer], for key: Coalescer.Key) {
    if !answers.isEmpty { waiting[key] = answers + (waiting[key] ?? []) }
  }

  mutating func takeAll() -> [Answer] {
    defer { waiting = [:] }
    return waiting.sorted { $0.key < $1.key }.flatMap(\.value)
  }
}

/// Kept once there is a connection, for calls that a connection which is just being made is worth waiting for.
struct ConnectionPromise: Sendable {
  private var promise = Promise<Void>()
  /// Why the last attempt to connect failed; nil: it did not.
  var failure: CaravanError?

  mutating func fulfil() {
    failure = nil
    promise.fulfil(())
  }

  /// The connection is gone.
  mutating func renew() { if promise.value != nil { promise = Promise() } }

  /// - Throws: `networkNotConnected` when there is none within `EngineLimits.connectionGrace`, `cancelled`.
  func wait(_ clock: any Clock) async throws(CaravanError) {
    let promise = promise
    do {
      try await clock.withDeadline(EngineLimits.connectionGrace, "connecting") { () throws(CaravanError) in
        try await promise.wait()
      }
    } catch {
      throw error.code == .cancelled ? error : .notConnected
    }
  }
}
