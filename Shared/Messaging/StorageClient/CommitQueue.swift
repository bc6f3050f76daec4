package import CaravanModel
package import CaravanRuntime
package import CaravanWire

/// What travels together.
public enum BatchLimits {
  /// Commits of one message.
  public static let commits = 64
  /// A commit of more travels by itself.
  static let bytesPerCommit = 16 << 10
  /// Messages with commits on their way at once. While there are so many, further commits wait and share the next one;
  /// one has its answer while storage works on the other.
  static let messages = 2
  /// A message that is answered later does not count any more: what became of it is no reason for others to wait.
  static let patience: Duration = .milliseconds(100)
}

/// Where commits wait that are asked for while others are on their way: those that wait share a message there and one
/// back. A commit that finds the way free goes at once.
///
/// Nobody runs a loop: who finds the way free, or inherits it, sends for all that wait at that moment, hands the way to
/// one of those who came meanwhile, and answers the others.
package final class CommitQueue: Sendable {
  package typealias Answer = Swift.Result<CommitReply, CaravanError>

  private enum Turn {
    case answered(Answer)
    /// The way is free: these go along, in a message of this number.
    case leads([Waiting], message: UInt64)
  }

  private struct Waiting {
    let request: CommitRequest
    let continuation: TaskContinuation<Turn, Never>
  }

  private struct State {
    var waiting = Ring<Waiting>()
    var underway: Set<UInt64> = []
    var last: UInt64 = 0

    mutating func newMessage() -> UInt64 {
      last += 1
      underway.insert(last)
      return last
    }
  }

  private let clock: any Clock
  private let state = Mutex(State())

  package init(clock: any Clock) { self.clock = clock }

  /// Commits that wait for the way to be free.
  package var waiting: Int { state.withLock { $0.waiting.count } }

  /// - Parameter send: gives an answer for each commit, in order.
  package func commit(_ request: CommitRequest, send: ([CommitRequest]) async -> [Answer]) async -> Answer {
    switch await turn(request) {
    case .answered(let answer): return answer
    case .leads(let others, let message):
      clock.call(at: clock.now + BatchLimits.patience) { [weak self] in self?.handOver(message) }
      let answers = await send([request] + others.map(\.request))
      handOver(message)
      for (other, answer) in zip(others, answers.dropFirst()) {
        other.continuation.resume(returning: .answered(answer))
      }
      return answers[0]
    }
  }

  private func turn(_ request: CommitRequest) async -> Turn {
    await withTaskContinuation { continuation in
      let message = state.withLock { state -> UInt64? in
        if state.underway.count < BatchLimits.messages { return state.newMessage() }
        state.waiting.append(Waiting(request: request, continuation: continuation))
        return nil
      }
      if let message { continuation.resume(returning: .leads([], message: message)) }
    }
  }

  /// The message has its answer, or has waited for it long enough.
  private func handOver(_ message: UInt64) {
    let (heir, turn) = state.withLock { state -> (Waiting?, Turn) in
      guard state.underway.remove(message) != nil, let heir = state.waiting.popFirst() else {
        return (nil, .leads([], message: 0))
      }
      var others: [Waiting] = []
      while others.count < BatchLimits.commits - 1, let next = state.waiting.popFirst() { others.append(next) }
      return (heir, .leads(others, message: state.newMessage()))
    }
    heir?.continuation.resume(returning: turn)
  }
}
