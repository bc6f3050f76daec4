public import CaravanModel

/// One app's table, as the device knows it.
public struct TableID: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let app: ContainerID
  public let name: String

  public init(app: ContainerID, name: String) {
    self.app = app
    self.name = name
  }

  public static func < (a: Self, b: Self) -> Bool { (a.app, a.name) < (b.app, b.name) }
  public var description: String { "\(app)/\(name)" }
}

public enum Direction: UInt8, Sendable, Hashable, Comparable, CaseIterable {
  case write
  case read
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// What an app asked for with registerWriteSync or registerReadSync (SIM-17, SIM-20): looked at every `period`, then
/// sent within `delayTolerance`, over `link` or cheaper.
public struct SyncRegistration: Sendable, Hashable {
  public var periodMilliseconds: UInt32
  public var delayToleranceMilliseconds: UInt32
  public var link: LinkClass

  public init(periodMilliseconds: UInt32, delayToleranceMilliseconds: UInt32, link: LinkClass) {
    self.periodMilliseconds = periodMilliseconds
    self.delayToleranceMilliseconds = delayToleranceMilliseconds
    self.link = link
  }

  /// The delay tolerance in nanoseconds.
  var tolerance: UInt64 { UInt64(delayToleranceMilliseconds) * 1_000_000 }
}

/// The time a decision is made at: monotonic for what must happen within a span, wall for periods.
public struct Moment: Sendable, Hashable {
  /// Monotonic nanoseconds.
  public var monotonic: UInt64
  /// Unix milliseconds; may jump.
  public var wallMilliseconds: Int64

  public init(monotonic: UInt64, wallMilliseconds: Int64) {
    self.monotonic = monotonic
    self.wallMilliseconds = wallMilliseconds
  }
}
