internal import CaravanModel

/// What a NATS broker says to a client, taken apart as it comes: as much of the protocol as listeners meet.
struct BrokerTalk {
  enum Item: Equatable {
    /// - subscription: as the client numbered it.
    case message(subscription: Int, payload: [UInt8])
    case ping
    case pong
    /// The broker minds something.
    case complaint(String)
  }

  private var bytes: [UInt8] = []
  private var start = 0

  mutating func hear(_ more: some Sequence<UInt8>) {
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// The next item that is here whole.
  /// - Throws: `invalidData` for what no broker says.
  mutating func next() throws(CaravanError) -> Item? {
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      guard end > start else { throw Self.nonsense }
      let line = bytes[start..<(end - 1)]
      switch line.first {
      case UInt8(ascii: "M"), UInt8(ascii: "H"): return try message(line, after: end + 1)
      case UInt8(ascii: "P"):
        start = end + 1
        return line.elementsEqual("PING".utf8) ? .ping : .pong
      case UInt8(ascii: "-"):
        start = end + 1
        return .complaint(String(decoding: line, as: UTF8.self))
      // `INFO` again, when the broker's neighbours change, and `+OK`.
      default: start = end + 1
      }
    }
    return nil
  }

  /// `MSG subject sid [reply] bytes`, or with headers `HMSG subject sid [reply] header-bytes bytes`.
  private mutating func message(_ line: ArraySlice<UInt8>, after body: Int) throws(CaravanError) -> Item? {
    let words = line.split(separator: UInt8(ascii: " "))
    let hasHeaders = line.first == UInt8(ascii: "H")
    guard words.count >= (hasHeaders ? 5 : 4), let subscription = Self.number(words[2]),
      let count = words.last.flatMap(Self.number), let skipped = hasHeaders ? Self.number(words[words.count - 2]) : 0,
      skipped <= count
    else { throw Self.nonsense }
    guard body + count + 2 <= bytes.count else { return nil }
    start = body + count + 2
    return .message(subscription: subscription, payload: Array(bytes[(body + skipped)..<(body + count)]))
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? { Int(String(decoding: digits, as: UTF8.self)) }

  private static let nonsense = CaravanError(.invalidData, "the broker says what is not of its protocol")
}
