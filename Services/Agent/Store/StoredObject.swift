internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite
internal import CaravanWire

/// An object as a cell and a body name it: by its chunks, or by the chunk that lists them.
struct StoredObject: Sendable, Hashable {
  let size: UInt64
  /// The chunk that lists the others; nil: they stand here.
  let list: ChunkHash?
  let parts: [AssetManifest.Part]

  init(_ manifest: AssetManifest) { (size, list, parts) = (manifest.size, nil, manifest.parts) }

  init(list: ChunkHash, size: UInt64) { (self.size, self.list, parts) = (size, list, []) }

  /// - Throws: `invalidData` when it contradicts itself.
  init(_ asset: CaravanWire.Asset) throws(CaravanError) {
    if let list = try asset.listHash() {
      self.init(list: list, size: asset.size)
    } else {
      self.init(try asset.model())
    }
  }

  /// The object of a cell; nil when there is none.
  init?(_ cell: SQLValue) throws(CaravanError) {
    guard case .blob(let bytes) = cell else { return nil }
    try self.init(try CaravanWire.Asset.decode(bytes))
  }

  /// The chunks that stand here, a list instead of what it lists.
  var named: [ChunkHash] { list.map { [$0] } ?? parts.map(\.hash) }

  var cell: SQLValue { .blob(asset.encoded()) }

  /// What a list's chunk holds.
  var listBytes: [UInt8] { asset.encoded() }

  private var asset: CaravanWire.Asset {
    if let list { CaravanWire.Asset(list: list, size: size) } else { CaravanWire.Asset(AssetManifest(parts: parts)) }
  }
}

// Objects whose chunks may stand in lists.
extension ChunkReader {
  /// What a list names; nothing when it is not here, or is no list.
  func listed(_ list: ChunkHash) throws(CaravanError) -> [ChunkHash] {
    guard let bytes = try bytes(list), let asset = try? CaravanWire.Asset.decode(bytes),
      let object = try? StoredObject(asset), object.list == nil
    else { return [] }
    return object.parts.map(\.hash)
  }

  /// The chunks of an object.
  /// - Throws: `internalError` when its list is not here, `invalidData` when that is no list of this object.
  func manifest(_ object: StoredObject) throws(CaravanError) -> AssetManifest {
    guard let list = object.list else { return AssetManifest(parts: object.parts) }
    return try CaravanWire.Asset.listed(try required(list), size: object.size)
  }

  /// As far as it is here; of what is no list, nothing. A list that has yet to come is no damage.
  func version(_ object: StoredObject) throws(CaravanError) -> ObjectVersion {
    guard let list = object.list else { return ObjectVersion(list: nil, parts: object.parts) }
    let parts = try bytes(list).flatMap { try? CaravanWire.Asset.listed($0, size: object.size).parts }
    return ObjectVersion(list: list, parts: parts ?? [])
  }
}

extension ChunkTable {
  /// The chunks that a list names are counted from now on, until the list itself goes. What is no list names none: its
  /// object cannot be read, and harms no other.
  /// - Returns: those that are not here.
  @discardableResult
  func open(_ list: ChunkHash) throws(CaravanError) -> [ChunkHash] {
    let reader = self.reader
    let presence = try database.first("SELECT present FROM chunks WHERE hash = ?", list) { row in row.integer(0) }
    guard let presence, presence != Presence.absent.rawValue else { return [] }
    let listed = Set(try reader.listed(list)).sorted()
    if presence == Presence.opened.rawValue {
      var absent: [ChunkHash] = []
      for hash in listed where try !reader.isPresent(hash) { absent.append(hash) }
      return absent
    }
    try database.run("UPDATE chunks SET present = ? WHERE hash = ?", Presence.opened.rawValue, list)
    return try retain(listed)
  }

  /// An object's cell: its chunks, or when they are many the chunk that lists them.
  func cell(_ manifest: AssetManifest, chunksInRow: Int) throws(CaravanError) -> SQLValue {
    let object = StoredObject(manifest)
    guard manifest.parts.count > chunksInRow else { return object.cell }
    let bytes = object.listBytes
    let list = ChunkHash(of: bytes)
    try put(bytes, hash: list)
    try open(list)
    return StoredObject(list: list, size: manifest.size).cell
  }
}
