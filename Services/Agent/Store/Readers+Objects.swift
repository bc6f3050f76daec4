internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Which copy of a row is meant.
public enum RowCopy: Sendable, Hashable {
  case mine
  /// The cloud's, of a row in conflict.
  case theirs
  /// What both are based on.
  case ancestor
}

public struct ObjectSlice: Sendable, Hashable {
  public let bytes: [UInt8]
  /// Of the whole object.
  public let size: UInt64

  public init(bytes: [UInt8], size: UInt64) {
    self.bytes = bytes
    self.size = size
  }
}

extension Readers {
  /// Bytes of an object from `offset` on, put together from the chunks they lie in; the rest is not loaded (SIM-29).
  /// At most `StoreLimits.readBytes`; none at or beyond the end.
  /// - Parameter cursor: reads the object as it was when that read began; 0: as it is.
  /// - Throws: `noSuchObject` when there is no such row or object, `rowTorn`.
  func readObject(
    _ table: TableID, row: String, object: String, offset: UInt64, length: Int, cursor handle: UInt64 = 0,
    copy: RowCopy = .mine, owner: UInt64
  ) throws(CaravanError) -> ObjectSlice {
    let state = try state(table)
    guard let column = try writer.objectColumns([object], of: state).first else {
      return ObjectSlice(bytes: [], size: 0)
    }
    if copy == .mine { try openWrites.refuseOverwritten(row, column: column, of: table) }
    var connection = try database
    if handle != 0 {
      var cursor = try cursor(handle, owner: owner)
      cursor.lastUse = host.clock.now
      cursors[handle] = cursor
      guard !cursor.overwritten.contains(row) else {
        throw CaravanError(
          .serverBusy, "the object was being written in place when this read began: begin it again",
          retryAfterMilliseconds: 50)
      }
      connection = cursor.reader.connection
    }
    return try connection.reading { () throws(CaravanError) in
      guard let object = try StoredObject(try objectCell(of: copy, row, column, state, connection)) else {
        throw CaravanError(.noSuchObject, "row '\(row.prefix(80))' has no object '\(object)'")
      }
      if copy == .mine {
        let length = min(max(0, length), StoreLimits.readBytes)
        try wanted.requirePresence(object, column: column, from: offset, length: length, in: state)
      }
      // What was fetched for this read no older snapshot knows; a chunk is the same in all of them.
      let source = state.isEager(column: column) ? connection : try database
      let manifest = try chunkReader(source).manifest(object)
      let bytes = try slice(of: manifest, from: offset, length: length, source)
      return ObjectSlice(bytes: bytes, size: manifest.size)
    }
  }

  private func objectCell(
    of copy: RowCopy, _ id: String, _ column: Int, _ state: TableState, _ connection: Connection
  ) throws(CaravanError) -> SQLValue {
    guard let row = try state.rows.row(id: id, connection) else {
      throw CaravanError(.noSuchObject, "table '\(state.table.name)' has no row '\(id.prefix(80))'")
    }
    guard state.absence == nil || row.head.flags.packed & 15 != 0 else {
      throw CaravanError(.noSuchObject, "the zone of table '\(state.table.name)' does not exist: its rows are hidden")
    }
    switch copy {
    case .mine:
      guard row.head.presence != .torn else {
        throw CaravanError(.rowTorn, "row \(id) is being restored from the cloud: retry later")
      }
      guard row.head.presence.isVisible || row.head.flags.inConflict else {
        throw CaravanError(.noSuchObject, "row \(id) was deleted")
      }
      return row.cells[column]
    case .theirs:
      guard let server = try wanted.inbox.entry(named: id, role: .serverCopy, of: state), server.lacking == 0 else {
        return .null
      }
      return try state.codec.content(server.body).cells[column]
    case .ancestor:
      guard let body = try writer.ancestors.body(of: row.key, in: state) else { return .null }
      return try state.codec.content(body).cells[column]
    }
  }

  private func slice(
    of manifest: AssetManifest, from offset: UInt64, length: Int, _ connection: Connection
  ) throws(CaravanError) -> [UInt8] {
    guard offset < manifest.size else { return [] }
    let start = Int(offset)
    let end = min(Int(manifest.size), start + max(0, min(length, StoreLimits.readBytes)))
    var reader = PartReader(manifest.parts, chunkReader(connection), current: readLast)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(end - start)
    while start + bytes.count < end {
      bytes += try reader.read(at: start + bytes.count, count: end - start - bytes.count)
    }
    readLast = end < Int(manifest.size) ? reader.current : nil
    return bytes
  }
}
