internal import CaravanEncoding
public import CaravanModel

/// The checksum of what is stored of an entry: its numbers, name, fields and body. It is kept beside them, so that
/// whoever reads them sees what a disk has lost or turned. Of what came before layout 6 there is none. The list of
/// chunks is not in it: that repeats what the body says, and may be longer than all the rest; scrubbing looks whether
/// the chunks that it names are there.
public struct RowSum: Sendable {
  public private(set) var value: UInt64

  /// - Parameter flags: `EntryFlags`, as they are stored.
  public init(version: Seq, created: Seq, flags: Int64, type: UInt32, expires: Int64) {
    var value = XXHash64.hash(version, seed: 0)
    value = XXHash64.hash(created, seed: value)
    value = XXHash64.hash(UInt64(bitPattern: flags), seed: value)
    value = XXHash64.hash(UInt64(type), seed: value)
    self.value = XXHash64.hash(UInt64(bitPattern: expires), seed: value)
  }

  /// The name, the fields, then the body. Each part's length counts, so that no part can pass for two.
  public mutating func add(_ bytes: RawSpan) { value = XXHash64.hash(bytes, seed: value) }

  public mutating func add(_ bytes: borrowing [UInt8]) { value = XXHash64.hash(bytes, seed: value) }

  public mutating func add(_ text: String) { value = unsafe XXHash64.hash(text.utf8.span.bytes, seed: value) }
}

extension ZoneCommit.Write {
  public var sum: UInt64 {
    var sum = RowSum(
      version: version, created: created, flags: flags.rawValue, type: content.type, expires: expires)
    sum.add(name)
    sum.add(fields)
    sum.add(content.body)
    return sum.value
  }
}

extension RecordContent {
  /// As a store that takes it in keeps it: what was damaged where it comes from stays so.
  public var keptSum: UInt64 { sum ?? Self.sum(of: entry, flags) }

  static func sum(of entry: Entry, _ flags: EntryFlags) -> UInt64 {
    var sum = RowSum(
      version: entry.version, created: entry.created, flags: flags.rawValue, type: entry.type, expires: entry.expires)
    sum.add(entry.name)
    sum.add(entry.fields)
    sum.add(entry.body)
    return sum.value
  }

  /// With what is kept beside it, if that does not fit.
  /// - Parameter kept: nil: there is none.
  public func checked(against kept: UInt64?) -> RecordContent {
    guard let kept, kept != Self.sum(of: entry, flags) else { return self }
    var record = self
    record.sum = kept
    return record
  }
}
