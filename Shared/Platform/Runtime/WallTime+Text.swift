internal import CaravanEncoding

extension WallTime: CustomStringConvertible {
  /// RFC 3339 in UTC with milliseconds: `2024-02-29T12:00:00.000Z`.
  public var description: String { RFC3339.text(milliseconds: milliseconds) }
}

extension Duration {
  public var seconds: Double { Double(wholeNanoseconds) / 1e9 }
}
