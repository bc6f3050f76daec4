public import Model

public enum LogLevel: UInt8, Sendable, Comparable, CaseIterable {
  case debug, info, warning, error
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
