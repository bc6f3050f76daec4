import CaravanModel
import CaravanRuntime
import CaravanStorageCore
import CaravanStore

extension CounterName {
  static let scrubbedBytes = CounterName(
    "caravan_storage_scrubbed_bytes_total", "Bytes of chunks and records that were read to see whether they are whole.")
  static let damageFound = CounterName(
    "caravan_storage_damage_found_total", "Chunks and records that were found damaged on the disk.")
  static let damageHealed = CounterName(
    "caravan_storage_damage_healed_total",
    "Damaged chunks and records that a device has sent again, or that are gone.")
}

extension GaugeName {
  static let damagedChunks = GaugeName(
    "caravan_storage_damaged_chunks", "Chunks that are damaged on the disk and absent until a device sends them again.")
  static let damagedRecords = GaugeName(
    "caravan_storage_damaged_records",
    "Records that are damaged on the disk and shown to nobody until a device saves them.")
}

/// Reads all chunks and records in the course of time, and says which are damaged, whoever has found them.
struct DamageWatch: Sendable {
  static let lease = "storage/scrub"

  private let store: any Store
  private let host: Host
  private let holder: String
  private let scrubbed: Counter
  private let found: Counter
  private let healed: Counter
  private var pace = ScrubPace()
  /// Those that were said to be damaged.
  private var known: Set<Name> = []

  private enum Name: Hashable, Sendable {
    case chunk(DatabaseID, ChunkHash)
    case record(ZoneID, String, Seq)
  }

  init(store: any Store, host: Host) {
    self.store = store
    self.host = host
    holder = "@storage/\(1 + host.random.below(1 << 40))"
    scrubbed = host.metrics.counter(.scrubbedBytes)
    found = host.metrics.counter(.damageFound)
    healed = host.metrics.counter(.damageHealed)
  }

  /// One bounded step.
  /// - Returns: whether another one is due at once.
  mutating func step(_ status: StoreStatus) async throws(CaravanError) -> Bool {
    let isDue = try await scrub(status.chunkBytes + status.recordBytes)
    try await report(status)
    return isDue
  }

  private mutating func scrub(_ kept: UInt64) async throws(CaravanError) -> Bool {
    guard let bytes = pace.portion(of: kept, at: host.clock.now.nanoseconds), try await isMine() else { return false }
    let step = try await store.scrub(bytes: bytes)
    pace.read(bytes: max(1, step.bytes))
    if step.isRoundOver { pace.roundOver() }
    scrubbed.add(step.bytes)
    return pace.portion(of: kept, at: host.clock.now.nanoseconds) != nil
  }

  /// Of the processes that share a store, the one with the lease scrubs.
  private func isMine() async throws(CaravanError) -> Bool {
    try await store.lease([Self.lease], holder: holder, ttl: StorageLimits.scrubTenure).contains(where: \.isGranted)
  }

  private mutating func report(_ status: StoreStatus) async throws(CaravanError) {
    guard status.damagedChunks > 0 || status.damagedRecords > 0 || !known.isEmpty else { return }
    let chunks = try await store.damage(.everything, atMost: StorageLimits.damageListed)
    let records = try await store.damagedBodies(.everything, atMost: StorageLimits.damageListed)
    let now = Set(
      chunks.map { Name.chunk($0.database, $0.hash) } + records.map { Name.record($0.zone, $0.name, $0.version) })
    let (new, gone) = (now.subtracting(known), known.subtracting(now))
    found.add(new.count)
    healed.add(gone.count)
    if !new.isEmpty { pace.damageFound() }
    warn(of: new, chunks, records)
    if let first = gone.first {
      host.log.info("what was damaged is whole again, or gone", Self.fields(of: first, among: gone.count))
    }
    known = now
  }

  /// - Parameter new: not said yet.
  private func warn(of new: Set<Name>, _ chunks: [DamagedChunk], _ records: [DamagedBody]) {
    let newChunks = chunks.map { Name.chunk($0.database, $0.hash) }.filter(new.contains)
    if let first = newChunks.first {
      host.log.warning(
        "chunks are damaged on the disk: they are absent until a device sends them again; caravan damage "
          + "lists them", Self.fields(of: first, among: newChunks.count))
    }
    let newRecords = records.map { Name.record($0.zone, $0.name, $0.version) }.filter(new.contains)
    if let first = newRecords.first {
      host.log.warning(
        "records are damaged on the disk: nobody is shown them until a device saves them anew; caravan damage "
          + "lists them", Self.fields(of: first, among: newRecords.count))
    }
  }

  private static func fields(of name: Name, among count: Int) -> LogFields {
    switch name {
    case .chunk(let database, let hash): [.count: count, .database: database, .chunk: hash]
    case .record(let zone, let record, _): [.count: count, .zone: zone, .record: record]
    }
  }
}
