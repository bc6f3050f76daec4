package import CaravanModel

/// How long something lives or waits, as people write it: `90s`, `12h`, `30d`; `0` is no time at all.
package enum LifetimeText {
  private static let units: [(suffix: Character, milliseconds: UInt64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000),
  ]

  /// - Throws: `invalidData` when it is no time.
  package static func milliseconds(_ text: String) throws(CaravanError) -> UInt64 {
    if text == "0" { return 0 }
    guard let unit = units.first(where: { $0.suffix == text.last }), let count = UInt32(text.dropLast()) else {
      throw CaravanError(
        .invalidData, "'\(text.prefix(40))' is no time: a whole number and d, h, m or s, such as 30d, or 0")
    }
    return UInt64(count) * unit.milliseconds
  }

  package static func text(_ milliseconds: UInt64) -> String {
    for unit in units where milliseconds > 0 && milliseconds.isMultiple(of: unit.milliseconds) {
      return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
    return "\(milliseconds)ms"
  }
}
