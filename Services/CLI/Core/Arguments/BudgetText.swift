public import CaravanModel

/// A link's budget of a day, as people write it: `cellular=50MB`, `roaming=0`, `wifi=unlimited`.
public enum BudgetText {
  private static let units: [(name: String, factor: UInt64)] = [
    ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30), ("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000),
    ("b", 1),
  ]

  /// - Returns: nil bytes for no budget.
  /// - Throws: `invalidData` with an example; also of a number without its unit: `cellular=5` would be five bytes.
  public static func parse(_ text: String) throws(CaravanError) -> (link: LinkClass, bytes: UInt64?) {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, let link = try LinkText.parse(parts[0]) else { throw notUnderstood(text) }
    guard parts[1] != "unlimited" else { return (link, nil) }
    guard let bytes = bytes(parts[1].lowercased()) else { throw notUnderstood(text) }
    return (link, bytes)
  }

  private static func bytes(_ text: String) -> UInt64? {
    assert(text == text.lowercased(), "units are looked for in lower case")
    let unit = units.first { text.hasSuffix($0.name) }
    let digits = text.dropLast(unit?.name.count ?? 0)
    guard let number = Double(digits), number.isFinite, number >= 0, unit != nil || number == 0 else { return nil }
    return UInt64(exactly: (number * Double(unit?.factor ?? 1)).rounded())
  }

  private static func notUnderstood(_ text: String) -> CaravanError {
    CaravanError(
      .invalidData,
      "'\(text.prefix(80))' is no budget: write LINK=BYTES with the unit, cellular=50MB, roaming=300kB or "
        + "wifi=unlimited for instance")
  }
}
