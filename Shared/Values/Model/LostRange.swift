/// Versions of a zone that were given, and that a restore took back: their changes are not in what was restored. No
/// version is given twice, so whoever holds one of these holds what the cloud has lost.
public struct LostRange: Sendable, Hashable {
  /// Where numbers are not the clock's, a restored zone goes on so far behind the versions in the backup.
  public static let gap: Seq = 1 << 22
  /// A restore begins a life with the number of its millisecond, and a life is given fewer than one number in each: so
  /// two numbers that are no farther apart are of one life, unless another one began within about a minute.
  public static let life: Seq = 1 << 16
  /// No restore has begun a life below this number of the clock's, which is one of 2022.
  private static let first: Seq = 1 << 36

  /// Whether neither of two versions need have been made from the other, for a restore may lie between them.
  public static func mayBeOfTwoIncarnations(_ one: Seq, _ other: Seq) -> Bool {
    let (low, high) = (min(one, other), max(one, other))
    return high - low >= (high < first ? gap : life)
  }

  /// Everything up to here is still there.
  public var after: Seq
  /// The last version that the restore took back.
  public var through: Seq

  public init(after: Seq, through: Seq) {
    self.after = after
    self.through = through
  }

  /// Whether the restore took back the change of this version.
  public func contains(_ version: Seq) -> Bool { version > after && version <= through }

  /// As messages have them: two numbers each.
  public static func list(_ numbers: [UInt64]) -> [LostRange] {
    stride(from: 0, to: numbers.count - numbers.count % 2, by: 2).map {
      LostRange(after: numbers[$0], through: numbers[$0 + 1])
    }
  }

  /// As messages have them: two numbers each, `after` and `through`.
  public static func numbers(_ ranges: [LostRange]) -> [UInt64] { ranges.flatMap { [$0.after, $0.through] } }
}
