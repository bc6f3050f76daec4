import CaravanModel
import CaravanStorageCore
import CaravanStore
import CaravanWire

extension StorageMethods {
  /// What is damaged, whatever the partition.
  func damage(_ request: DamageRequest, _ partition: Partition) async throws(CaravanError) -> DamageReply {
    let count = RequestRules.bounded(request.maxChunks, by: StorageLimits.damageListed)
    let owner: UserID? = request.owner.isEmpty ? nil : try UserID(request.owner)
    let filter = owner.map { DamageFilter.owner($0) } ?? .everything
    var damage = try await store.damage(filter, atMost: count)
    // Who does not want to know of records asks for bytes: what a database of many old versions has lost would stand
    // before what a device has.
    if !request.records { damage.removeAll { !$0.isHeld } }
    let bodies = try await store.damagedBodies(filter, atMost: count)
    let records = request.records ? try await records(naming: damage) : []
    return DamageReply(
      chunks: damage.map { chunk in
        let names = records.filter { $0.zone.database == chunk.database && $0.chunks.contains(chunk.hash) }
        return ChunkDamage(
          database: DatabaseRef(chunk.database), hash: chunk.hash.bytes, size: UInt64(clamping: chunk.size),
          foundMilliseconds: UInt64(clamping: chunk.found),
          records: names.map { RecordDamage(zone: $0.zone.name, name: $0.name) })
      },
      bodies: bodies.map { body in
        BodyDamage(
          zone: ZoneRef(body.zone), name: body.name, version: body.version, size: UInt64(clamping: body.size),
          foundMilliseconds: UInt64(clamping: body.found))
      })
  }

  private func records(naming damage: [DamagedChunk]) async throws(CaravanError) -> [DamagedRecord] {
    var records: [DamagedRecord] = []
    for (database, chunks) in Dictionary(grouping: damage, by: \.database) {
      records += try await store.records(
        naming: Set(chunks.map(\.hash)), in: database, atMost: StorageLimits.damagedRecordsListed)
    }
    return records
  }
}
