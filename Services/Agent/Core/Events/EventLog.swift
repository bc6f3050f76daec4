/// What happens to a table behind its app's back.
public enum TableEvent: Int64, Sendable, Hashable, CaseIterable {
  /// Background sync added, changed or removed rows.
  case changed = 1
  /// Rows came into conflict, and the cloud's copies of them are here.
  case conflict = 2
  /// Rows are gone that the cloud does not have.
  case lost = 3
}

/// Where the log of a table's events begins and ends, and how far its app has been told. Numbers grow and are hybrid
/// timestamps, so that those of a table that was dropped are not given again to the next one of its name.
public struct EventLog: Sendable, Hashable {
  /// All events behind this number are in the log, and none up to it.
  public var lowWatermark: UInt64 {
    didSet {
      assert(oldValue <= lowWatermark && lowWatermark <= last, "events behind \(lowWatermark) of a log up to \(last)")
    }
  }
  /// The newest event's number; the low watermark when there is none.
  public private(set) var last: UInt64
  /// All connections of the app together have been told up to here.
  public private(set) var told: UInt64
  /// How much of that is written down.
  private var saved: UInt64
  /// Events in the log.
  public var count: Int {
    didSet { assert(count >= 0, "a log of \(count) events") }
  }

  public init(lowWatermark: UInt64, last: UInt64, told: UInt64, count: Int) {
    self.lowWatermark = lowWatermark
    self.last = max(lowWatermark, last)
    (self.told, saved) = (told, told)
    self.count = count
  }

  /// A log without events.
  public init(from stamp: UInt64) { self.init(lowWatermark: stamp, last: stamp, told: stamp, count: 0) }

  /// The number of the next event.
  /// - Parameter stamp: the present time, as a hybrid timestamp.
  public mutating func next(_ stamp: UInt64) -> UInt64 {
    last = max(last + 1, stamp)
    count += 1
    assert(lowWatermark < last, "event \(last) is one that was forgotten already")
    return last
  }

  /// Whether the log has everything behind `number`. Of what a power cut took from the log's end nobody knows any more.
  public func isWhole(after number: UInt64) -> Bool { (lowWatermark...last).contains(number) }

  /// Somebody was told up to `number`.
  public mutating func tell(upTo number: UInt64) { told = max(told, min(number, last)) }

  public var hasUntold: Bool { told < last }

  public var hasUnsaved: Bool { told != saved }
  public mutating func noteSaved() { saved = told }
}

/// Rows of one event.
public struct EventRows: Sendable, Hashable {
  public private(set) var count: Int
  /// Ids of the last of them, each once, where it was named last.
  public private(set) var names: [String]

  /// - Parameter names: each once.
  public init(count: Int = 0, names: [String] = []) {
    self.count = count
    self.names = names
  }

  /// - Parameter limit: of names.
  public mutating func add(_ rows: EventRows, limit: Int) {
    count += rows.count
    assert(limit > 0, "a limit of no names names nothing")
    let latest = Set(rows.names)
    names.removeAll { latest.contains($0) }
    names += rows.names
    if names.count > limit { names.removeFirst(names.count - limit) }
  }
}
