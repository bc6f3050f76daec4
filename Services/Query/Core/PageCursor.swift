package import CaravanModel

/// Where a page ended: the sort values and the place of its last record, and which query it belongs to. Opaque to
/// whoever carries it; read back with every byte checked.
package struct PageCursor: Sendable, Equatable {
  package var fingerprint: UInt64
  /// One a sort key.
  package var keys: [Value]
  package var zone: String
  package var name: String

  package init(fingerprint: UInt64, keys: [Value], zone: String, name: String) {
    self.fingerprint = fingerprint
    self.keys = keys
    self.zone = zone
    self.name = name
  }

  private enum Tag {
    static let null: UInt8 = 0
    static let text: UInt8 = 1
    static let integer: UInt8 = 2
    static let real: UInt8 = 3
    static let data: UInt8 = 4
  }

  package var bytes: [UInt8] {
    var out: [UInt8] = []
    Self.append(fingerprint, to: &out)
    for key in keys {
      switch key {
      // What has no order is null to a query.
      case .null, .asset, .assetList, .location, .reference, .list: out.append(Tag.null)
      case .text(let text): Self.append(Tag.text, Array(text.utf8), to: &out)
      case .data(let data): Self.append(Tag.data, data, to: &out)
      case .integer(let number):
        out.append(Tag.integer)
        Self.append(UInt64(bitPattern: number), to: &out)
      case .real(let number):
        out.append(Tag.real)
        Self.append(number.bitPattern, to: &out)
      }
    }
    Self.append(Tag.text, Array(zone.utf8), to: &out)
    Self.append(Tag.text, Array(name.utf8), to: &out)
    return out
  }

  /// - Throws: `invalidData` when these are no bytes of a cursor of this query.
  package init(_ bytes: [UInt8], fingerprint: UInt64, keys count: Int) throws(CaravanError) {
    precondition(count >= 0, "a query has sort keys or none")
    var reader = Reader(bytes: bytes[...])
    guard reader.word() == fingerprint else { throw Self.foreign }
    var keys: [Value] = []
    for _ in 0..<count {
      guard let value = reader.value() else { throw Self.foreign }
      keys.append(value)
    }
    guard case .text(let zone) = reader.value(), case .text(let name) = reader.value(), reader.bytes.isEmpty else {
      throw Self.foreign
    }
    self.init(fingerprint: fingerprint, keys: keys, zone: zone, name: name)
    assert(self.bytes == bytes, "two rows of bytes read as one cursor")
  }

  private static var foreign: CaravanError {
    CaravanError(.invalidData, "the cursor does not belong to this query: ask again without it")
  }

  private static func append(_ word: UInt64, to out: inout [UInt8]) {
    for k in 0..<8 { out.append(UInt8(truncatingIfNeeded: word >> (8 * UInt64(k)))) }
  }

  private static func append(_ tag: UInt8, _ bytes: [UInt8], to out: inout [UInt8]) {
    out.append(tag)
    append(UInt64(bytes.count), to: &out)
    out.append(contentsOf: bytes)
  }

  private struct Reader {
    var bytes: ArraySlice<UInt8>

    mutating func word() -> UInt64? {
      guard bytes.count >= 8 else { return nil }
      let word = bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      bytes.removeFirst(8)
      return word
    }

    mutating func run() -> [UInt8]? {
      guard let count = word(), count <= UInt64(bytes.count) else { return nil }
      defer { bytes.removeFirst(Int(count)) }
      return Array(bytes.prefix(Int(count)))
    }

    mutating func value() -> Value? {
      switch bytes.popFirst() {
      case Tag.null: .null
      case Tag.text: run().flatMap { String(validating: $0, as: UTF8.self) }.map { .text($0) }
      case Tag.integer: word().map { .integer(Int64(bitPattern: $0)) }
      // Such a value has no place in any order, and SQLite has none.
      case Tag.real: word().map(Double.init(bitPattern:)).flatMap { $0.isNaN ? nil : .real($0) }
      case Tag.data: run().map { .data($0) }
      default: nil
      }
    }
  }
}
