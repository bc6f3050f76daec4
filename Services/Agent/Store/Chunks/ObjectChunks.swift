internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// Which chunks rows and entries name, which of them are not here, and what each of those may be a patch of.
struct ObjectChunks: StorePart {
  let context: StoreContext

  // MARK: What is named

  func named(
    by row: StoredRow, in state: TableState, onlyEager: Bool = false
  ) throws(CaravanError) -> Set<ChunkHash> {
    var objects: [StoredObject] = []
    for (column, cell) in row.cells.enumerated()
    where state.schema.columns[column].kind == .object && (!onlyEager || state.isEager(column: column)) {
      if let object = try StoredObject(cell) { objects.append(object) }
    }
    return try everyChunk(of: objects).union(row.extra.isEmpty ? [] : everyChunk(inBody: row.extra))
  }

  func everyChunk(inBody body: [UInt8]) throws(CaravanError) -> Set<ChunkHash> {
    try everyChunk(of: RowCodec.objects(inBody: body).map(\.object))
  }

  /// With what lists name, as far as these are here.
  func everyChunk(of objects: [StoredObject]) throws(CaravanError) -> Set<ChunkHash> {
    let reader = chunkReader(try database)
    var chunks: Set<ChunkHash> = []
    for object in objects {
      chunks.formUnion(object.named)
      if let list = object.list { chunks.formUnion(try reader.listed(list)) }
    }
    return chunks
  }

  // MARK: What is not here

  /// Chunks of a body's objects that come with their row and are not here, with those that its lists name, as far as
  /// they are here.
  func absent(_ body: [UInt8], in state: TableState) throws(CaravanError) -> Set<ChunkHash> {
    try absent(of: RowCodec.objects(inBody: body), in: state)
  }

  func absent(
    of objects: [(field: UInt32, object: StoredObject)], in state: TableState
  ) throws(CaravanError) -> Set<ChunkHash> {
    guard !objects.isEmpty else { return [] }
    let reader = chunkReader(try database)
    var absent: Set<ChunkHash> = []
    for (field, object) in objects where state.isEager(field: field) {
      for hash in object.named where try !reader.isPresent(hash) { absent.insert(hash) }
      if let list = object.list { absent.formUnion(try chunkTable.open(list)) }
    }
    return absent
  }

  /// Of the chunks that a part of an object lies in, those that are not here; a list that is not here hides the others.
  func absent(
    from object: StoredObject, at offset: UInt64, length: Int, _ reader: ChunkReader
  ) throws(CaravanError) -> Set<ChunkHash> {
    if let list = object.list, try !reader.isPresent(list) { return [list] }
    var absent: Set<ChunkHash> = []
    var start: UInt64 = 0
    for part in try reader.manifest(object).parts {
      let end = start + UInt64(part.length)
      if end > offset, start < offset || start - offset < UInt64(max(0, length)), try !reader.isPresent(part.hash) {
        absent.insert(part.hash)
      }
      start = end
    }
    return absent
  }

  // MARK: What has to be moved

  /// Of a row's chunks that the cloud is likely to lack, as they would travel if none is a patch.
  func unsentBytes(of row: StoredRow, since ancestor: [UInt8]?, in state: TableState) throws(CaravanError) -> Int {
    let old = try RowCodec.objects(inBody: ancestor ?? [])
    return try needs(of: state.codec.body(row.cells, extra: row.extra), in: state) { field in
      old.first { $0.field == field }?.object
    }.reduce(0) { $0 + $1.length }
  }

  func needs(
    of body: [UInt8], in state: TableState, sinceRow row: StoredRow?
  ) throws(CaravanError) -> [ChunkNeed] {
    try needs(of: body, in: state) { (field) throws(CaravanError) in
      guard let row, let column = state.codec.column(ofField: field) else { return nil }
      return try StoredObject(row.cells[column])
    }
  }

  /// - Parameter old: the object that a field had before.
  func needs(
    of body: [UInt8], in state: TableState, since old: (UInt32) throws(CaravanError) -> StoredObject?
  ) throws(CaravanError) -> [ChunkNeed] {
    let reader = chunkReader(try database)
    // What was overwritten in place, or was never fetched, nothing can be a patch of.
    let mayLackBases = state.properties.mode == .inPlace || !state.properties.fetch.isEmpty
    var needs: [ChunkNeed] = []
    for (field, object) in try RowCodec.objects(inBody: body) {
      let before = try old(field).map { (object) throws(CaravanError) in try reader.version(object) }
      for need in ObjectDelta.needs(of: try reader.version(object), since: before) {
        var lacksBase = false
        if mayLackBases { for base in need.bases where try !reader.isPresent(base) { lacksBase = true } }
        needs.append(lacksBase ? ChunkNeed(hash: need.hash, length: need.length) : need)
      }
    }
    return needs
  }

  // MARK: Bytes

  func held(_ hashes: [ChunkHash]) throws(CaravanError) -> [ChunkHash] {
    let (database, reader) = (try database, chunkReader(try database))
    return try database.reading { () throws(CaravanError) in
      var held: [ChunkHash] = []
      for hash in hashes where try reader.isPresent(hash) { held.append(hash) }
      return held
    }
  }

  func bytes(of hashes: [ChunkHash], maximumBytes: Int) throws(CaravanError) -> [LocalChunk] {
    let reader = chunkReader(try database)
    return try database.reading { () throws(CaravanError) in
      var chunks: [LocalChunk] = []
      var bytes = 0
      for hash in hashes {
        guard let data = try reader.bytes(hash) else {
          damage.note(hash)
          continue
        }
        bytes += data.count
        guard chunks.isEmpty || bytes <= maximumBytes else { break }
        chunks.append(LocalChunk(hash: hash, bytes: data))
      }
      return chunks
    }
  }
}
