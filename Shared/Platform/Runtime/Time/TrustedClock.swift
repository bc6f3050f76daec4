internal import CaravanEncoding
public import CaravanModel

/// A machine's clock, whose wall time steps only when `ClockTrust` believes it. Safe to call from anywhere.
public final class TrustedClock: Clock {
  private struct State {
    var trust: ClockTrust
    /// When it was asked last whether the machine's clock is synchronised, since boot; and what the answer was.
    var asked: Int64?
    var isSynchronised = false
  }

  /// Between two questions to the kernel while the clock is not believed.
  private static let patience: Int64 = 1_000

  private let base: any Clock
  private let machine: any MachineTime
  private let file: String?
  private let place: String
  private let state: Mutex<State>

  /// - Parameters:
  ///   - base: for everything but the wall time.
  ///   - file: keeps what was believed last; nil: nothing of before this process is known. One that is damaged says
  ///     nothing, and is written anew.
  ///   - place: where the machine's clock is, as people are told.
  public init(
    _ base: any Clock, _ machine: any MachineTime, file: String? = nil, of place: String = "storage's machine", log: Log
  ) {
    self.base = base
    self.machine = machine
    self.file = file
    self.place = place
    var mark: ClockReading?
    if let file, DiskFile.exists(file) {
      do throws(CaravanError) { mark = try ClockReading(text: TextFile.read(file), of: file) } catch {
        log.warning("what was known of the clock is lost: the machine's is believed", [.error: error.message])
      }
    }
    state = Mutex(State(trust: ClockTrust(mark: mark)))
  }

  public var now: Instant { base.now }
  public func sleep(until instant: Instant) async throws { try await base.sleep(until: instant) }
  public func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) { base.call(at: instant, body) }

  public var wallTime: WallTime { WallTime(milliseconds: look { $1 }) }

  /// How far the machine's clock is from this one, while it is not believed; nil: it is.
  public var error: Duration? { look { trust, _ in trust.error.map { .milliseconds($0) } } }

  /// Why the machine's clock is not believed, and what to do; nil: it is.
  public var problem: String? {
    guard let error else { return nil }
    let seconds = abs(error.components.seconds)
    let way = error < .zero ? "behind" : "ahead of"
    return
      "the clock of \(place) is \(Self.text(seconds)) \(way) the time that storage counts: a clock was set, or the "
      + "machine was off for long; set it right, or say caravan clock accept if it is"
  }

  /// From now on the machine's clock is right, whatever was before.
  public func accept() throws(CaravanError) {
    let reading = machine.reading
    state.withLock { $0.trust.accept(reading) }
    try save()
  }

  /// Keeps what is believed for a later life of the process.
  public func save() throws(CaravanError) {
    guard let file else { return }
    _ = wallTime
    let reading = machine.reading
    guard let kept = state.withLock({ $0.trust.kept(at: reading) }) else { return }
    try TextFile.writeSecret(kept.text, to: file)
  }

  private func look<Value>(_ body: (ClockTrust, Int64) -> Value) -> Value {
    let reading = machine.reading
    return state.withLock { state in
      var (asked, isSynchronised) = (state.asked, state.isSynchronised)
      let time = state.trust.time(reading) {
        if let last = asked, (last...last + Self.patience).contains(reading.sinceBoot) { return isSynchronised }
        isSynchronised = machine.isSynchronised
        asked = reading.sinceBoot
        return isSynchronised
      }
      (state.asked, state.isSynchronised) = (asked, isSynchronised)
      return body(state.trust, time)
    }
  }

  private static func text(_ seconds: Int64) -> String {
    switch seconds {
    case ..<7_200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3_600) h"
    default: "\(seconds / 86_400) days"
    }
  }
}

extension ClockReading {
  fileprivate var text: String {
    let json: JSON = [
      "wall_milliseconds": .int(wall), "since_boot_milliseconds": .int(sinceBoot), "boot": .string(boot),
    ]
    return json.encoded() + "\n"
  }

  fileprivate init(text: String, of file: String) throws(CaravanError) {
    guard let json = try? JSON.parse(text), let wall = json["wall_milliseconds"]?.intValue,
      let sinceBoot = json["since_boot_milliseconds"]?.intValue, let boot = json["boot"]?.stringValue
    else {
      throw CaravanError(.invalidData, "'\(file)' is damaged")
    }
    self.init(wall: wall, sinceBoot: sinceBoot, boot: boot)
  }
}
