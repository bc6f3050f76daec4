package import CaravanModel
package import CaravanQuery

/// Where a page ended: the sort keys and the place of its last record, and which query it belongs to. Opaque to whoever
/// carries it; read back with every byte checked.
package struct PageCursor: Sendable, Equatable {
  package var fingerprint: UInt64
  /// One a sort key.
  package var keys: [IndexKey]
  package var zone: String
  package var name: String

  package init(fingerprint: UInt64, keys: [IndexKey], zone: String, name: String) {
    self.fingerprint = fingerprint
    self.keys = keys
    self.zone = zone
    self.name = name
  }

  package var bytes: [UInt8] {
    var out: [UInt8] = []
    Self.append(fingerprint, to: &out)
    for key in keys { Self.append(key.bytes, to: &out) }
    Self.append(zone.utf8, to: &out)
    Self.append(name.utf8, to: &out)
    return out
  }

  /// - Throws: `invalidData` when these are no bytes of a cursor of this query.
  package init(_ bytes: [UInt8], fingerprint: UInt64, keys count: Int) throws(CaravanError) {
    precondition(count >= 0, "a query has sort keys or none")
    var reader = Reader(bytes: bytes[...])
    guard reader.word() == fingerprint else { throw Self.foreign }
    var keys: [IndexKey] = []
    for _ in 0..<count {
      guard let run = reader.run() else { throw Self.foreign }
      keys.append(IndexKey(bytes: run))
    }
    guard let zone = reader.text(), let name = reader.text(), reader.bytes.isEmpty else { throw Self.foreign }
    self.init(fingerprint: fingerprint, keys: keys, zone: zone, name: name)
    assert(self.bytes == bytes, "two rows of bytes read as one cursor")
  }

  private static var foreign: CaravanError {
    CaravanError(.invalidData, "the cursor does not belong to this query: ask again without it")
  }

  private static func append(_ word: UInt64, to out: inout [UInt8]) {
    for k in 0..<8 { out.append(UInt8(truncatingIfNeeded: word >> (8 * UInt64(k)))) }
  }

  private static func append(_ run: some Collection<UInt8>, to out: inout [UInt8]) {
    append(UInt64(run.count), to: &out)
    out.append(contentsOf: run)
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

    mutating func text() -> String? { run().flatMap { String(validating: $0, as: UTF8.self) } }
  }
}
