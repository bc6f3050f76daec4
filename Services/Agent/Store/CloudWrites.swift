internal import CaravanAgentCore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Objects of one record of the cloud while an app writes them. No row of this device names them: their chunks are
/// loose until they are forgotten, and a crash leaves nothing of them.
struct CloudWrite {
  let owner: UInt64
  let app: ContainerID
  /// By column.
  var drafts: [String: ObjectDraft]
  /// Chunks that list those of large objects.
  var lists: [ChunkHash: LooseChunk] = [:]

  var waitingBytes: Int { drafts.values.reduce(0) { $0 + $1.waitingBytes } }

  func loose(_ hash: ChunkHash) -> LooseChunk? {
    lists[hash] ?? drafts.values.lazy.compactMap { $0.loose[hash] }.first
  }
}

/// How apps write objects of records of the cloud: as those of rows, but that a change of the cloud takes them.
struct CloudWrites: StorePart {
  let context: StoreContext
  let openWrites: OpenWrites

  func open(_ objects: [String], of app: ContainerID, owner: UInt64) throws(CaravanError) -> UInt64 {
    guard !objects.isEmpty, Set(objects).count == objects.count else {
      throw CaravanError(.invalidData, "objects to be written are named, each once")
    }
    guard objects.count <= Limits.fieldsPerType else {
      throw CaravanError(.limitExceeded, "\(objects.count) objects of one record: the limit is \(Limits.fieldsPerType)")
    }
    try openWrites.requireRoom(beside: openWrites.all.values.count { $0.table.app == app && !$0.isHeld }, of: app)
    try context.reserve.hold()
    let drafts = objects.map { ($0, ObjectDraft(nil, options.chunking)) }
    let handle = context.newHandle()
    openWrites.cloud[handle] = CloudWrite(owner: owner, app: app, drafts: Dictionary(uniqueKeysWithValues: drafts))
    return handle
  }

  func write(
    _ handle: UInt64, object: String, offset: UInt64, bytes: [UInt8], owner: UInt64
  ) throws(CaravanError) {
    try withDraft(handle, object, owner) { (draft, table) throws(CaravanError) in
      try draft.write(bytes, at: offset, table)
    }
  }

  func truncate(_ handle: UInt64, object: String, size: UInt64, owner: UInt64) throws(CaravanError) {
    try withDraft(handle, object, owner) { (draft, table) throws(CaravanError) in
      try draft.truncate(to: size, table)
    }
  }

  /// What a record has to hold, by column.
  func objects(_ handle: UInt64, owner: UInt64) throws(CaravanError) -> [String: Value] {
    let table = try chunkTable
    var values: [String: Value] = [:]
    for column in try write(handle, owner).drafts.keys.sorted() {
      try withDraft(handle, column, owner) { (draft, table) throws(CaravanError) in
        values[column] = .asset(try draft.fold(table))
      }
      guard case .asset(let manifest)? = values[column], manifest.parts.count > options.chunksInRow else { continue }
      let bytes = StoredObject(manifest).listBytes
      let list = ChunkHash(of: bytes)
      if openWrites.cloud[handle]?.lists[list] == nil {
        openWrites.cloud[handle]?.lists[list] = try table.loose(bytes, sum: XXHash64.hash(bytes))
      }
      values[column] = .assetList(list, size: manifest.size)
    }
    return values
  }

  func abandon(_ handle: UInt64, owner: UInt64) throws(CaravanError) {
    _ = try write(handle, owner)
    try forget(handle)
  }

  /// The owner has gone.
  func release(owner: UInt64) {
    for (handle, write) in openWrites.cloud where write.owner == owner {
      do throws(CaravanError) { try forget(handle) } catch {
        host.log.warning("objects that an app has left take room until the next start", [.error: error])
      }
    }
  }

  private func forget(_ handle: UInt64) throws(CaravanError) {
    guard let write = openWrites.cloud.removeValue(forKey: handle) else { return }
    let table = try chunkTable
    for var draft in write.drafts.values { draft.discard(table) }
    for list in write.lists.values { table.discard(list) }
  }

  private func write(_ handle: UInt64, _ owner: UInt64) throws(CaravanError) -> CloudWrite {
    guard let write = openWrites.cloud[handle], write.owner == owner else {
      throw CaravanError(.invalidData, "objects \(handle) are not open here: open them anew")
    }
    return write
  }

  /// The draft has one owner while it is edited, or its bytes would be copied with every call.
  private func withDraft(
    _ handle: UInt64, _ object: String, _ owner: UInt64,
    _ body: (inout ObjectDraft, ChunkTable) throws(CaravanError) -> Void
  ) throws(CaravanError) {
    let app = try write(handle, owner).app
    guard var draft = openWrites.cloud[handle]?.drafts.removeValue(forKey: object) else {
      throw CaravanError(.invalidData, "object '\(object.prefix(80))' is not open in \(handle)")
    }
    defer { openWrites.cloud[handle]?.drafts[object] = draft }
    let table = try chunkTable
    try body(&draft, table)
    let waiting = draft.waitingBytes + openWrites.waitingBytes(of: app)
    if draft.isFull || waiting > StoreLimits.overlayBytesPerApp { _ = try draft.fold(table) }
  }
}
