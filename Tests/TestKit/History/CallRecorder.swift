internal import CaravanModel
internal import CaravanRuntime

/// Writes down calls as they begin and end, from any thread.
public final class CallRecorder: Sendable {
  private struct State {
    var calls: [ZoneCall] = []
    /// Counts beginnings and ends: nothing finer is needed to tell what came before what.
    var time: UInt64 = 0

    mutating func tick() -> UInt64 {
      time += 1
      return time
    }
  }

  private let state = Mutex(State())

  public init() {}

  public var calls: [ZoneCall] { state.withLock { $0.calls } }

  /// - Returns: names the call for `end`.
  public func begin(_ process: String, _ request: ZoneCall.Request) -> Int {
    state.withLock { state in
      let call = ZoneCall(process, invoked: state.tick(), returned: nil, request, .unknown)
      state.calls.append(call)
      return state.calls.count - 1
    }
  }

  /// To be called once the answer is known, before anybody acts on it.
  public func end(_ call: Int, _ answer: ZoneCall.Answer, isRetried: Bool = false) {
    state.withLock { state in
      state.calls[call].answer = answer
      state.calls[call].isRetried = isRetried
      state.calls[call].returned = answer == .unknown ? nil : state.tick()
    }
  }
}
