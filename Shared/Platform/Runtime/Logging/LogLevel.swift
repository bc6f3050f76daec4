public enum LogLevel: UInt8, Sendable, Comparable, CaseIterable {
  case debug, info, warning, error

  /// - Returns: nil when `name` is none of `debug`, `info`, `warning`, `error`.
  public init?(_ name: String) {
    guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = level
  }

  public var name: String {
    switch self {
    case .debug: "debug"
    case .info: "info"
    case .warning: "warning"
    case .error: "error"
    }
  }

  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
