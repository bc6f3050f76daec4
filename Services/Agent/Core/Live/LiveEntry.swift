public import CaravanModel

/// What rows of an answer are ordered by: a cell as SQLite compares it, or one of the cloud's that is to come between
/// those. Texts are compared by their bytes.
public enum LiveRank: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  case data([UInt8])

  /// - Returns: nil: it is of a kind that has no order.
  public init?(_ value: Value) {
    switch value {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .text(let text): self = .text(Array(text.utf8))
    case .data(let bytes): self = .data(bytes)
    case .reference(let reference): self = .text(Array(reference.target.utf8))
    case .asset, .assetList, .location, .list: return nil
    }
  }

  /// Memory that it takes beside its own.
  var bytes: Int {
    switch self {
    case .null, .integer, .real: 0
    case .text(let bytes), .data(let bytes): bytes.count + 32
    }
  }

  private var kind: Int {
    switch self {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .data: 3
    }
  }

  /// - Returns: nil: neither comes first.
  func precedes(_ other: LiveRank) -> Bool? {
    switch (self, other) {
    case (.integer(let one), .integer(let two)): one == two ? nil : one < two
    case (.real(let one), .real(let two)): one == two ? nil : one < two
    // A column has numbers of one kind, so that this decides nothing that SQLite would decide otherwise.
    case (.integer(let one), .real(let two)): Double(one) == two ? nil : Double(one) < two
    case (.real(let one), .integer(let two)): one == Double(two) ? nil : one < Double(two)
    case (.text(let one), .text(let two)), (.data(let one), .data(let two)):
      one == two ? nil : one.lexicographicallyPrecedes(two)
    case (.null, _), (.integer, _), (.real, _), (.text, _), (.data, _):
      kind == other.kind ? nil : kind < other.kind
    }
  }
}

/// A row of an answer, as far as it has to be known for telling one answer from the next.
public struct LiveEntry: Sendable, Hashable {
  /// Where its cells are.
  public enum Place: Sendable, Hashable {
    /// On the device, under this key.
    case row(Int64)
    /// Only in the cloud, of whose last answer it is.
    case cloud
  }

  /// The row's id. Bytes, because two ids may be one text to Unicode and are not one id.
  public let id: [UInt8]
  public let ranks: [LiveRank]
  public let place: Place
  /// Another one whenever the row may be another one.
  public let stamp: UInt64

  public init(id: [UInt8], ranks: [LiveRank], place: Place, stamp: UInt64) {
    self.id = id
    self.ranks = ranks
    self.place = place
    self.stamp = stamp
  }

  /// Memory that it takes, about.
  public var bytes: Int { ranks.reduce(128 + id.count) { $0 + 24 + $1.bytes } }
}

/// How rows of an answer follow each other: by their ranks, and by their ids where these are the same, which is the
/// same on every device.
public struct LiveOrder: Sendable, Hashable {
  /// For each rank.
  public let isDescending: [Bool]

  public init(isDescending: [Bool]) { self.isDescending = isDescending }

  public func precedes(_ one: LiveEntry, _ two: LiveEntry) -> Bool {
    for (index, descending) in isDescending.enumerated() {
      if let isFirst = one.ranks[index].precedes(two.ranks[index]) { return isFirst != descending }
    }
    return one.id.lexicographicallyPrecedes(two.id)
  }

  /// Where an entry belongs among sorted ones.
  func place(of entry: LiveEntry, in list: [LiveEntry]) -> Int {
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if precedes(list[middle], entry) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
