public import CaravanEncoding

/// 32 bytes held in four words: no allocation, cheap to compare, hash and send. Ordered as its bytes are.
public struct SHA256Digest: Hashable, Sendable {
  public static let byteCount = 32

  /// The bytes as big-endian words, first word first.
  public let words: (UInt64, UInt64, UInt64, UInt64)

  public init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

  /// Exactly 32 bytes, or `EncodingError.invalidLength`.
  public init(_ bytes: some Collection<UInt8>) throws(EncodingError) {
    guard bytes.count == Self.byteCount else {
      throw EncodingError(
        .invalidLength, format: "SHA-256 digest", offset: bytes.count, "32 bytes expected, found \(bytes.count)")
    }
    self.init(exactly: bytes)
  }

  /// 64 hexadecimal digits.
  public init(hex: String) throws(EncodingError) { try self.init(Hex.decode(hex)) }

  init(exactly bytes: some Collection<UInt8>) {
    var iterator = bytes.makeIterator()
    func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(iterator.next() ?? 0) } }
    words = (word(), word(), word(), word())
  }

  public var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      let output = UnsafeMutableRawBufferPointer(buffer)
      output.storeBytes(of: words.0.bigEndian, toByteOffset: 0, as: UInt64.self)
      output.storeBytes(of: words.1.bigEndian, toByteOffset: 8, as: UInt64.self)
      output.storeBytes(of: words.2.bigEndian, toByteOffset: 16, as: UInt64.self)
      output.storeBytes(of: words.3.bigEndian, toByteOffset: 24, as: UInt64.self)
      count = Self.byteCount
    }
  }

  public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}

extension SHA256Digest: Comparable {
  public static func < (left: Self, right: Self) -> Bool { left.words < right.words }
}

extension SHA256Digest: CustomStringConvertible {
  /// 64 lower-case hexadecimal digits.
  public var description: String { Hex.encode(bytes) }
}
