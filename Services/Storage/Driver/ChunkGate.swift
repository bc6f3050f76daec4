import Bus
import Crypto
import Model
import Runtime
import Sealing
import StorageCore
import Store
import Wire

/// Devices' bulk bytes: whoever shows a ticket of sync's may stage chunks in its database, or read them.
final class ChunkGate: Sendable {
  private let store: any Store
  private let clock: any Clock
  private let tickets: TicketSeal
  private let metrics: StorageMetrics
  private let ledger = Mutex(TicketLedger())

  init(store: any Store, host: Host, ticketKey: TicketKey, metrics: StorageMetrics) {
    self.store = store
    clock = host.clock
    tickets = TicketSeal(key: ticketKey)
    self.metrics = metrics
  }

  var endpoint: Endpoint {
    Endpoint(
      "chunks", .everyChunks(nil), group: ServiceName.storage.rawValue, maxInFlight: StorageLimits.chunkRequestsInFlight
    ) { (request: ChunkRequest, subject: Subject) async throws(CaravanError) -> ChunkReply in
      try await self.answer(request, subject)
    }
  }

  private func answer(_ request: ChunkRequest, _ subject: Subject) async throws(CaravanError) -> ChunkReply {
    // The broker proves the device; the ticket says what it may do (architecture §4).
    guard case .chunks(_, let device, let partition) = subject else {
      throw CaravanError(.invalidData, "'\(subject.text)' is not a chunk subject")
    }
    let ticket = try required(request.ticket, "ticket")
    let now = clock.wallTime.milliseconds
    let grant = try tickets.open(ticket, from: device, nowMilliseconds: now)
    let wanted = try ChunkHash.list(request.get)
    let rules = ChunkRules(database: grant.database, isUpload: grant.isUpload)
    try rules.check(partition: partition, sizes: request.put.map(\.data.count), wanted: wanted.count)
    let stored = try await put(request.put, grant, mac: ticket.mac, now: now)
    return ChunkReply(chunks: try await get(wanted, in: grant.database), stored: ChunkHash.joined(stored))
  }

  /// Only what the database lacks is counted against the ticket, so that sending again after a lost answer is free.
  private func put(
    _ chunks: [Chunk], _ grant: TicketGrant, mac: [UInt8], now: Int64
  ) async throws(CaravanError) -> [ChunkHash] {
    guard !chunks.isEmpty else { return [] }
    var checked: [ChunkBytes] = []
    for chunk in chunks { checked.append(try Self.verify(chunk)) }
    let lacking = Set(try await store.missing(checked.map(\.hash), in: grant.database))
    let new = checked.filter { lacking.contains($0.hash) }
    let bytes = new.reduce(0) { $0 + $1.bytes.count }
    try charge(bytes, grant, mac: mac, now: now)
    if !new.isEmpty { try await store.stage(new, in: grant.database) }
    metrics.chunkBytesIn.add(bytes)
    return checked.map(\.hash)
  }

  private func charge(_ bytes: Int, _ grant: TicketGrant, mac: [UInt8], now: Int64) throws(CaravanError) {
    try ledger.withLock { ledger throws(CaravanError) in
      try ledger.use(bytes, of: mac, allowing: grant.bytes, expires: grant.expiresMilliseconds, now: now)
    }
  }

  /// - Throws: `chunkDamaged` when the bytes are not those the hash names.
  private static func verify(_ chunk: Chunk) throws(CaravanError) -> ChunkBytes {
    guard let hash = ChunkHash(chunk.hash), chunk.hash.count == ChunkHash.byteCount else {
      throw CaravanError(.invalidData, "a chunk's hash has \(chunk.hash.count) bytes: send \(ChunkHash.byteCount)")
    }
    guard SHA256.hash(chunk.data).bytes == chunk.hash else {
      throw CaravanError(.chunkDamaged, "the bytes of chunk \(hash) do not have this hash: send it again")
    }
    return ChunkBytes(hash: hash, bytes: chunk.data)
  }

  private func get(_ hashes: [ChunkHash], in database: DatabaseID) async throws(CaravanError) -> [Chunk] {
    guard !hashes.isEmpty else { return [] }
    let found = try await store.chunks(hashes, in: database, maxBytes: Limits.chunkBatchBytes)
    metrics.chunkBytesOut.add(found.reduce(0) { $0 + ($1.bytes?.count ?? 0) })
    return found.map { Chunk(hash: $0.hash.bytes, data: $0.bytes ?? []) }
  }
}
