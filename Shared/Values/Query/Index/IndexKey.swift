internal import CaravanModel

/// What an index keeps in place of a value: bytes whose order is the order of the values. An engine that compares bytes
/// finds and sorts values of every kind alike, whatever its collation and its number types are.
///
/// An integer or date is eight bytes, big-endian, with its sign bit turned over. A real is eight bytes likewise, all
/// of them turned over where it is negative. A text, a reference's name or data are a byte 1 and their own bytes. A
/// place is its `PlaceCell`. Keys of different kinds have no order: a field has one kind. A key has no more than the
/// beginning of what is longer than `mostBytes`: such values have one key with others, and no order among them.
public struct IndexKey: Sendable, Hashable {
  /// Of one key.
  public static let mostBytes = 1_024

  public let bytes: [UInt8]

  /// It tells its value from every other.
  public var isWhole: Bool { bytes.count < Self.mostBytes }

  /// The key of null comes before every other.
  public static let null = IndexKey(bytes: [])

  /// For a key that an index has given back.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  init(_ word: UInt64) { bytes = (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) } }
  private init(_ run: ArraySlice<UInt8>) { bytes = [1] + run.prefix(Self.mostBytes - 1) }

  /// The smallest key greater than those of all values that begin as this one's does; nil: there is none.
  var endOfPrefix: IndexKey? {
    var bytes = bytes
    while let last = bytes.popLast() {
      if last < 0xff { return IndexKey(bytes: bytes + [last + 1]) }
    }
    return nil
  }
}

extension IndexKey {
  /// - Returns: nil: lists have no key, as an index has their members; nor have objects.
  public init?(_ cell: Cell) {
    switch cell {
    case .null: self = .null
    case .integer(let number): self.init(UInt64(bitPattern: number) ^ 1 << 63)
    case .real(let number): self.init(number.orderedBits)
    case .bytes(let run): self.init(run)
    case .place(let place): self.init(PlaceCell(place).code)
    case .list, .present: return nil
    }
  }
}
