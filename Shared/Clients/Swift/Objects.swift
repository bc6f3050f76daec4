public import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// Objects of one write, open until the write's closure returns. Bytes go to the agent as they come; the object need
/// not fit into memory.
public struct ObjectWriter: Sendable {
  let write: UInt64
  /// Ids of the rows being written; objects are addressed by the index of their row.
  public let rows: [String]
  let connection: AppConnection

  /// Writes `bytes` at `offset`, over what is there or beyond its end.
  public func write(
    _ bytes: some Collection<UInt8>, to object: String, at offset: UInt64, row: Int = 0
  ) async throws(CaravanError) {
    var position = offset
    var rest = bytes[...]
    var runs: [[AppConnection.Sent]] = [[]]
    // Those that are not answered are waited for no longer.
    defer { try? connection.settle(runs.joined()) }
    while !rest.isEmpty {
      let piece = rest.prefix(ClientLimits.objectPieceBytes)
      let isAnswered = piece.count == rest.count || runs[runs.count - 1].count + 1 == ClientLimits.piecesInFlight / 2
      let request = CaravanWire.WriteObject(
        write: write, row: UInt32(row), object: object, offset: position, more: !isAnswered)
      let data = piece as? ArraySlice<UInt8> ?? Array(piece)[...]
      runs[runs.count - 1].append(try connection.send(.writeObject(request), data: data))
      if isAnswered {
        if runs.count == 2 { try await finish(&runs) }
        runs.append([])
      }
      position += UInt64(piece.count)
      rest = rest.dropFirst(piece.count)
    }
    while runs.count > 1 { try await finish(&runs) }
  }

  /// Waits for the first run's last answer.
  private func finish(_ runs: inout [[AppConnection.Sent]]) async throws(CaravanError) {
    _ = try await runs[0].last?.answer.wait().get()
    try connection.settle(runs.removeFirst())
  }

  /// Cuts the object off, or fills it up with zeros.
  public func truncate(_ object: String, to size: UInt64, row: Int = 0) async throws(CaravanError) {
    let request = CaravanWire.TruncateObject(write: write, row: UInt32(row), object: object, size: size)
    try await connection.done(.truncateObject(request))
  }

  /// Gives the object these contents, whatever it had.
  public func replace(
    _ object: String, with bytes: some Collection<UInt8>, row: Int = 0
  ) async throws(CaravanError) {
    try await truncate(object, to: 0, row: row)
    try await write(bytes, to: object, at: 0, row: row)
  }
}

extension Table {
  /// A part of an object; parts not asked for are never loaded (SIM-29).
  /// - Returns: at most 512 KiB, fewer bytes than asked for at the object's end, none behind it.
  /// - Throws: `noSuchObject` when the row, or that side of it, has no such object.
  public func read(
    _ object: String, of row: String, at offset: UInt64, count: Int, side: RowSide = .mine
  ) async throws(CaravanError) -> [UInt8] {
    try await read(object, of: row, at: offset, count: count, side: side, cursor: 0)
  }

  private func read(
    _ object: String, of row: String, at offset: UInt64, count: Int, side: RowSide, cursor: UInt64
  ) async throws(CaravanError) -> [UInt8] {
    let contents = ObjectContents(table: self, object: object, row: row, side: side, cursor: cursor)
    guard case .objectBytes(let bytes) = try await connection.request(contents.request(at: offset, count: count)) else {
      throw AppConnection.surprise("read")
    }
    return bytes.data
  }

  /// An object's bytes from front to back. A write to it in between shows; `withSnapshot` reads it as it was.
  public func contents(of object: String, row: String, side: RowSide = .mine) -> ObjectContents {
    ObjectContents(table: self, object: object, row: row, side: side, cursor: 0)
  }
}

/// An object's bytes in pieces, front to back.
public struct ObjectContents: AsyncSequence, Sendable {
  /// A piece: at most `ClientLimits.objectPieceBytes` bytes.
  public typealias Element = [UInt8]
  let table: Table
  let object: String
  let row: String
  let side: RowSide
  let cursor: UInt64
  /// Of a record of the cloud; nil: it is a row's on this device.
  private var cloud: (version: UInt64, isPublic: Bool)?

  init(table: Table, object: String, row: String, side: RowSide, cursor: UInt64) {
    (self.table, self.object, self.row, self.side, self.cursor) = (table, object, row, side, cursor)
  }

  init(table: Table, object: String, row: String, cloudVersion: UInt64, in database: CloudDatabase) {
    self.init(table: table, object: object, row: row, side: .mine, cursor: 0)
    cloud = (cloudVersion, database == .public)
  }

  /// Once a second piece is wanted, those behind it are asked for before they are.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let contents: ObjectContents
    /// Pieces on their way at one time.
    private var depth: Int
    private var ahead: [Promise<AppConnection.Answer>] = []
    /// Where the next piece begins that is asked for.
    private var offset: UInt64 = 0
    /// Of the object, as the last piece said.
    fileprivate private(set) var size: UInt64?

    init(_ contents: ObjectContents, depth: Int = 1) {
      self.contents = contents
      self.depth = depth
    }

    /// The next piece; nil at the end.
    public mutating func next() async throws(CaravanError) -> [UInt8]? {
      if size == nil { try ask() }
      guard !ahead.isEmpty else { return nil }
      guard case .objectBytes(let piece) = try await ahead.removeFirst().wait().get() else {
        throw AppConnection.surprise("read")
      }
      size = piece.size
      // A shorter one is the last: what stood behind it has gone, or was written later.
      if piece.data.count < ClientLimits.objectPieceBytes { (ahead, offset) = ([], .max) }
      while ahead.count < depth, offset < piece.size {
        do { try ask() } catch {
          guard error.code == .serverBusy, !ahead.isEmpty else { throw error }
          break
        }
      }
      depth = ClientLimits.piecesInFlight
      return piece.data.isEmpty ? nil : piece.data
    }

    private mutating func ask() throws(CaravanError) {
      let request = contents.request(at: offset, count: ClientLimits.objectPieceBytes)
      ahead.append(try contents.table.connection.send(request).answer)
      offset += UInt64(ClientLimits.objectPieceBytes)
    }
  }

  /// From the beginning.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  func request(at offset: UInt64, count: Int) -> AppRequest.Kind {
    .readObject(
      CaravanWire.ReadObject(
        table: table.name, row: row, object: object, offset: offset, length: UInt32(clamping: count), cursor: cursor,
        copy: side.wire, publicDatabase: cloud?.isPublic ?? false, version: cloud?.version ?? 0))
  }

  /// All of it, in memory.
  public func all() async throws(CaravanError) -> [UInt8] {
    var iterator = AsyncIterator(self, depth: ClientLimits.piecesInFlight)
    guard var bytes = try await iterator.next() else { return [] }
    bytes.reserveCapacity(Int(clamping: iterator.size ?? 0))
    while let piece = try await iterator.next() { bytes += piece }
    return bytes
  }
}
