internal import CaravanEncoding

// A ring's file: one key a line, the one that seals first. What is behind a # says when it came and went.
extension KeyRing {
  private static let (added, ended) = ("added=", "ended=")

  static func text(_ bytes: some Sequence<UInt8>) -> String { Hex.encode(Array(bytes)) }

  /// - Throws: `invalidKey` naming the line, never what it holds.
  public init(parsing text: String) throws(CryptoError) {
    var members: [Member] = []
    for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let parts = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      let words = parts[0].split(whereSeparator: \.isWhitespace)
      if words.isEmpty { continue }
      guard words.count == 1, let bytes = try? Hex.decode(String(words[0])), let key = try? TicketKey(bytes) else {
        throw CryptoError(
          .invalidKey, "line \(number + 1) is no key: it has \(2 * TicketKey.byteCount) hexadecimal digits")
      }
      let notes = parts.count > 1 ? parts[1].split(whereSeparator: \.isWhitespace) : []
      members.append(
        Member(key, added: try Self.time(Self.added, notes, number), ended: try Self.time(Self.ended, notes, number)))
      guard members.count <= Self.most else {
        throw CryptoError(.invalidKey, "line \(number + 1) is one key too many: a ring has \(Self.most) at most")
      }
    }
    try self.init(members)
  }

  /// Unix time, of the word that begins so; nil: there is none.
  private static func time(_ name: String, _ notes: [Substring], _ number: Int) throws(CryptoError) -> Int64? {
    guard let note = notes.first(where: { $0.hasPrefix(name) }) else { return nil }
    guard let seconds = Int64(note.dropFirst(name.count)), seconds >= 0 else {
      throw CryptoError(.invalidKey, "line \(number + 1): \(name) is followed by a time in seconds since 1970")
    }
    return seconds
  }

  /// The key alone, as releases before rings read it, when it is the one that the deployment began with.
  public var fileText: String {
    if members == [Member(sealing.key)] { return Hex.encode(sealing.key.bytes) + "\n" }
    let lines = members.map { member in
      let notes = [
        member.id, member.addedSeconds.map { "\(Self.added)\($0)" }, member.endedSeconds.map { "\(Self.ended)\($0)" },
      ]
      return "\(Hex.encode(member.key.bytes)) # \(notes.compactMap(\.self).joined(separator: " "))\n"
    }
    return "# The first key seals, all open: caravan keys rotate and caravan keys distrust change this file.\n"
      + lines.joined()
  }
}
