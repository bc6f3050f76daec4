internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanAgentStore
internal import CaravanBus
internal import CaravanCompression
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

internal import struct Synchronization.Atomic

/// Moves chunks between the local store and the cloud's, in bounded messages, several on their way at once. Chunks are
/// read from the store as they are sent (SIM-62).
actor ChunkMover {
  typealias Scope = Tickets<Ticket>.Scope

  let store: any SyncStore
  let exchanger: Exchanger
  let clock: any Clock
  let metrics: SyncMetrics
  private let totals: SessionTotals
  private let limiter = Limiter(permits: EngineLimits.chunkMessages, waiters: EngineLimits.exchangesWaiting)
  private var tickets = Tickets<Ticket>()
  /// Chunks that have gone ahead of their rows. The cloud may have lost them since: then it asks.
  private var arrived: Set<ChunkHash> = []
  /// What has come of parts of answers.
  var begun: [ChunkHash: [UInt8]] = [:]
  /// The cloud's clock minus ours, in milliseconds.
  private var cloudOffset: Int64 = 0
  /// Apps of whose chunks the cloud wants no more before then, and what it said.
  var holds: [ContainerID: (until: Instant, refusal: CaravanError)] = [:]

  init(store: any SyncStore, exchanger: Exchanger, clock: any Clock, metrics: SyncMetrics, totals: SessionTotals) {
    self.store = store
    self.exchanger = exchanger
    self.clock = clock
    self.metrics = metrics
    self.totals = totals
  }

  // MARK: Tickets

  func cloudTime(is milliseconds: UInt64) {
    cloudOffset = Int64(clamping: milliseconds) - clock.wallTime.milliseconds
  }

  /// The operation that asks for a ticket, to ride along where one will be needed; nil: there is one.
  func ticketOperation(_ scope: Scope) -> Operation.Kind? {
    guard tickets.take(0, for: scope, cloudMilliseconds: cloudNow) == nil else { return nil }
    return .ticket(RequestTicket(scope))
  }

  func keep(_ ticket: Ticket, for scope: Scope) {
    tickets.add(ticket, for: scope, bytes: ticket.bytes, expires: Int64(clamping: ticket.expiresMilliseconds))
  }

  func forgetTicket(of linkGuard: LinkGuard) { tickets.drop(linkGuard.scope(isUpload: false)) }

  private var cloudNow: Int64 { clock.wallTime.milliseconds + cloudOffset }

  private func ticket(for bytes: Int, _ scope: Scope, _ linkGuard: LinkGuard) async throws(CaravanError) -> Ticket {
    if let ticket = tickets.take(UInt64(bytes), for: scope, cloudMilliseconds: cloudNow) { return ticket }
    let result = try await exchanger.exchange([.ticket(RequestTicket(scope))], through: [linkGuard])[0]
    guard case .ticket(let ticket) = result else { throw .unexpected(result, to: "a request for a ticket") }
    keep(ticket, for: scope)
    _ = tickets.take(UInt64(bytes), for: scope, cloudMilliseconds: cloudNow)
    return ticket
  }

  // MARK: Up

  /// What is small enough to travel with the push that needs it: small chunks, and patches of those that have not
  /// changed much; or all that it needs.
  /// - Parameter isFree: the link costs nothing by the byte.
  /// - Returns: also whether the cloud then has all of it, as far as is known, and the bytes of all chunks that are no
  ///   patches.
  func inlineChunks(
    for needs: [ChunkNeed], isFree: Bool
  ) async throws(CaravanError) -> (chunks: [Chunk], isAll: Bool, plainBytes: Int) {
    let needs = needs.filter { !arrived.contains($0.hash) }
    var inlineChunks: [Chunk] = []
    let rideAll =
      isFree && exchanger.fragment.isUnbroken
      && needs.reduce(0) { $0 + $1.length } <= EngineLimits.freelyRidingBytes
    let mostOfChunk = rideAll ? Limits.chunkBytes : EngineLimits.ridingChunkBytes
    var room = rideAll ? EngineLimits.freelyRidingBytes : min(EngineLimits.ridingBytes, exchanger.fragment.bytes / 4)
    var plainRoom = Limits.chunkBatchBytes
    var vain = 0
    for need in needs where need.length <= mostOfChunk || !need.bases.isEmpty {
      guard vain < EngineLimits.vainPatches, let bytes = try await bytes(of: need.hash) else { break }
      guard bytes.count <= plainRoom else { break }
      let chunk = try await packed(LocalChunk(hash: need.hash, bytes: bytes), need.bases)
      let size = chunk.data.count + chunk.bases.count + ChunkHash.byteCount
      guard chunk.data.count <= mostOfChunk, size <= room else {
        vain += 1
        continue
      }
      (vain, room, plainRoom) = (0, room - size, plainRoom - bytes.count)
      inlineChunks.append(chunk)
    }
    let plainBytes = needs.reduce(0) { $0 + ($1.bases.isEmpty ? $1.length : 0) }
    return (inlineChunks, inlineChunks.count == needs.count, plainBytes)
  }

  /// - Parameter needs: what is known of the chunks; others go whole.
  /// - Throws: `chunkDamaged` when the local store has lost one of them.
  func upload(
    _ hashes: [ChunkHash], needs: [ChunkNeed], through linkGuard: LinkGuard
  ) async throws(CaravanError) {
    let bases = Dictionary(needs.map { ($0.hash, $0.bases) }, uniquingKeysWith: { first, _ in first })
    var rest = hashes[...]
    let store = store
    try await pipelined(width: width) { () async throws(CaravanError) -> [LocalChunk]? in
      guard !rest.isEmpty else { return nil }
      let window = Array(rest.prefix(EngineLimits.chunksPerUpload))
      let chunks = try await store.chunks(window, maximumBytes: self.exchanger.fragment.bytes)
      guard !chunks.isEmpty, chunks.map(\.hash) == Array(window.prefix(chunks.count)) else {
        throw CaravanError(
          .chunkDamaged, "a chunk of \(linkGuard.table) is damaged in the local store: its row is being seen to")
      }
      rest = rest.dropFirst(chunks.count)
      return chunks
    } work: { chunks throws(CaravanError) in
      try await self.put(chunks, bases, through: linkGuard)
    }
  }

  /// Chunks of rows that are being written.
  func send(early hashes: [ChunkHash], through linkGuard: LinkGuard) async throws(CaravanError) {
    var rest = try await store.chunksBeingWritten(hashes)[...]
    while !rest.isEmpty, exchanger.fragment.isUnbroken {
      var room = Limits.chunkBatchBytes
      let fitting = rest.prefix { chunk in
        room -= chunk.bytes.count
        return room >= 0
      }
      rest = rest.dropFirst(fitting.count)
      let put = fitting.map { Chunk(hash: $0.hash.bytes, data: $0.bytes) }
      let stored = try await send(put, plain: fitting.map(\.bytes.count), through: linkGuard)
      metrics.chunksUp.add(stored.count)
      if arrived.count + stored.count > EngineLimits.earlyChunks { arrived = [] }
      arrived.formUnion(stored)
    }
  }

  /// Patches that the cloud has no base for are sent again as the chunks they make; what is too much for the link, in
  /// several messages.
  func put(
    _ chunks: [LocalChunk], _ bases: [ChunkHash: [ChunkHash]], through linkGuard: LinkGuard
  ) async throws(CaravanError) {
    var put: [Chunk] = []
    for chunk in chunks { put.append(try await packed(chunk, bases[chunk.hash] ?? [])) }
    let bytes = put.reduce(0) { $0 + $1.data.count }
    if bytes > exchanger.fragment.bytes { return try await putApart(chunks, bases, through: linkGuard) }
    let stored: Set<ChunkHash>
    do throws(CaravanError) { stored = try await send(put, plain: chunks.map(\.bytes.count), through: linkGuard) } catch
    {
      guard error.code == .timedOut, bytes > exchanger.fragment.bytes else { throw error }
      return try await putApart(chunks, bases, through: linkGuard)
    }
    let left = chunks.filter { !stored.contains($0.hash) }
    let patched = Set(put.lazy.filter { !$0.bases.isEmpty }.map(\.hash))
    guard left.allSatisfy({ patched.contains($0.hash.bytes) }) else {
      throw CaravanError(.unavailable, "the cloud stored \(stored.count) of \(chunks.count) chunks")
    }
    metrics.chunksUp.add(chunks.count - left.count)
    metrics.patchesUp.add(patched.count - left.count)
    if !left.isEmpty { try await self.put(left, [:], through: linkGuard) }
  }

  private func putApart(
    _ chunks: [LocalChunk], _ bases: [ChunkHash: [ChunkHash]], through linkGuard: LinkGuard
  ) async throws(CaravanError) {
    if chunks.count == 1 { return try await putInPieces(chunks[0], through: linkGuard) }
    let (first, second) = (Array(chunks[..<(chunks.count / 2)]), Array(chunks[(chunks.count / 2)...]))
    try await put(first, bases, through: linkGuard)
    try await put(second, bases, through: linkGuard)
  }

  /// - Returns: those that the cloud has now.
  func send(_ put: [Chunk], plain: [Int], through linkGuard: LinkGuard) async throws(CaravanError) -> Set<ChunkHash> {
    let reply = try await message(plain.reduce(0, +), isUpload: true, through: linkGuard) {
      ChunkRequest(ticket: $0, put: put)
    }
    return Set(try ChunkHash.list(reply.stored))
  }

  /// As a patch where that is smaller, and the local store has what it is a patch of.
  private func packed(_ chunk: LocalChunk, _ bases: [ChunkHash]) async throws(CaravanError) -> Chunk {
    let whole = Chunk(hash: chunk.hash.bytes, data: chunk.bytes)
    guard !bases.isEmpty, let base = try await joined(bases) else { return whole }
    var compressor = try Compressor()
    let data = try compressor.patch(chunk.bytes, from: base)
    let names = ChunkHash.joined(bases)
    guard data.count + names.count < chunk.bytes.count else { return whole }
    return Chunk(hash: chunk.hash.bytes, data: data, bases: names)
  }

  private func bytes(of hash: ChunkHash) async throws(CaravanError) -> [UInt8]? {
    try await store.chunks([hash], maximumBytes: Limits.chunkBytes).first?.bytes
  }

  /// The bytes of chunks one after another; nil when one is not here.
  private func joined(_ hashes: [ChunkHash]) async throws(CaravanError) -> [UInt8]? {
    let chunks = try await store.chunks(hashes, maximumBytes: hashes.count * Limits.chunkBytes)
    return chunks.count == hashes.count ? chunks.flatMap(\.bytes) : nil
  }

  // MARK: Down

  /// Brings what waiting rows of the table need, until nothing is missing.
  /// - Returns: false when the cloud does not have all of it (any more): newer rows will say what takes its place.
  /// - Throws: `networkNotPermitted` with the time until tomorrow, once what is left is too large for today's budget of
  ///   the link.
  func fetchMissing(through linkGuard: LinkGuard) async throws(CaravanError) -> Bool {
    while true {
      let perRequest = max(1, EngineLimits.chunksPerRequest * exchanger.fragment.bytes / EngineLimits.largestMessage)
      let perRound = perRequest * width
      let missing = try await missingChunks(of: linkGuard.table, limit: perRound)
      if missing.isEmpty { return true }
      let arrived = Atomic(0)
      var rest = missing[...]
      try await pipelined(width: width) { () async throws(CaravanError) -> [ChunkNeed]? in
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(perRequest) }
        return Array(rest.prefix(perRequest))
      } work: { needs throws(CaravanError) in
        let sent = self.exchanger.fragment.bytes
        do throws(CaravanError) {
          arrived.add(try await self.get(needs, through: linkGuard), ordering: .relaxed)
        } catch {
          // The next round asks for less.
          guard error.code == .timedOut, self.exchanger.fragment.bytes < sent else { throw error }
          arrived.add(1, ordering: .relaxed)
        }
      }
      guard arrived.load(ordering: .relaxed) > 0 else { return false }
    }
  }

  private func missingChunks(of table: TableID, limit: Int) async throws(CaravanError) -> [ChunkNeed] {
    while let left = exchanger.meter.budget?.left {
      let room = Int(clamping: left) - EngineLimits.pushCost
      let fitting = try await store.missingChunks(of: table, limit: limit, room: room)
      if !fitting.isEmpty { return fitting }
      if try await store.missingChunks(of: table, limit: 1).isEmpty { return [] }
      // What is on its way may take less than is set apart for it.
      if await !exchanger.meter.hasSettled(), let refusal = exchanger.meter.refusal(of: .max) { throw refusal }
    }
    return try await store.missingChunks(of: table, limit: limit)
  }

  /// Chunks that a page's rows cannot be taken in without. What does not come is fetched for the rows that then wait.
  func bring(
    for page: [IncomingEntry], through linkGuard: LinkGuard
  ) async -> [LocalChunk] {
    do throws(CaravanError) {
      let needs = exchanger.fragment.isUnbroken ? try await store.chunks(lackedBy: page, of: linkGuard.table) : []
      guard !needs.isEmpty else { return [] }
      let reply = try await ask(for: needs, through: linkGuard)
      let chunks = try await opened(reply, isPatched: true).chunks
      metrics.chunksDown.add(chunks.count)
      return chunks
    } catch {
      return []
    }
  }

  /// - Returns: how many came, or began to.
  private func get(_ needs: [ChunkNeed], through linkGuard: LinkGuard) async throws(CaravanError) -> Int {
    let fragment = exchanger.fragment
    if !fragment.isUnbroken { return try await getInParts(needs, most: fragment.bytes, through: linkGuard) }
    if exchanger.meter.budget != nil {
      // No more is set apart for them than they need.
      let most = min(Limits.chunkBatchBytes, needs.reduce(0) { $0 + $1.mostBytes })
      return try await getInParts(needs, most: most, through: linkGuard)
    }
    let isPatched = needs.contains { !$0.bases.isEmpty }
    return try await take(ask(for: needs, through: linkGuard), isPatched: isPatched, through: linkGuard)
  }

  func ask(for needs: [ChunkNeed], through linkGuard: LinkGuard) async throws(CaravanError) -> ChunkReply {
    let bases = needs.contains { !$0.bases.isEmpty } ? needs.map { ChunkHash.joined($0.bases) } : []
    return try await message(Limits.chunkBatchBytes, isUpload: false, through: linkGuard) {
      ChunkRequest(ticket: $0, get: ChunkHash.joined(needs.map(\.hash)), bases: bases)
    }
  }

  /// Whole chunks, or patches of such that are here.
  func take(_ reply: ChunkReply, isPatched: Bool, through linkGuard: LinkGuard) async throws(CaravanError) -> Int {
    let (chunks, unpatched) = try await opened(reply, isPatched: isPatched)
    if !chunks.isEmpty {
      metrics.chunksDown.add(chunks.count)
      try await stage(chunks, for: linkGuard.table)
    }
    guard !unpatched.isEmpty else { return chunks.count }
    return chunks.count + (try await get(unpatched, through: linkGuard))
  }

  func stage(_ chunks: [LocalChunk], for table: TableID) async throws(CaravanError) {
    let summary = try await store.stage(chunks, for: table)
    totals.add(SessionCounters(summary), to: Coalescer.Key(table, .read))
  }

  /// - Returns: what came, and what came as a patch that makes nothing of what is here.
  private func opened(
    _ reply: ChunkReply, isPatched: Bool
  ) async throws(CaravanError) -> (chunks: [LocalChunk], unpatched: [ChunkNeed]) {
    var chunks: [LocalChunk] = []
    var unpatched: [ChunkNeed] = []
    for chunk in reply.chunks {
      guard !chunk.data.isEmpty, chunk.bases.isEmpty || isPatched, let hash = ChunkHash(chunk.hash) else {
        continue
      }
      if let bytes = try await unpacked(chunk) {
        chunks.append(LocalChunk(hash: hash, bytes: bytes))
      } else {
        unpatched.append(ChunkNeed(hash: hash))
      }
    }
    return (chunks, unpatched)
  }

  /// Nil: the patch does not make its chunk of what is here.
  private func unpacked(_ chunk: Chunk) async throws(CaravanError) -> [UInt8]? {
    guard !chunk.bases.isEmpty else { return chunk.data }
    guard let bases = try? ChunkHash.list(chunk.bases), bases.count <= Limits.basesPerPatch,
      let base = try await joined(bases),
      let bytes = Self.apply(chunk.data, to: base), ChunkHash(of: bytes).bytes == chunk.hash
    else {
      metrics.patchesRefused.add()
      return nil
    }
    metrics.patchesDown.add()
    return bytes
  }

  private static func apply(_ patch: [UInt8], to base: [UInt8]) -> [UInt8]? {
    do {
      var decompressor = try Decompressor()
      return try decompressor.apply(patch, to: base, limit: Limits.chunkBytes)
    } catch {
      return nil
    }
  }

  // MARK: Both

  /// Messages of one table on their way at once: over a link that breaks each of them would be lost with it.
  var width: Int { exchanger.fragment.isUnbroken ? EngineLimits.chunkMessagesPerTable : 1 }

  /// As small as can be, it goes again when it was lost.
  func carried(
    _ bytes: Int, isUpload: Bool, through linkGuard: LinkGuard, _ request: @Sendable (Ticket) -> ChunkRequest
  ) async throws(CaravanError) -> ChunkReply {
    try await limiter.acquire()
    defer { limiter.release() }
    for _ in 0..<EngineLimits.resends {
      let wasLeast = exchanger.fragment.isLeast
      do throws(CaravanError) {
        return try await ticketed(bytes, isUpload: isUpload, through: linkGuard, request)
      } catch {
        guard error.code == .timedOut, wasLeast else { throw error }
      }
    }
    return try await ticketed(bytes, isUpload: isUpload, through: linkGuard, request)
  }

  /// Under a ticket; one that is refused is replaced, once.
  private func ticketed(
    _ bytes: Int, isUpload: Bool, through linkGuard: LinkGuard, _ request: @Sendable (Ticket) -> ChunkRequest
  ) async throws(CaravanError) -> ChunkReply {
    let scope = linkGuard.scope(isUpload: isUpload)
    do {
      return try await send(request(ticket(for: bytes, scope, linkGuard)), through: linkGuard)
    } catch {
      guard error.code == .leaseExpired || error.code == .notAuthenticated else { throw error }
      tickets.drop(scope)
    }
    return try await send(request(ticket(for: bytes, scope, linkGuard)), through: linkGuard)
  }

  private func send(_ request: ChunkRequest, through linkGuard: LinkGuard) async throws(CaravanError) -> ChunkReply {
    guard let ticket = request.ticket else { throw .unknownResult }
    return try await exchanger.chunks(request, in: Partition(ticket.partition), through: linkGuard)
  }
}
