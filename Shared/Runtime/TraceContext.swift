/// W3C trace context, version 00: which request a piece of work belongs to. Travels in bus headers and HTTP.
public struct TraceContext: Sendable, Hashable {
  /// 32 lower-case hexadecimal digits, not all zero.
  public let traceID: String
  /// 16 lower-case hexadecimal digits, not all zero.
  public let spanID: String
  public let sampled: Bool

  /// A new trace.
  public init(random: any RandomSource) {
    traceID = Self.identifier(words: 2, random)
    spanID = Self.identifier(words: 1, random)
    sampled = true
  }

  private init(traceID: String, spanID: String, sampled: Bool) {
    self.traceID = traceID
    self.spanID = spanID
    self.sampled = sampled
  }

  /// - Returns: nil when the text is not a valid `traceparent`; start a new trace then, as the recommendation says.
  public init?(traceparent: String) {
    let parts = traceparent.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count >= 4, Self.isHex(parts[0], 2), Self.isHex(parts[1], 32), Self.isHex(parts[2], 16),
      Self.isHex(parts[3], 2), let flags = UInt8(Substring(parts[3]), radix: 16)
    else { return nil }
    let version = Substring(parts[0])
    guard version != "ff", version != "00" || parts.count == 4 else { return nil }
    guard parts[1].contains(where: { $0 != UInt8(ascii: "0") }), parts[2].contains(where: { $0 != UInt8(ascii: "0") })
    else { return nil }
    self.init(traceID: String(Substring(parts[1])), spanID: String(Substring(parts[2])), sampled: flags & 1 == 1)
  }

  /// The same trace, a new span under this one.
  public func child(random: any RandomSource) -> TraceContext {
    TraceContext(traceID: traceID, spanID: Self.identifier(words: 1, random), sampled: sampled)
  }

  public var traceparent: String { "00-\(traceID)-\(spanID)-\(sampled ? "01" : "00")" }

  private static func identifier(words: Int, _ random: any RandomSource) -> String {
    var digits: [UInt8] = []
    digits.reserveCapacity(16 * words)
    for _ in 0..<words {
      let word = max(1, random.next())
      for shift in stride(from: UInt64(60), through: 0, by: -4) {
        let digit = UInt8(truncatingIfNeeded: word >> shift & 0xf)
        digits.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
      }
    }
    return String(decoding: digits, as: UTF8.self)
  }

  private static func isHex(_ digits: Substring.UTF8View.SubSequence, _ count: Int) -> Bool {
    digits.count == count
      && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
