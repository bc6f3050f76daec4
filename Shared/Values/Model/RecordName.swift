/// Checks of names that apps and devices choose.
public enum RecordName {
  /// - Throws: `invalidData` when a record's name is empty, longer than 255 bytes, or has control characters.
  public static func check(_ name: String) throws(CaravanError) {
    guard (1...Limits.recordNameBytes).contains(name.utf8.count), !name.utf8.contains(where: { $0 < 0x20 }) else {
      throw CaravanError(
        .invalidData, "record name '\(name.prefix(40))' is not allowed: use 1 to 255 bytes without control characters")
    }
  }
}
