/// A type that the value of a flag can have.
public protocol FlagValue: Sendable {
  /// - Returns: nil when the text is none of these.
  init?(flagText: String)
  /// What is expected, as in "… is not <a whole number>".
  static var flagKind: String { get }
  /// What a flag without a default is when it is left out; nil: the flag is required.
  static var absent: Self? { get }
}

extension FlagValue {
  public static var absent: Self? { nil }
}

extension String: FlagValue {
  public init?(flagText: String) {
    guard !flagText.isEmpty else { return nil }
    self = flagText
  }
  public static var flagKind: String { "text" }
}

extension Int: FlagValue {
  public init?(flagText: String) { self.init(flagText) }
  public static var flagKind: String { "a whole number" }
}

extension Double: FlagValue {
  public init?(flagText: String) {
    guard let number = Double(flagText), number.isFinite else { return nil }
    self = number
  }
  public static var flagKind: String { "a number" }
}

extension Bool: FlagValue {
  public init?(flagText: String) { self.init(flagText) }
  public static var flagKind: String { "true or false" }
  public static var absent: Bool? { false }
}

extension Duration: FlagValue {
  /// A whole number and one of `ms`, `s`, `m`, `h`.
  public init?(flagText: String) {
    let digits = flagText.prefix { $0.isASCII && $0.isNumber }
    let units = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000]
    guard let count = Int32(digits), let unit = units[String(flagText.dropFirst(digits.count))] else { return nil }
    self = .milliseconds(Int64(count) * Int64(unit))
  }
  public static var flagKind: String { "a time such as 250ms, 10s, 5m or 2h" }
}

extension Optional: FlagValue where Wrapped: FlagValue {
  public init?(flagText: String) {
    guard let value = Wrapped(flagText: flagText) else { return nil }
    self = .some(value)
  }
  public static var flagKind: String { Wrapped.flagKind }
  public static var absent: Wrapped?? { .some(nil) }
}
