import CaravanBackup
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStore

/// Copies all that a store holds of one user into another, and compares.
struct OwnerCopy: Sendable {
  let owner: UserID
  let source: any MovableStore
  let target: any MovableStore
  let counters: MoveCounters

  private var accounts: [Account] { CaravanModel.Environment.allCases.map { .user(owner, $0) } }

  // MARK: While the user's writes go on

  /// Chunks are most of what there is, and never change.
  func copyChunks() async throws(CaravanError) {
    // What is there already stays, whatever the quota says.
    for account in accounts { _ = try await target.setQuota(.unlimited, of: account) }
    var databases: Set<DatabaseID> = []
    for partition in Partition.all {
      for zone in try await source.zones(in: partition, .owner(owner)) { databases.insert(zone.zone.database) }
    }
    for database in databases.sorted(by: { $0.description < $1.description }) { try await copyChunks(of: database) }
  }

  private func copyChunks(of database: DatabaseID) async throws(CaravanError) {
    var last: ChunkHash?
    while true {
      let page = try await source.chunkHashes(of: database, after: last)
      guard let end = page.last else { break }
      last = end
      var lacking = try await target.missing(page, in: database)[...]
      while !lacking.isEmpty {
        let found = try await source.chunks(
          Array(lacking), in: database, maxBytes: MoveLimits.chunkBytesPerStep)
        lacking = lacking.dropFirst(found.count)
        var chunks: [ChunkBytes] = []
        for chunk in found { if let checked = try Self.checked(chunk, in: database) { chunks.append(checked) } }
        try await target.stage(chunks, in: database)
        counters.add(chunks: chunks.count, bytes: chunks.reduce(0) { $0 + $1.bytes.count })
      }
    }
    // What the source cannot read stays damaged where it goes, until somebody brings it again.
    let damaged = try await source.damage(in: database, atMost: .max).filter(\.isHeld)
    if !damaged.isEmpty { try await target.adopt(damaged: damaged) }
  }

  /// nil: nothing holds it any more.
  private static func checked(_ chunk: FoundChunk, in database: DatabaseID) throws(CaravanError) -> ChunkBytes? {
    guard let bytes = chunk.bytes else { return nil }
    guard SHA256.hash(bytes).bytes == chunk.hash.bytes else {
      throw CaravanError(.chunkDamaged, "chunk \(chunk.hash) of database \(database) does not have its hash")
    }
    return ChunkBytes(hash: chunk.hash, bytes: bytes)
  }

  // MARK: While they wait

  /// - Parameter check: throws when there is no more time.
  func copyAll(_ check: () throws(CaravanError) -> Void) async throws(CaravanError) {
    let content = try await source.content(of: owner)
    guard !content.hasOpenGroups else {
      throw CaravanError(.serverBusy, "a device of user '\(owner)' is in the middle of a group: later")
    }
    for database in content.databases {
      try check()
      try await copyChunks(of: database)
    }
    try await target.adopt(content, of: owner)
    var written = ArchiveDigester()
    for zone in content.zones where zone.content.isAlive {
      try await copy(zone, &written, check)
    }
    var read = ArchiveDigester()
    let copied = try await target.content(of: owner)
    for zone in copied.zones where zone.content.isAlive {
      try await visit(zone, in: target, &read) { _ throws(CaravanError) in try check() }
    }
    if let difference = written.summary.difference(to: read.summary) {
      throw CaravanError(.internalError, "what was copied differs in \(difference): it stays where it is")
    }
    try Self.compare(content, copied)
    for account in accounts {
      let state = try await source.account(account)
      _ = try await target.setQuota(state.isDefault ? nil : state.quota, of: account)
    }
  }

  private func copy(
    _ zone: OwnerContent.Zone, _ digester: inout ArchiveDigester, _ check: () throws(CaravanError) -> Void
  ) async throws(CaravanError) {
    try await visit(zone, in: source, &digester) { records throws(CaravanError) in
      try check()
      try await target.adopt(records, in: zone.id)
      counters.add(records: records.count, bytes: records.reduce(0) { $0 + $1.entry.body.count })
    }
  }

  private func visit(
    _ zone: OwnerContent.Zone, in store: any MovableStore, _ digester: inout ArchiveDigester,
    _ body: ([RecordContent]) async throws(CaravanError) -> Void
  ) async throws(CaravanError) {
    try digester.add(.database(zone.id.database))
    try digester.add(.zone(zone.content))
    var last: Seq = 0
    while true {
      let records = try await store.records(of: zone.id, after: last)
      guard let end = records.last else { return }
      for record in records { try digester.add(.record(record)) }
      try await body(records)
      last = end.entry.version
    }
  }

  /// What is no record: it has to be there before anybody is sent there. The target may know of more ops.
  private static func compare(_ content: OwnerContent, _ copied: OwnerContent) throws(CaravanError) {
    func sorted(_ zones: [OwnerContent.Zone]) -> [OwnerContent.Zone] {
      zones.sorted { $0.id.description < $1.id.description }
    }
    let lacking = Set(content.ops.map(\.op)).subtracting(copied.ops.map(\.op))
    guard sorted(content.zones) == sorted(copied.zones), lacking.isEmpty else {
      throw CaravanError(.internalError, "what is known of zones or ops differs after the copy: it stays where it is")
    }
  }
}
