internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// The writes that apps have open. Nothing of them is visible, and what arrives for their rows waits.
final class OpenWrites: StorePart {
  let context: StoreContext
  /// By handle.
  var all: [UInt64: OpenWrite] = [:]
  /// Objects of records of the cloud, by handle.
  var cloud: [UInt64: CloudWrite] = [:]

  init(_ context: StoreContext) { self.context = context }

  /// Chunks that nobody names go; open writes may hold some that nobody counts yet.
  func sweep() throws(CaravanError) {
    if all.isEmpty, cloud.isEmpty { try chunkTable.sweep() }
  }

  func isOpen(_ table: TableID) -> Bool { all.values.contains { $0.table == table } }

  /// The same, of open writes that end together.
  func promise(ofWrites handles: [UInt64]) -> WritePromise {
    handles.allSatisfy { all[$0]?.promise == .accepted } ? .accepted : .durable
  }

  func requireRoom(for write: OpenWrite) throws(CaravanError) {
    let app = write.table.app
    let others = all.values.filter { $0.table.app == app && $0.isHeld == write.isHeld }
    guard write.isHeld else { return try requireRoom(beside: others.count, of: app) }
    guard others.count < StoreLimits.heldWritesPerApp else {
      throw CaravanError(
        .limitExceeded,
        "\(others.count) writes of app '\(app)' wait to be closed together, which is the limit: make more batches")
    }
    let (rows, bytes) = others.reduce((write.targets.count, write.cellBytes)) {
      ($0.0 + $1.targets.count, $0.1 + $1.cellBytes)
    }
    try Batches.check(rows: rows, bytes: bytes, of: app)
  }

  /// - Parameter rows: writes of rows that the app has open.
  func requireRoom(beside rows: Int, of app: ContainerID) throws(CaravanError) {
    let open = rows + cloud.values.count { $0.app == app }
    guard open < StoreLimits.openWritesPerApp else {
      throw CaravanError(.limitExceeded, "app '\(app)' has \(open) open writes: close some")
    }
  }

  /// Bytes of an app's objects that wait in memory to become chunks.
  func waitingBytes(of app: ContainerID) -> Int {
    let rows = all.values.reduce(0) { $1.table.app == app ? $0 + $1.waitingBytes : $0 }
    return cloud.values.reduce(rows) { $1.app == app ? $0 + $1.waitingBytes : $0 }
  }

  func chunksBeingWritten(_ hashes: [ChunkHash]) throws(CaravanError) -> [LocalChunk] {
    let reader = chunkReader(try database)
    let drafts = all.values.flatMap(\.targets).flatMap(\.drafts.values)
    var chunks: [LocalChunk] = []
    for hash in hashes {
      let loose =
        drafts.lazy.compactMap { $0.loose[hash] }.first ?? cloud.values.lazy.compactMap { $0.loose(hash) }.first
      guard let bytes = if let loose { try reader.bytes(loose) } else { try reader.bytes(hash) } else { continue }
      chunks.append(LocalChunk(hash: hash, bytes: bytes))
    }
    return chunks
  }

  func write(_ handle: UInt64, owner: UInt64) throws(CaravanError) -> OpenWrite {
    guard let write = all[handle], write.owner == owner else {
      throw CaravanError(.invalidData, "write \(handle) is not open here: begin a new one")
    }
    return write
  }

  /// An app overwrites the object just now: nobody can read it.
  func refuseOverwritten(_ row: String, column: Int, of table: TableID) throws(CaravanError) {
    let isOverwritten = all.values.contains { write in
      write.table == table && write.targets.contains { $0.id == row && $0.claimed[column] != nil }
    }
    guard isOverwritten else { return }
    throw CaravanError(
      .serverBusy, "the object is being written in place: read it when the write is closed", retryAfterMilliseconds: 50)
  }

  func rowsBeingOverwritten(of table: TableID) -> Set<String> {
    Set(all.values.lazy.filter { $0.table == table }.flatMap(\.targets).filter { !$0.claimed.isEmpty }.map(\.id))
  }

  func isOpen(_ row: StoredRow, column: Int, of table: TableID) -> Bool {
    all.values.contains { write in
      write.table == table && write.has(row: row.id)
        && write.targets.contains { $0.isRow(row) && $0.drafts[column] != nil }
    }
  }

  /// An app has the row open: what arrives for it waits.
  func isOpen(row id: String, of table: TableID) -> Bool {
    all.values.contains { write in write.table == table && write.has(row: id) }
  }
}
