import CaravanWire
import Testing

/// Goal: a text arrives whole or is refused, wherever in it a byte stands at which C would end it. Method: texts alone
/// and in lists, whose byte 7 becomes 0 on the way.
@Suite struct TextWireTests {
  static let texts = ["\u{7}", "\u{7}ab", "a\u{7}b", "ab\u{7}", String(repeating: "é", count: 20_000) + "\u{7}"]

  @Test("a text with a NUL byte is refused, and not cut off there", arguments: texts)
  func zero(text: String) throws {
    for message in [Select(table: text), Select(columns: ["", "n", text])] {
      let sent = message.encoded()
      #expect(try Select(decoding: sent) == message)
      #expect(throws: WireError.malformed("text with a NUL byte")) {
        try Select(decoding: sent.map { $0 == 7 ? 0 : $0 })
      }
    }
  }
}
