/// One field's value (CK-07). A date is an integer, Unix milliseconds; an encrypted value is data.
public enum Value: Sendable, Hashable {
  case null
  case text(String)
  case integer(Int64)
  case real(Double)
  case data([UInt8])
  case asset(AssetManifest)
  /// An object of many chunks: the chunk that lists them, and the object's bytes.
  case assetList(ChunkHash, size: UInt64)
  case location(Location)
  case reference(Reference)
  /// Values of one kind, none of them null or a list.
  case list([Value])

  /// The text; nil: it is another kind of value.
  public var textValue: String? { if case .text(let text) = self { text } else { nil } }
  /// The whole number; nil: it is another kind of value.
  public var integerValue: Int64? { if case .integer(let number) = self { number } else { nil } }
  /// The number, whole ones too; nil: it is another kind of value.
  public var realValue: Double? {
    switch self {
    case .real(let number): number
    case .integer(let number): Double(number)
    case .null, .text, .data, .asset, .assetList, .location, .reference, .list: nil
    }
  }
  /// The bytes; nil: it is another kind of value.
  public var dataValue: [UInt8]? { if case .data(let bytes) = self { bytes } else { nil } }
  /// The list's members; nil: it is another kind of value.
  public var listValue: [Value]? { if case .list(let items) = self { items } else { nil } }

  /// What errors call the kind of the value.
  public var kindName: String {
    switch self {
    case .null: "null"
    case .text: "text"
    case .integer: "integer"
    case .real: "real"
    case .data: "data"
    case .asset, .assetList: "object"
    case .location: "location"
    case .reference: "reference"
    case .list: "list"
    }
  }
}

/// An object as the ordered list of its chunks.
public struct AssetManifest: Sendable, Hashable {
  /// A chunk of the object.
  public struct Part: Sendable, Hashable {
    /// SHA-256 of its bytes.
    public let hash: ChunkHash
    /// Bytes of this chunk.
    public let length: UInt32

    /// - Parameter length: bytes of this chunk.
    public init(hash: ChunkHash, length: UInt32) {
      self.hash = hash
      self.length = length
    }
  }

  /// From the object's beginning to its end.
  public let parts: [Part]
  /// Bytes of the whole object.
  public let size: UInt64

  /// - Parameter parts: from the object's beginning to its end.
  public init(parts: [Part]) {
    self.parts = parts
    size = parts.reduce(0) { $0 + UInt64($1.length) }
  }
}

/// A place on earth, in degrees (WGS 84).
public struct Location: Sendable, Hashable {
  /// Degrees north of the equator, -90 to 90.
  public let latitude: Double
  /// Degrees east of Greenwich, -180 to 180.
  public let longitude: Double

  /// - Throws: `invalidData` when there is no such place.
  public init(latitude: Double, longitude: Double) throws(CaravanError) {
    guard Self.exists(latitude: latitude, longitude: longitude) else {
      throw CaravanError(
        .invalidData,
        "there is no place at \(latitude), \(longitude): latitudes are -90 to 90 degrees, longitudes -180 to 180")
    }
    self.latitude = latitude
    self.longitude = longitude
  }

  static func exists(latitude: Double, longitude: Double) -> Bool {
    (-90...90).contains(latitude) && (-180...180).contains(longitude)
  }
}

/// Another record of the same zone.
public struct Reference: Sendable, Hashable {
  /// What is done when a target is deleted.
  public enum Kind: Sendable, Hashable, CaseIterable {
    /// A name and no more: nothing is checked.
    case plain
    /// Deleting the target deletes whoever refers to it, in the same commit (CK-27).
    case owning
    /// While it is referred to, the target cannot be deleted (CK-28).
    case validating

    /// What becomes of whoever refers to a target that is deleted, in a word.
    public var word: String { "\(self)" }
  }

  /// Name of the record referred to.
  public let target: String
  /// What is done when the target is deleted.
  public let kind: Kind

  /// A reference to the record of this name, which need not exist yet where the kind is plain.
  public init(to target: String, _ kind: Kind = .plain) {
    self.target = target
    self.kind = kind
  }
}

/// A record's fields by field id, ascending; a field that is absent is null.
public struct RecordFields: Sendable, Hashable {
  /// By field id.
  public private(set) var values: [UInt32: Value]

  /// Fields by id.
  public init(_ values: [UInt32: Value] = [:]) { self.values = values }

  /// The value of a field; null where the record has none.
  public subscript(id: UInt32) -> Value {
    get { values[id] ?? .null }
    set { values[id] = newValue }
  }

  /// Fields that are not null, in the order of their ids.
  public var ascending: [(id: UInt32, value: Value)] {
    values.sorted { $0.key < $1.key }.map { (id: $0.key, value: $0.value) }
  }

  /// Every chunk that the objects in here name, lists themselves but not what they list, each once, in order of first
  /// use.
  public var chunks: [ChunkHash] {
    var seen: Set<ChunkHash> = []
    var list: [ChunkHash] = []
    for (_, value) in ascending {
      for hash in value.chunks where seen.insert(hash).inserted { list.append(hash) }
    }
    return list
  }
}

extension Value {
  /// Chunks that its objects name, lists themselves but not what they list.
  fileprivate var chunks: [ChunkHash] {
    switch self {
    case .asset(let manifest): manifest.parts.map(\.hash)
    case .assetList(let list, _): [list]
    case .list(let items): items.flatMap(\.chunks)
    case .null, .text, .integer, .real, .data, .location, .reference: []
    }
  }
}
