import CaravanBus
import CaravanCompression
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageCore
import CaravanStore
import CaravanTokens
import CaravanWire

/// Devices' bulk bytes: whoever shows a ticket of sync's may stage chunks in its database, or read them.
final class ChunkAdmission: Sendable {
  private let store: any Store
  private let traffic: ChunkTraffic
  private let clock: any Clock
  private let tickets: TicketSeal
  private let metrics: StorageMetrics
  private let ledger = Mutex(TicketLedger())
  private let rates: RateLimiter
  private let refusals: DeviceRefusals

  init(store: any Store, host: Host, ticketKey: any TicketKeys, rates: RateLimits, metrics: StorageMetrics) {
    refusals = DeviceRefusals(host, retryAfter: StorageLimits.retryAfterMilliseconds)
    self.rates = RateLimiter(rates, counting: .limited, host: host)
    self.store = store
    traffic = ChunkTraffic(store: store, metrics: metrics)
    clock = host.clock
    tickets = TicketSeal(key: ticketKey)
    self.metrics = metrics
  }

  var endpoint: Endpoint {
    Endpoint(
      "chunks", .everyChunks(nil), group: ServiceName.storage.rawValue, maxInFlight: StorageLimits.chunkRequestsInFlight
    ) { incoming throws(CaravanError) in
      do throws(CaravanError) {
        return try await self.answer(incoming.message.payload, incoming.subject).encoded()
      } catch { throw self.refusals.told(error) }
    }
  }

  /// The ticket is read first, and what the request costs by its bytes is charged before they are unpacked: who has no
  /// ticket, or sends too much, is refused at the price of a ticket (TRU-02).
  private func answer(_ payload: [UInt8], _ subject: Subject) async throws(CaravanError) -> ChunkReply {
    // The broker proves the device; the ticket says what it may do (architecture §4).
    guard case .chunks(let device, let partition) = subject else {
      throw CaravanError(.invalidData, "'\(subject.text)' is not a chunk subject")
    }
    guard payload.count <= StorageLimits.chunkMessageBytes else {
      throw CaravanError(
        .limitExceeded,
        "a request for chunks has \(payload.count) bytes: the limit is \(StorageLimits.chunkMessageBytes), split it")
    }
    let ticket = try required(
      Ticket.decodeAhead(1, of: payload, bytes: StorageLimits.ticketMessageBytes), "ticket")
    let now = clock.wallTime.milliseconds
    let grant = try tickets.open(ticket, from: device, nowMilliseconds: now)
    let payer = RateLedger.Payer(device: device, container: grant.database.container.text)
    try rates.pass(max(1, Rate.accesses(bytes: payload.count)), from: payer)
    let request = try ChunkRequest.decode(payload)
    let wanted = try ChunkHash.list(request.get)
    var bases: [[ChunkHash]] = []
    for named in request.bases { bases.append(try ChunkHash.list(named)) }
    let rules = ChunkRules(database: grant.database, isUpload: grant.isUpload)
    let loads = try request.put.loads()
    try rules.check(partition: partition, put: loads, wanted: wanted.count, bases: bases.map(\.count))
    try rates.pass(Rate.accesses(bytes: loads.reduce(0) { $0 + max(0, $1.plain - $1.bytes) }), from: payer)
    let stored = try await put(request.put, grant, mac: ticket.mac, now: now)
    let reply =
      request.most > 0
      ? try await get(wanted, bases, Portion(request), stored, grant)
      : ChunkReply(chunks: try await get(wanted, bases, grant), stored: ChunkHash.joined(stored))
    rates.charge(reply.chunks.accesses, to: payer)
    return reply
  }

  /// Only what the database lacks is counted against the ticket, so that sending again after a lost answer is free.
  private func put(
    _ chunks: [Chunk], _ grant: TicketGrant, mac: [UInt8], now: Int64
  ) async throws(CaravanError) -> [ChunkHash] {
    guard !chunks.isEmpty else { return [] }
    let opened = try await traffic.opened(chunks, in: grant.database, as: grant.view)
    let lacking = Set(try await store.missing(opened.map(\.hash), in: grant.database, as: grant.view))
    let new = opened.filter { lacking.contains($0.hash) }
    try charge(new.reduce(0) { $0 + $1.bytes.count }, grant, mac: mac, now: now)
    if !new.isEmpty { try await store.stage(new, in: grant.database, as: grant.view) }
    metrics.chunkBytesIn.add(chunks.reduce(0) { $0 + $1.data.count })
    return opened.map(\.hash)
  }

  private func charge(_ bytes: Int, _ grant: TicketGrant, mac: [UInt8], now: Int64) throws(CaravanError) {
    try ledger.withLock { ledger throws(CaravanError) in
      try ledger.use(bytes, of: mac, allowing: grant.bytes, expires: grant.expiresMilliseconds, now: now)
    }
  }

  /// What a link that breaks lets pass (MOB-23).
  private struct Portion {
    let offset: Int
    let most: Int

    init(_ request: ChunkRequest) {
      offset = Int(request.offset)
      most = min(Int(request.most), Limits.chunkBatchBytes)
    }
  }

  private func get(
    _ hashes: [ChunkHash], _ bases: [[ChunkHash]], _ portion: Portion, _ stored: [ChunkHash], _ grant: TicketGrant
  ) async throws(CaravanError) -> ChunkReply {
    let names = ChunkHash.joined(stored)
    if portion.offset == 0 {
      let chunks = try await get(hashes, bases, grant, maxBytes: portion.most)
      if (chunks.first?.data.count ?? 0) <= portion.most { return ChunkReply(chunks: chunks, stored: names) }
    }
    return try await part(of: hashes, portion, names, grant)
  }

  private func part(
    of hashes: [ChunkHash], _ portion: Portion, _ stored: [UInt8], _ grant: TicketGrant
  ) async throws(CaravanError) -> ChunkReply {
    guard let hash = hashes.first else {
      throw CaravanError(.invalidData, "a request begins at byte \(portion.offset) of no chunk: name one")
    }
    let found = try await traffic.chunks([hash], in: grant.database, as: grant.view, maxBytes: portion.most)
    guard let bytes = found.first?.bytes else {
      return ChunkReply(chunks: [Chunk(hash: hash.bytes)], stored: stored)
    }
    guard portion.offset < bytes.count else {
      throw CaravanError(
        .invalidData, "a request begins at byte \(portion.offset) of a chunk of \(bytes.count): begin before its end")
    }
    let part = Array(bytes[portion.offset...].prefix(portion.most))
    metrics.chunkBytesOut.add(part.count)
    return ChunkReply(chunks: [Chunk(hash: hash.bytes, data: part)], stored: stored, size: UInt32(bytes.count))
  }

  private func get(
    _ hashes: [ChunkHash], _ bases: [[ChunkHash]], _ grant: TicketGrant, maxBytes: Int = Limits.chunkBatchBytes
  ) async throws(CaravanError) -> [Chunk] {
    guard !hashes.isEmpty else { return [] }
    let found = try await traffic.chunks(hashes, in: grant.database, as: grant.view, maxBytes: maxBytes)
    let chunks = try await traffic.closed(found, bases: bases, in: grant.database, as: grant.view)
    metrics.chunkBytesOut.add(chunks.reduce(0) { $0 + $1.data.count })
    return chunks
  }
}

extension TicketGrant {
  /// The chunks that it opens: those that its user sends, or those of its record.
  fileprivate var view: ChunkView {
    switch subject {
    case .everything: .all
    case .staged(let author): .staged(by: author)
    case .record(let record): .record(record)
    }
  }
}

extension CounterName {
  static let limited = CounterName(
    "caravan_storage_rate_limited_total", "Requests for chunks refused for their rate, by whose it was.")
}

extension [Chunk] {
  /// What it costs of a rate to move them (CK-101).
  fileprivate var accesses: UInt64 { Rate.accesses(bytes: reduce(0) { $0 + $1.data.count }) }

  /// - Throws: `invalidData` or `limitExceeded` for a patch that does not say what comes of it, or says too much.
  func loads() throws(CaravanError) -> [ChunkRules.Load] {
    var loads: [ChunkRules.Load] = []
    for chunk in self {
      let plain =
        chunk.bases.isEmpty
        ? chunk.data.count : try Decompressor.statedSize(of: chunk.data, limit: Limits.chunkBytes)
      loads.append(
        ChunkRules.Load(bytes: chunk.data.count, plain: plain, bases: chunk.bases.count / ChunkHash.byteCount))
    }
    return loads
  }
}
