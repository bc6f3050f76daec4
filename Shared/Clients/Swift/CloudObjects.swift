public import CaravanModel
internal import CaravanWire

/// Writes of objects that changes of cloud records bring, which the agent has until the changes have their outcomes.
struct CloudObjects {
  private var writes: [Int: (write: UInt64, connection: AppConnection)] = [:]

  init() {}

  init(of change: Int, write: UInt64, on connection: AppConnection) { writes[change] = (write, connection) }

  mutating func add(_ write: UInt64, of change: Int, on connection: AppConnection) {
    writes[change] = (write, connection)
  }

  /// The write of a change's objects on this connection; nil: there is none.
  /// - Parameter isLost: nobody here has their bytes any more.
  /// - Throws: `networkNotConnected` where they went with the connection.
  mutating func write(
    of change: Int, on connection: AppConnection, isLost: Bool
  ) throws(CaravanError) -> UInt64? {
    guard let open = writes[change] else { return nil }
    guard open.connection !== connection else { return open.write }
    guard !isLost else {
      throw CaravanError(
        .networkNotConnected,
        "the objects were written on a connection that has ended: fetch the record, and save it with them again")
    }
    writes[change] = nil
    return nil
  }

  mutating func forget(_ change: Int) {
    if let open = writes.removeValue(forKey: change) { open.connection.forget([open.write]) }
  }

  mutating func forgetAll() { for change in Array(writes.keys) { forget(change) } }
}

extension AppConnection {
  /// Opens objects of a cloud record.
  func openObjects(
    _ objects: [String], of id: String, isPublic: Bool
  ) async throws(CaravanError) -> ObjectWriter {
    let request = CaravanWire.OpenObjects(publicDatabase: isPublic, objects: objects)
    guard case .writeOpened(let opened) = try await self.request(.openObjects(request)) else {
      throw Self.surprise("write")
    }
    return ObjectWriter(write: opened.write, rows: [id], connection: self)
  }

  /// Abandons writes, where the connection still is.
  func forget(_ writes: [UInt64]) { notify(.closeWrite(CaravanWire.CloseWrite(writes: writes, abandon: true))) }
}

extension CloudTable {
  // MARK: Objects

  /// Saves a record with objects that are written piece by piece and need not fit into memory. What the cloud has of
  /// them, as far as the user may name it, does not travel again.
  /// - Parameters:
  ///   - record: as the app wants it.
  ///   - mode: what it may meet.
  ///   - objects: columns that get new objects.
  ///   - fill: writes them.
  /// - Throws: besides what `save` does, what `fill` does; then nothing has happened. After `timedOut` it may have.
  public nonisolated(nonsending) func save(
    _ record: CloudRecord, mode: CloudSaveMode = .ifUnchanged, objects: [String],
    _ fill: (ObjectWriter) async throws -> Void
  ) async throws -> CloudOutcome {
    let connection = table.connection
    let writer = try await connection.openObjects(objects, of: record.id, isPublic: database == .public)
    // Forgets them where it ends.
    let changes = CloudChanges(saving: record, mode: mode, with: writer.write, on: connection)
    try await fill(writer)
    return try await commit(changes)[0]
  }

  /// A part of an object of a record; parts that are not asked for do not travel (CK-24).
  /// - Parameters:
  ///   - object: its column.
  ///   - record: as it was read: its version counts.
  ///   - offset: where the part begins.
  ///   - count: bytes that are wanted.
  /// - Returns: at most 512 KiB, fewer bytes than asked for at the object's end, none behind it.
  /// - Throws: `noSuchObject` where there is no such record or object, or none that the user may see;
  ///   `serverRecordChanged` where the record has changed since it was read.
  public func read(
    _ object: String, of record: CloudRecord, at offset: UInt64, count: Int
  ) async throws(CaravanError) -> [UInt8] {
    let contents = contents(of: object, in: record)
    guard case .objectBytes(let bytes) = try await table.connection.request(contents.request(at: offset, count: count))
    else { throw AppConnection.surprise("read") }
    return bytes.data
  }

  /// An object's bytes from front to back, of the version of the record that was read; they are not kept here.
  public func contents(of object: String, in record: CloudRecord) -> ObjectContents {
    ObjectContents(table: table, object: object, row: record.id, cloudVersion: record.version ?? 0, in: database)
  }
}
