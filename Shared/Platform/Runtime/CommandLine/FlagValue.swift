/// A type a flag can have.
public protocol FlagValue: Sendable {
  /// - Returns: nil when the text is none of these.
  init?(flagText: String)
  /// What is expected, as in "… is not <a whole number>".
  static var flagKind: String { get }
  /// What an absent flag without a default is; nil: the flag is required.
  static var absent: Self? { get }
  /// Whether `--name` alone means true.
  static var isSwitch: Bool { get }
  /// Whether `--name a --name b` means the same as `--name a,b`.
  static var isList: Bool { get }
}

extension FlagValue {
  public static var absent: Self? { nil }
  public static var isSwitch: Bool { false }
  public static var isList: Bool { false }
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
  public init?(flagText: String) {
    switch flagText {
    case "true", "yes", "1": self = true
    case "false", "no", "0": self = false
    default: return nil
    }
  }
  public static var flagKind: String { "true or false" }
  public static var absent: Bool? { false }
  public static var isSwitch: Bool { true }
}

extension Duration: FlagValue {
  /// A whole number and one of `ms`, `s`, `m`, `h`.
  public init?(flagText: String) {
    let digits = flagText.prefix { $0.isASCII && $0.isNumber }
    guard let count = Int32(digits) else { return nil }
    switch flagText.dropFirst(digits.count) {
    case "ms": self = .milliseconds(count)
    case "s": self = .seconds(count)
    case "m": self = .seconds(Int64(count) * 60)
    case "h": self = .seconds(Int64(count) * 3_600)
    default: return nil
    }
  }
  public static var flagKind: String { "a time such as 250ms, 10s, 5m or 2h" }

  /// As it would be typed.
  var flagText: String {
    let milliseconds = wholeMilliseconds
    for (unit, length) in [("h", 3_600_000), ("m", 60_000), ("s", 1_000)] as [(String, Int64)]
    where milliseconds > 0 && milliseconds.isMultiple(of: length) {
      return "\(milliseconds / length)\(unit)"
    }
    return "\(milliseconds)ms"
  }
}

extension LogLevel: FlagValue {
  public init?(flagText: String) { self.init(flagText) }
  public static var flagKind: String { "one of debug, info, warning, error" }
}

/// Several, separated by commas, or given one by one.
extension Array: FlagValue where Element: FlagValue {
  public init?(flagText: String) {
    self = []
    for part in flagText.split(separator: ",", omittingEmptySubsequences: false) {
      guard let element = Element(flagText: String(part)) else { return nil }
      append(element)
    }
  }
  public static var flagKind: String { "\(Element.flagKind), or several with commas" }
  public static var isList: Bool { true }
}

/// A flag that may be left out and has no default.
extension Optional: FlagValue where Wrapped: FlagValue {
  public init?(flagText: String) {
    guard let value = Wrapped(flagText: flagText) else { return nil }
    self = .some(value)
  }
  public static var flagKind: String { Wrapped.flagKind }
  public static var absent: Wrapped?? { .some(nil) }
}
