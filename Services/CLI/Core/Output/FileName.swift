/// A name that somebody else has chosen, as a part of a file's.
public enum FileName {
  /// It never leaves its folder, and is not hidden there. What is no letter, digit, `-`, `_` or `.` becomes `%` and two
  /// hexadecimal digits a byte; so does a `.` at the beginning.
  public static func of(_ name: String) -> String {
    var text = ""
    for byte in name.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: text.unicodeScalars.append(Unicode.Scalar(byte))
      case 0x2e where !text.isEmpty: text += "."
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    assert(!text.utf8.contains(0x2f) && text.utf8.first != 0x2e, "a name leaves its folder, or hides in it")
    return text
  }
}
