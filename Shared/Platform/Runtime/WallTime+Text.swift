extension WallTime: CustomStringConvertible {
  /// RFC 3339 in UTC with milliseconds: `2024-02-29T12:00:00.000Z`.
  public var description: String {
    let (days, inDay) = Self.split(milliseconds, by: 86_400_000)
    let (year, month, day) = Self.date(daysSince1970: days)
    let (hours, inHour) = Self.split(inDay, by: 3_600_000)
    let (minutes, inMinute) = Self.split(inHour, by: 60_000)
    let (seconds, rest) = Self.split(inMinute, by: 1_000)
    func digits(_ value: Int64, _ width: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T"
      + "\(digits(hours, 2)):\(digits(minutes, 2)):\(digits(seconds, 2)).\(digits(rest, 3))Z"
  }

  /// Quotient towards minus infinity, and what remains.
  private static func split(_ value: Int64, by unit: Int64) -> (Int64, Int64) {
    let quotient = value / unit - (value % unit < 0 ? 1 : 0)
    return (quotient, value - quotient * unit)
  }

  /// The Gregorian date, by 400-year eras that begin on 1 March (Howard Hinnant, "chrono-compatible low-level date
  /// algorithms", civil_from_days).
  private static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = split(daysSince1970 + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let march = (5 * dayOfYear + 2) / 153
    let month = march < 10 ? march + 3 : march - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
  }
}

extension Duration {
  public var seconds: Double { Double(wholeNanoseconds) / 1e9 }
}
