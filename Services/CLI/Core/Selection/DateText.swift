internal import CaravanEncoding

/// A date as people type and read it; values keep Unix milliseconds.
public enum DateText {
  /// Nil: it is neither a day, nor a moment, nor Unix milliseconds.
  public static func milliseconds(_ text: String) -> Int64? { Int64(text) ?? RFC3339.milliseconds(text) }

  /// `2026-11-27T10:00:00Z`, which reads as the same date; Unix milliseconds beyond the years of four digits.
  public static func text(milliseconds: Int64) -> String {
    guard RFC3339.range.contains(milliseconds) else { return String(milliseconds) }
    let text = RFC3339.text(milliseconds: milliseconds)
    return text.hasSuffix(".000Z") ? text.dropLast(5) + "Z" : text
  }
}
