public import CaravanRuntime

/// Faults by rate, and cuts between named peers; all of it may change while the bus runs.
public final class FaultPlan: FaultPolicy {
  public struct Rates: Sendable, Equatable {
    /// Of a thousand messages.
    public var lost: UInt64
    public var duplicated: UInt64
    public var delayed: UInt64
    /// What is delayed takes up to this long.
    public var longestDelay: Duration

    public init(lost: UInt64 = 0, duplicated: UInt64 = 0, delayed: UInt64 = 0, longestDelay: Duration = .zero) {
      precondition(max(lost, duplicated, delayed) <= 1_000, "rates are per thousand")
      self.lost = lost
      self.duplicated = duplicated
      self.delayed = delayed
      self.longestDelay = longestDelay
    }
  }

  private struct Cut: Hashable {
    let a, b: String
    init(_ x: String, _ y: String) { (a, b) = x < y ? (x, y) : (y, x) }
  }

  private struct State {
    var rates: Rates
    var cuts: Set<Cut> = []
  }

  private let state: Mutex<State>

  public init(_ rates: Rates = Rates()) { state = Mutex(State(rates: rates)) }

  public func set(_ rates: Rates) { state.withLock { $0.rates = rates } }

  /// Nothing passes between the two, either way, until `heal`.
  public func cut(_ a: String, _ b: String) { state.withLock { _ = $0.cuts.insert(Cut(a, b)) } }
  public func heal(_ a: String, _ b: String) { state.withLock { _ = $0.cuts.remove(Cut(a, b)) } }

  /// No faults any more.
  public func healAll() {
    state.withLock { state in
      state.rates = Rates()
      state.cuts = []
    }
  }

  public func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
    let (rates, isCut) = state.withLock { ($0.rates, $0.cuts.contains(Cut(passage.sender, passage.receiver))) }
    func happens(_ rate: UInt64) -> Bool { rate > 0 && random.below(1_000) < rate }
    func delay() -> Duration {
      guard happens(rates.delayed), rates.longestDelay > .zero else { return .zero }
      return .nanoseconds(Int64(clamping: random.below(UInt64(rates.longestDelay.wholeNanoseconds))))
    }
    if isCut || happens(rates.lost) { return [] }
    return happens(rates.duplicated) ? [delay(), delay()] : [delay()]
  }
}
