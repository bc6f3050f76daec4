import Model
import Runtime
import StorageCore
import Store

extension CounterName {
  static let scrubbedBytes = CounterName(
    "caravan_storage_scrubbed_bytes_total", "Bytes of chunks that were read to see whether they are whole.")
  static let damageFound = CounterName(
    "caravan_storage_damage_found_total", "Chunks whose bytes were found damaged on the disk.")
  static let damageHealed = CounterName(
    "caravan_storage_damage_healed_total", "Damaged chunks that a device has sent again, or that are gone.")
}

extension GaugeName {
  static let damagedChunks = GaugeName(
    "caravan_storage_damaged_chunks", "Chunks that are damaged on the disk and absent until a device sends them again.")
}

/// Reads all chunks in the course of time, and says which are damaged, whoever has found them.
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

  private struct Name: Hashable, Sendable {
    let database: DatabaseID
    let hash: ChunkHash
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
    let isDue = try await scrub(status.chunkBytes)
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
    guard status.damagedChunks > 0 || !known.isEmpty else { return }
    let damage = try await store.damage(in: nil, atMost: StorageLimits.damageListed)
    let now = Set(damage.map { Name(database: $0.database, hash: $0.hash) })
    let (new, gone) = (now.subtracting(known), known.subtracting(now))
    known = now
    found.add(new.count)
    healed.add(gone.count)
    if !new.isEmpty { pace.damageFound() }
    if let first = damage.first(where: { new.contains(Name(database: $0.database, hash: $0.hash)) }) {
      host.log.warning(
        "chunks are damaged on the disk: they are absent until a device sends them again; caravan damage "
          + "lists them",
        [.count: new.count, .database: first.database, .chunk: first.hash])
    }
    if let first = gone.first {
      host.log.info(
        "damaged chunks are whole again, or gone",
        [.count: gone.count, .database: first.database, .chunk: first.hash])
    }
  }
}
