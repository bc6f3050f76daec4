/// Moments as people write them: `2024-02-29T12:00:00.000Z` (RFC 3339), of the Gregorian calendar in all times.
public enum RFC3339 {
  private static let dayMilliseconds: Int64 = 86_400_000

  /// Moments whose years have four digits.
  public static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  // MARK: Text

  /// In UTC, with milliseconds.
  /// - Parameter milliseconds: of Unix time.
  public static func text(milliseconds: Int64) -> String {
    let (days, inDay) = split(milliseconds, by: dayMilliseconds)
    let (year, month, day) = date(daysSince1970: days)
    let (hours, inHour) = split(inDay, by: 3_600_000)
    let (minutes, inMinute) = split(inHour, by: 60_000)
    let (seconds, rest) = split(inMinute, by: 1_000)
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T"
      + "\(digits(hours, 2)):\(digits(minutes, 2)):\(digits(seconds, 2)).\(digits(rest, 3))Z"
  }

  private static func digits(_ value: Int64, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.count)) + text
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

  // MARK: Parsing

  /// The Unix milliseconds of a day, `2024-02-29`, whose first moment in UTC it is, or of a moment,
  /// `2024-02-29T12:00[:00[.000]]` and `Z` or `+01:00`.
  /// - Returns: nil: it is neither, or there was no such day.
  public static func milliseconds(_ text: String) -> Int64? {
    var rest = Array(text.utf8)[...]
    guard let year = number(&rest, 4), take("-", &rest), let month = number(&rest, 2), take("-", &rest),
      let day = number(&rest, 2), (1...12).contains(month), day > 0
    else { return nil }
    let days = days(year, month, day)
    // A day that its month has not is one of the next month.
    guard date(daysSince1970: days) == (year, month, day) else { return nil }
    let midnight = days * dayMilliseconds
    if rest.isEmpty { return midnight }
    guard take("T", &rest) || take("t", &rest) || take(" ", &rest), let time = time(&rest), let zone = zone(&rest),
      rest.isEmpty
    else { return nil }
    return midnight + time - zone
  }

  /// days_from_civil.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let march = month > 2 ? month - 3 : month + 9
    let (era, yearOfEra) = split(month > 2 ? year : year - 1, by: 400)
    let dayOfYear = (153 * march + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// `12:00`, `12:00:00`, `12:00:00.25`; what is less than a millisecond is cut off.
  private static func time(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    guard let hours = number(&rest, 2), take(":", &rest), let minutes = number(&rest, 2), hours < 24, minutes < 60
    else { return nil }
    var time = hours * 3_600_000 + minutes * 60_000
    guard take(":", &rest) else { return time }
    guard let seconds = number(&rest, 2), seconds < 60 else { return nil }
    time += seconds * 1_000
    guard take(".", &rest) else { return time }
    let fraction = rest.prefix { (0x30...0x39).contains($0) }
    guard !fraction.isEmpty else { return nil }
    rest = rest.dropFirst(fraction.count)
    for (digit, unit) in zip(fraction, [100, 10, 1] as [Int64]) { time += Int64(digit - 0x30) * unit }
    return time
  }

  /// Milliseconds that a place is ahead of UTC.
  private static func zone(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    if take("Z", &rest) || take("z", &rest) { return 0 }
    let sign: Int64 = take("-", &rest) ? -1 : 1
    guard sign < 0 || take("+", &rest), let hours = number(&rest, 2), take(":", &rest), let minutes = number(&rest, 2),
      hours < 24, minutes < 60
    else { return nil }
    return sign * (hours * 3_600_000 + minutes * 60_000)
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, _ width: Int) -> Int64? {
    let digits = rest.prefix(width)
    guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    rest = rest.dropFirst(width)
    return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  private static func take(_ symbol: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.first == UInt8(ascii: symbol) else { return false }
    rest = rest.dropFirst()
    return true
  }
}
