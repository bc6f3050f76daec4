/// One field's value (CK-07 as far as record types know it today).
public enum Value: Sendable, Hashable {
  case null
  case text(String)
  case integer(Int64)
  case real(Double)
  case data([UInt8])
  case asset(AssetManifest)
  /// An object of many chunks: the chunk that lists them, and the object's bytes.
  case assetList(ChunkHash, size: UInt64)

  public var kindName: String {
    switch self {
    case .null: "null"
    case .text: "text"
    case .integer: "integer"
    case .real: "real"
    case .data: "data"
    case .asset, .assetList: "object"
    }
  }
}

/// An object as the ordered list of its chunks.
public struct AssetManifest: Sendable, Hashable {
  public struct Part: Sendable, Hashable {
    public let hash: ChunkHash
    /// Bytes of this chunk.
    public let length: UInt32

    public init(hash: ChunkHash, length: UInt32) {
      self.hash = hash
      self.length = length
    }
  }

  public let parts: [Part]
  /// Bytes of the whole object.
  public let size: UInt64

  public init(parts: [Part]) {
    self.parts = parts
    size = parts.reduce(0) { $0 + UInt64($1.length) }
  }
}

/// A record's fields by field id, ascending; a field that is absent is null.
public struct RecordFields: Sendable, Hashable {
  public private(set) var values: [UInt32: Value]

  public init(_ values: [UInt32: Value] = [:]) { self.values = values }

  public subscript(id: UInt32) -> Value {
    get { values[id] ?? .null }
    set { values[id] = newValue }
  }

  public var ascending: [(id: UInt32, value: Value)] {
    values.sorted { $0.key < $1.key }.map { (id: $0.key, value: $0.value) }
  }

  /// Every chunk that the objects in here name, lists themselves but not what they list, each once, in order of first
  /// use.
  public var chunks: [ChunkHash] {
    var seen: Set<ChunkHash> = []
    var list: [ChunkHash] = []
    for (_, value) in ascending {
      switch value {
      case .asset(let manifest):
        for part in manifest.parts where seen.insert(part.hash).inserted { list.append(part.hash) }
      case .assetList(let hash, _): if seen.insert(hash).inserted { list.append(hash) }
      case .null, .text, .integer, .real, .data: continue
      }
    }
    return list
  }
}
