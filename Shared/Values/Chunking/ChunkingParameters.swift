/// The sizes content-defined chunking aims for, in bytes. Every device of a fleet must use the same ones: a chunk is
/// found again elsewhere only if it was cut by the same rule.
public struct ChunkingParameters: Sendable, Hashable {
  /// No chunk but the last of an object is shorter.
  public let minimum: Int
  /// A power of two: where the cut condition relaxes, so the length most chunks come close to.
  public let average: Int
  /// No chunk is longer.
  public let maximum: Int

  /// 16, 64 and 256 KiB: what objects in Caravan are cut by unless their record type says otherwise.
  public static let standard = ChunkingParameters(minimum: 16 << 10, average: 64 << 10, maximum: 256 << 10)

  /// Around chunks of about so many bytes, a power of two: from a quarter of that to four times as much, or `most`.
  public init(average: Int, most: Int) {
    self.init(minimum: average / 4, average: average, maximum: min(4 * average, most))
  }

  public init(minimum: Int, average: Int, maximum: Int) {
    precondition(minimum > 0 && minimum < average && average < maximum, "chunk sizes must grow: 0 < min < avg < max")
    precondition(average.nonzeroBitCount == 1, "the average chunk size must be a power of two, is \(average)")
    precondition(average >= 16 && average <= 1 << 30, "the average chunk size must be in 16 B ... 1 GiB, is \(average)")
    self.minimum = minimum
    self.average = average
    self.maximum = maximum
  }

  /// Before the average length a cut needs two zero bits more than average chunks would, after it two fewer (FastCDC,
  /// section 3.5, normalisation level 2). The top bits are tested: they depend on the last 64 bytes, low bits on fewer.
  /// "The top n bits are zero" is the one comparison `hash < 2^(64 - n)`.
  var strictLimit: UInt64 { 1 << UInt64(64 - (average.trailingZeroBitCount + 2)) }
  var relaxedLimit: UInt64 { 1 << UInt64(64 - (average.trailingZeroBitCount - 2)) }
}
