import Glibc

/// A cheap guess at whether bytes will compress (MOB-35): how unevenly a sample of them is spread over the 256 values.
///
/// The measure is collision entropy (Rényi, order 2): the chance that two bytes of the sample are equal. Unlike
/// Shannon's it needs no logarithm, and its estimate from counts is unbiased, so it holds for a sample of 100 bytes as
/// well.
///
/// It sees values, not order: a repeated block of random bytes looks incompressible to it, though zstd would find it.
public struct EntropyEstimate: Sendable, Equatable {
  /// Shorter input is never worth a frame's overhead (SIM-96).
  public static let minimumLength = 100
  /// At most this many strips are sampled, spread evenly, so that a header does not speak for the whole.
  static let strips = 16
  static let stripLength = 64
  /// Worth it if more than one pair of bytes in 90 is equal, which is below 6.5 bits per byte. One in 256 is noise (8
  /// bits), one in 64 is base64 (6 bits). By measurement on text, JSON, machine code, base64, floating point, audio,
  /// JPEG, PNG, gzip, fonts and hashes in 4 KiB and 64 KiB blocks: whatever passes, zstd level 3 shrinks by 3 % or more
  /// (text by half and more); whatever fails, by less than 5 %.
  static let pairsPerCollision = 90

  /// Bytes looked at.
  public let sampled: Int
  private let equalPairs: Int

  public init(of bytes: [UInt8]) {
    var counts = InlineArray<256, UInt32>(repeating: 0)
    let stride = max(Self.stripLength, (bytes.count + Self.strips - 1) / Self.strips)
    var (start, sampled) = (0, 0)
    while start < bytes.count {
      let end = min(bytes.count, start + Self.stripLength)
      for index in start..<end { counts[Int(bytes[index])] += 1 }
      sampled += end - start
      start += stride
    }
    self.sampled = sampled
    var equal = 0
    for value in 0..<256 { equal += Int(counts[value]) * max(0, Int(counts[value]) - 1) }
    equalPairs = equal
  }

  /// Collision entropy in bits per byte: 0 for one value repeated, about 8 for noise.
  public var bitsPerByte: Double {
    guard equalPairs > 0 else { return 8 }
    return min(8, -log2(Double(equalPairs) / Double(sampled * (sampled - 1))))
  }

  public var saysWorthCompressing: Bool { equalPairs * Self.pairsPerCollision > sampled * (sampled - 1) }
}

/// Whether compressing `bytes` is likely to pay. Looks at 1 KiB of them at most.
public func worthCompressing(_ bytes: [UInt8]) -> Bool {
  bytes.count >= EntropyEstimate.minimumLength && EntropyEstimate(of: bytes).saysWorthCompressing
}
