/// Whether the agent still gives signs of life while something is awaited from it: what is looked at twice in the time
/// that it may be silent. A request that waits for the cloud may take as long as it takes, for the agent is asked
/// meanwhile whether it is there.
struct Watchdog {
  enum Step: Equatable {
    /// Nothing is awaited.
    case end
    case lookAgain
    /// Nothing was heard: ask for an answer, and look again.
    case ask
    /// Nothing was heard since that.
    case giveUp
  }

  private var isKept = false
  private var isHeard = false
  private var isAsked = false

  /// Something is awaited from the agent.
  /// - Returns: whether a look has to be taken, as none is going to be.
  mutating func begin() -> Bool {
    defer { isKept = true }
    if !isKept { (isHeard, isAsked) = (false, false) }
    return !isKept
  }

  /// Anything came from the agent.
  mutating func heard() { isHeard = true }

  /// - Parameter isAwaited: an answer or an upcall is.
  mutating func look(isAwaited: Bool) -> Step {
    defer { isHeard = false }
    guard isAwaited else {
      isKept = false
      return .end
    }
    guard !isHeard else {
      isAsked = false
      return .lookAgain
    }
    defer { isAsked = true }
    return isAsked ? .giveUp : .ask
  }
}
