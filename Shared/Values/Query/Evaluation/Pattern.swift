/// What LIKE compares with: `%` stands for any characters, `_` for one, everything else for itself, in its case.
struct Pattern {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  private static let any = UInt8(ascii: "%")
  private static let one = UInt8(ascii: "_")

  /// What stands before the only `%`, which is the end; nil: the pattern is none of that form.
  var prefix: String? {
    guard let first = bytes.firstIndex(where: { $0 == Self.any || $0 == Self.one }), bytes[first] == Self.any,
      first == bytes.count - 1
    else { return nil }
    return String(decoding: bytes.dropLast(), as: UTF8.self)
  }

  /// What every text that matches begins with.
  var head: String {
    String(decoding: bytes.prefix { $0 != Self.any && $0 != Self.one }, as: UTF8.self)
  }

  /// A text with a NUL character matches no pattern but a prefix: engines would look no further than there.
  func matches(_ text: ArraySlice<UInt8>) -> Bool {
    guard !text.contains(0) else { return false }
    var place = text.startIndex
    var part = 0
    var retry: (part: Int, place: Int)?
    while place < text.endIndex {
      if part < bytes.count, bytes[part] == Self.any {
        part += 1
        retry = (part, place)
      } else if part < bytes.count, bytes[part] == Self.one {
        part += 1
        place = Self.next(place, in: text)
      } else if part < bytes.count, bytes[part] == text[place] {
        part += 1
        place += 1
      } else if let last = retry {
        // The last `%` takes one character more.
        place = Self.next(last.place, in: text)
        retry = (last.part, place)
        part = last.part
      } else {
        return false
      }
    }
    return bytes[part...].allSatisfy { $0 == Self.any }
  }

  /// Behind the character that begins at `place`.
  private static func next(_ place: Int, in text: ArraySlice<UInt8>) -> Int {
    var next = place + 1
    while next < text.endIndex, text[next] & 0xc0 == 0x80 { next += 1 }
    return next
  }
}
