import CaravanCrypto

/// The bytes a MAC covers. Every part says its length, so no two lists of parts give the same bytes.
struct SealedMessage {
  private(set) var bytes: [UInt8] = []

  /// - Parameter purpose: keeps a MAC made for one use from being taken for another's.
  init(_ purpose: String) { add(purpose) }

  mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  mutating func add(_ part: [UInt8]) {
    add(UInt64(part.count))
    bytes.append(contentsOf: part)
  }

  mutating func add(_ number: UInt64) { Self.append(number, to: &bytes) }

  static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  func mac(_ key: TicketKey) -> [UInt8] { key.mac(over: bytes) }
}
