internal import AgentCore
internal import Bus
internal import Model
internal import Runtime
internal import Wire

internal import struct Synchronization.Atomic

/// Moves chunks between the local store and the cloud's, in bounded messages, several on their way at once. Chunks are
/// read from the store as they are sent (SIM-62).
actor ChunkMover {
  typealias Scope = Tickets<Ticket>.Scope

  private let store: any SyncStore
  private let exchanger: Exchanger
  private let clock: any Clock
  private let metrics: SyncMetrics
  private let limiter = Limiter(permits: EngineLimits.chunkMessages, waiters: EngineLimits.exchangesWaiting)
  private var tickets = Tickets<Ticket>()
  /// The cloud's clock minus ours, in milliseconds.
  private var cloudOffset: Int64 = 0

  init(store: any SyncStore, exchanger: Exchanger, clock: any Clock, metrics: SyncMetrics) {
    self.store = store
    self.exchanger = exchanger
    self.clock = clock
    self.metrics = metrics
  }

  // MARK: Tickets

  func cloudTime(is milliseconds: UInt64) {
    cloudOffset = Int64(clamping: milliseconds) - clock.wallTime.milliseconds
  }

  /// The operation that asks for a ticket, to ride along where one will be needed; nil: there is one.
  func ticketOperation(_ scope: Scope) -> Operation.Kind? {
    guard tickets.take(0, for: scope, cloudMilliseconds: cloudNow) == nil else { return nil }
    return .ticket(RequestTicket(container: scope.app.text, upload: scope.isUpload))
  }

  func keep(_ ticket: Ticket, for scope: Scope) {
    tickets.add(ticket, for: scope, bytes: ticket.bytes, expires: Int64(clamping: ticket.expiresMilliseconds))
  }

  private var cloudNow: Int64 { clock.wallTime.milliseconds + cloudOffset }

  private func ticket(for bytes: Int, _ scope: Scope) async throws(CaravanError) -> Ticket {
    if let ticket = tickets.take(UInt64(bytes), for: scope, cloudMilliseconds: cloudNow) { return ticket }
    let request = RequestTicket(container: scope.app.text, upload: scope.isUpload)
    let result = try await exchanger.exchange([.ticket(request)])[0]
    guard case .ticket(let ticket) = result else { throw .unexpected(result, to: "a request for a ticket") }
    keep(ticket, for: scope)
    _ = tickets.take(UInt64(bytes), for: scope, cloudMilliseconds: cloudNow)
    return ticket
  }

  // MARK: Up

  /// - Returns: bytes sent.
  /// - Throws: `noSuchObject` when the local store lacks one of them.
  func upload(_ hashes: [ChunkHash], of table: TableID, gate: Gate) async throws(CaravanError) -> Int {
    var rest = hashes[...]
    let sent = Atomic(0)
    let store = store
    try await pipelined(width: EngineLimits.chunkMessagesPerTable) { () async throws(CaravanError) -> [LocalChunk]? in
      guard !rest.isEmpty else { return nil }
      try await gate.check()
      let window = Array(rest.prefix(EngineLimits.chunksPerUpload))
      let chunks = try await store.chunks(window, maximumBytes: Limits.chunkBatchBytes)
      guard !chunks.isEmpty, chunks.map(\.hash) == Array(window.prefix(chunks.count)) else {
        throw CaravanError(.noSuchObject, "a chunk of \(table) is not in the local store: write its object again")
      }
      rest = rest.dropFirst(chunks.count)
      return chunks
    } work: { chunks throws(CaravanError) in
      let bytes = try await self.put(chunks, Scope(app: table.app, isUpload: true))
      sent.add(bytes, ordering: .relaxed)
    }
    return sent.load(ordering: .relaxed)
  }

  private func put(_ chunks: [LocalChunk], _ scope: Scope) async throws(CaravanError) -> Int {
    let bytes = chunks.reduce(0) { $0 + $1.bytes.count }
    let put = chunks.map { Chunk(hash: $0.hash.bytes, data: $0.bytes) }
    let reply = try await message(bytes, scope) { ChunkRequest(ticket: $0, put: put) }
    guard reply.stored.count == chunks.count * ChunkHash.byteCount else {
      throw CaravanError(
        .unavailable, "the cloud stored \(reply.stored.count / ChunkHash.byteCount) of \(chunks.count) chunks")
    }
    metrics.chunksUp.add(chunks.count)
    metrics.chunkBytesUp.add(bytes)
    return bytes
  }

  // MARK: Down

  /// Brings what waiting rows of the table need, until nothing is missing.
  /// - Returns: false when the cloud does not have all of it (any more): newer rows will say what takes its place.
  func fetchMissing(of table: TableID, gate: Gate) async throws(CaravanError) -> Bool {
    let store = store
    let perRound = EngineLimits.chunksPerRequest * EngineLimits.chunkMessagesPerTable
    while true {
      let missing = try await store.missingChunks(of: table, limit: perRound)
      if missing.isEmpty { return true }
      let arrived = Atomic(0)
      var rest = missing[...]
      try await pipelined(width: EngineLimits.chunkMessagesPerTable) { () async throws(CaravanError) -> [ChunkHash]? in
        guard !rest.isEmpty else { return nil }
        try await gate.check()
        defer { rest = rest.dropFirst(EngineLimits.chunksPerRequest) }
        return Array(rest.prefix(EngineLimits.chunksPerRequest))
      } work: { hashes throws(CaravanError) in
        arrived.add(try await self.get(hashes, for: table), ordering: .relaxed)
      }
      guard arrived.load(ordering: .relaxed) > 0 else { return false }
    }
  }

  /// - Returns: how many came.
  private func get(_ hashes: [ChunkHash], for table: TableID) async throws(CaravanError) -> Int {
    let scope = Scope(app: table.app, isUpload: false)
    let reply = try await message(Limits.chunkBatchBytes, scope) {
      ChunkRequest(ticket: $0, get: ChunkHash.joined(hashes))
    }
    let chunks = reply.chunks.compactMap { chunk -> LocalChunk? in
      guard !chunk.data.isEmpty, let hash = ChunkHash(chunk.hash) else { return nil }
      return LocalChunk(hash: hash, bytes: chunk.data)
    }
    guard !chunks.isEmpty else { return 0 }
    let bytes = chunks.reduce(0) { $0 + $1.bytes.count }
    metrics.chunksDown.add(chunks.count)
    metrics.chunkBytesDown.add(bytes)
    try await store.stage(chunks, bytesDown: bytes, for: table)
    return chunks.count
  }

  // MARK: Both

  /// One message under a ticket; a ticket that is refused is replaced, once.
  private func message(
    _ bytes: Int, _ scope: Scope, _ request: @Sendable (Ticket) -> ChunkRequest
  ) async throws(CaravanError) -> ChunkReply {
    try await limiter.acquire()
    defer { limiter.release() }
    do {
      return try await send(request(ticket(for: bytes, scope)))
    } catch {
      guard error.code == .leaseExpired || error.code == .notAuthenticated else { throw error }
      tickets.drop(scope)
    }
    return try await send(request(ticket(for: bytes, scope)))
  }

  private func send(_ request: ChunkRequest) async throws(CaravanError) -> ChunkReply {
    guard let ticket = request.ticket else { throw .unknownResult }
    return try await exchanger.chunks(request, in: Partition(ticket.partition))
  }
}
