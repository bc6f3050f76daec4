/// W3C trace context, version 00: which request a piece of work belongs to. Travels in bus headers and HTTP.
public struct TraceContext: Sendable, Hashable {
  // Numbers, as most are never shown.
  private let high: UInt64
  private let low: UInt64
  private let span: UInt64
  public let sampled: Bool

  /// A new trace.
  public init(random: any RandomSource) {
    self.init(random.next(), max(1, random.next()), span: max(1, random.next()), sampled: true)
  }

  private init(_ high: UInt64, _ low: UInt64, span: UInt64, sampled: Bool) {
    self.high = high
    self.low = low
    self.span = span
    self.sampled = sampled
  }

  /// - Returns: nil when the text is not a valid `traceparent`; start a new trace then, as the recommendation says.
  public init?(traceparent: String) {
    let parts = traceparent.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count >= 4, Self.isHex(parts[0], 2), Self.isHex(parts[1], 32), Self.isHex(parts[2], 16),
      Self.isHex(parts[3], 2), let flags = UInt8(Substring(parts[3]), radix: 16),
      let high = UInt64(Substring(parts[1].prefix(16)), radix: 16),
      let low = UInt64(Substring(parts[1].dropFirst(16)), radix: 16),
      let span = UInt64(Substring(parts[2]), radix: 16)
    else { return nil }
    let version = Substring(parts[0])
    guard version != "ff", version != "00" || parts.count == 4, high | low != 0, span != 0 else { return nil }
    self.init(high, low, span: span, sampled: flags & 1 == 1)
  }

  /// The same trace, a new span under this one.
  public func child(random: any RandomSource) -> TraceContext {
    TraceContext(high, low, span: max(1, random.next()), sampled: sampled)
  }

  /// 32 lower-case hexadecimal digits, not all zero.
  public var traceID: String { Self.digits(high) + Self.digits(low) }
  /// 16 lower-case hexadecimal digits, not all zero.
  public var spanID: String { Self.digits(span) }
  public var traceparent: String { "00-\(traceID)-\(spanID)-\(sampled ? "01" : "00")" }

  private static func digits(_ word: UInt64) -> String {
    let text = String(word, radix: 16)
    return String(repeating: "0", count: 16 - text.utf8.count) + text
  }

  private static func isHex(_ digits: Substring.UTF8View.SubSequence, _ count: Int) -> Bool {
    digits.count == count
      && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
