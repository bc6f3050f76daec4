internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// What is remembered of objects of records of the cloud that apps read piece by piece. Each is of one version of its
/// record, and so never out of date; its bytes come under a ticket, so whoever may not see it any more gets no others.
final class CloudObjects: Sendable {
  struct Key: Hashable {
    let table: TableID
    let id: String
    let column: String
    let version: Seq
  }

  private struct Chunk: Hashable {
    let object: Key
    let hash: ChunkHash
  }

  private let manifests = Mutex(BoundedCache<Key, AssetManifest>(capacity: EngineLimits.cloudObjectsKnown))
  /// Those at the edges of pieces, which the next piece begins with.
  private let edges = Mutex(BoundedCache<Chunk, [UInt8]>(capacity: EngineLimits.cloudObjectsKnown))

  func manifest(of object: Key) -> AssetManifest? { manifests.withLock { $0.value(for: object) } }
  func keep(_ manifest: AssetManifest, of object: Key) { manifests.withLock { $0.insert(manifest, for: object) } }

  func edge(_ hash: ChunkHash, of object: Key) -> [UInt8]? {
    edges.withLock { $0.value(for: Chunk(object: object, hash: hash)) }
  }

  func keep(edge bytes: [UInt8], _ hash: ChunkHash, of object: Key) {
    edges.withLock { $0.insert(bytes, for: Chunk(object: object, hash: hash)) }
  }
}

/// Reads objects of records of the public database, a part at a time: no more is in memory, and nothing is kept on the
/// disk.
struct CloudObjectReads: Sendable {
  let records: CloudRecords
  let mover: ChunkMover
  let known: CloudObjects

  func read(_ question: CloudObjectQuestion) async throws(CaravanError) -> ObjectSlice {
    var object = CloudObjects.Key(
      table: question.table, id: question.id, column: question.column, version: question.version)
    let manifest: AssetManifest
    if question.version > 0, let found = known.manifest(of: object) {
      manifest = found
    } else {
      (object, manifest) = try await find(object)
      known.keep(manifest, of: object)
    }
    let length = min(question.length, StoreLimits.readBytes)
    let window = ObjectWindow(of: manifest, at: question.offset, length: length)
    var chunks: [[UInt8]] = []
    if let first = window.parts.first, let edge = known.edge(first.hash, of: object) { chunks.append(edge) }
    let linkGuard = LinkGuard(CloudRecordVersion(object.id, version: object.version), of: object.table, .read)
    while chunks.count < window.parts.count {
      let rest = window.parts[chunks.count...]
      for (bytes, part) in zip(try await mover.read(rest.map(\.hash), through: linkGuard), rest) {
        guard bytes.count == part.length else { throw Self.contradiction(object) }
        chunks.append(bytes)
      }
    }
    if let last = window.parts.last, let bytes = chunks.last { known.keep(edge: bytes, last.hash, of: object) }
    return ObjectSlice(bytes: window.bytes(of: chunks), size: manifest.size)
  }

  /// - Returns: also the version at which the record was found.
  private func find(_ object: CloudObjects.Key) async throws(CaravanError) -> (CloudObjects.Key, AssetManifest) {
    let question = RecordsQuestion(table: object.table, ids: [object.id], columns: [object.column])
    guard let found = try await records.fetch(question).first else { throw .unknownResult }
    let shown: ShownRecord
    switch found {
    case .record(let record): shown = record
    case .missing: throw Self.absent(object)
    case .failed(let error): throw error
    }
    let version = shown.entry.version
    guard object.version == 0 || object.version == version else {
      throw CaravanError(
        .serverRecordChanged,
        "record '\(object.id)' is version \(version) by now: fetch it again, and read its objects as they are")
    }
    let key = CloudObjects.Key(table: object.table, id: object.id, column: object.column, version: version)
    guard let column = shown.columns.first else { throw Self.absent(object) }
    switch shown.fields[column.id] {
    case .asset(let manifest): return (key, manifest)
    case .assetList(let list, let size):
      let linkGuard = LinkGuard(CloudRecordVersion(object.id, version: version), of: object.table, .read)
      guard let bytes = try await mover.read([list], through: linkGuard).first else { throw Self.contradiction(key) }
      return (key, try CaravanWire.Asset.listed(bytes, size: size))
    default: throw Self.absent(object)
    }
  }

  private static func absent(_ object: CloudObjects.Key) -> CaravanError {
    CaravanError(
      .noSuchObject, "there is no record '\(object.id.prefix(80))' with an object '\(object.column.prefix(80))'")
  }

  private static func contradiction(_ object: CloudObjects.Key) -> CaravanError {
    CaravanError(
      .internalError, "a chunk of an object of record '\(object.id)' has another length than the record says")
  }
}
