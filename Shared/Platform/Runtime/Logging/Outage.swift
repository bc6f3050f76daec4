public import CaravanModel

/// Something that goes on failing for a while. A log has it once when it begins and once when it is over, however long
/// that takes and however often it is tried meanwhile. Safe to call from anywhere.
public final class Outage: Sendable {
  private struct State {
    /// nil: all is well.
    var since: Instant?
    var latest = Instant(nanoseconds: 0)
    var isTold = false
  }

  private let log: Log
  private let clock: any Clock
  private let text: String
  private let end: String
  private let patience: Duration
  private let quiet: Duration
  private let state = Mutex(State())

  /// - Parameters:
  ///   - text: what is said when it begins, as a warning.
  ///   - end: what is said when it is over.
  ///   - patience: nothing is said of what is over sooner.
  ///   - quiet: it is over only so long after it failed last: for what now works, now fails.
  public init(
    _ host: Host, _ text: String, over end: String, patience: Duration = .zero, quiet: Duration = .zero
  ) {
    log = host.log
    clock = host.clock
    self.text = text
    self.end = end
    self.patience = patience
    self.quiet = quiet
  }

  /// What is wrong now, and was said; nil: nothing.
  public var current: String? { state.withLock { $0.isTold ? text : nil } }

  /// It failed, for the first time or again.
  public func lasts(_ reason: String) {
    let now = clock.now
    let (wasTold, isTold) = state.withLock { state in
      let wasTold = state.isTold
      let since = state.since ?? now
      state.isTold = wasTold || now - since >= patience
      (state.since, state.latest) = (since, now)
      return (wasTold, state.isTold)
    }
    if isTold && !wasTold { return log.warning(text, [.reason: reason]) }
    log.debug(text, [.reason: reason])
  }

  public func lasts(_ error: CaravanError) { lasts(error.description) }

  /// It worked.
  public func ended() {
    let now = clock.now
    let (wasTold, lasted) = state.withLock { state in
      guard let since = state.since, now - state.latest >= quiet else { return (false, Duration.zero) }
      defer { state = State() }
      return (state.isTold, now - since)
    }
    if wasTold { log.info(end, [.duration: lasted]) }
  }

  /// Does what may take long before it fails: people are told sooner.
  public func told<Value: Sendable>(
    after notice: Duration, during work: () async throws(CaravanError) -> Value
  ) async throws(CaravanError) -> Value {
    async let _: Void = {
      guard (try? await clock.sleep(for: notice)) != nil else { return }
      lasts("no answer for \(notice.wholeMilliseconds) ms")
    }()
    return try await work()
  }
}

extension Outage {
  /// How long nothing is refused before a disk counts as one with room: a small write may fit where a large one does
  /// not.
  private static let diskQuiet: Duration = .seconds(5)

  /// A disk that takes nothing more, for the log of whoever writes to it.
  public static func disk(_ host: Host) -> Outage {
    Outage(
      host, "the disk refuses to write: nothing is lost, and nothing new is taken", over: "the disk takes writes again",
      quiet: diskQuiet)
  }
}
