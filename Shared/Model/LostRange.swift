/// Versions of a zone that were given, and that a restore took back: their changes are not in what was restored. No
/// version is given twice, so whoever holds one of these holds what the cloud has lost.
public struct LostRange: Sendable, Hashable {
  /// A restored zone goes on at least so far behind the versions in the backup: two that are farther apart are of two
  /// lives, unless a zone was given more than that.
  public static let gap: Seq = 1 << 22

  /// Everything up to here is still there.
  public var after: Seq
  public var through: Seq

  public init(after: Seq, through: Seq) {
    self.after = after
    self.through = through
  }

  public func contains(_ version: Seq) -> Bool { version > after && version <= through }

  /// As messages have them: two numbers each.
  public static func list(_ numbers: [UInt64]) -> [LostRange] {
    stride(from: 0, to: numbers.count - numbers.count % 2, by: 2).map {
      LostRange(after: numbers[$0], through: numbers[$0 + 1])
    }
  }

  public static func numbers(_ ranges: [LostRange]) -> [UInt64] { ranges.flatMap { [$0.after, $0.through] } }
}
