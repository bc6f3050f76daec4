import CaravanChangeStream
import CaravanModel
import CaravanQuery
import CaravanQueryCore
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanWire

/// Keeps the index of one partition in step with its change stream: of the databases that somebody has asked about.
struct IndexFeeder: ChangeConsumer {
  let partition: Partition
  let demand: Demand
  let index: IndexWriter
  let storage: StorageClient
  let types: TypeSource
  let metrics: QueryMetrics

  /// Rows written in one transaction, roughly.
  private static let rowsPerTransaction = 2_000

  /// What several commits leave of one zone: of each record the last.
  private struct ZoneBatch {
    /// By the bytes of their names, as two texts that are equal to Swift may be two names; nil: gone.
    private var records: [[UInt8]: (name: String, row: IndexRow?)] = [:]
    var progress: ZoneProgress

    init(_ progress: ZoneProgress) { self.progress = progress }

    mutating func add(_ row: IndexRow?, of name: String) { records[Array(name.utf8)] = (name, row) }

    func update(of zone: ZoneID) -> IndexUpdate {
      // In the order of the table.
      let ordered = records.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
      return IndexUpdate(
        zone: zone, rows: ordered.compactMap(\.row), removed: ordered.filter { $0.row == nil }.map(\.name),
        progress: progress)
    }
  }

  private struct Batch {
    private(set) var zones: [ZoneID: ZoneBatch] = [:]
    private var order: [ZoneID] = []
    private(set) var rows = 0

    var isEmpty: Bool { order.isEmpty }
    var updates: [IndexUpdate] { order.compactMap { zones[$0]?.update(of: $0) } }

    mutating func add(_ records: [(name: String, row: IndexRow?)], of zone: ZoneID, _ progress: ZoneProgress) {
      if zones[zone] == nil { order.append(zone) }
      zones[zone, default: ZoneBatch(progress)].progress = progress
      for (name, row) in records { zones[zone]?.add(row, of: name) }
      rows += records.count
    }
  }

  func take(_ changes: [Change]) async throws(CaravanError) {
    var batch = Batch()
    for change in changes where demand.includes(change.zone.database) {
      guard !demand.drop(change.zone.database) else {
        try await flush(&batch)
        while try await index.forgetSome(of: change.zone.database) {}
        continue
      }
      let known: ZoneProgress? =
        if let recent = batch.zones[change.zone] { recent.progress } else {
          try await index.progress(of: change.zone)
        }
      let step = ZoneStep(
        known, incarnation: change.incarnation, low: change.low, high: change.high, isDeletion: change.isZoneDeletion,
        hasPage: change.page != nil)
      switch step {
      case .skip: continue
      case .apply:
        let progress = ZoneProgress(incarnation: change.incarnation, seq: change.high)
        let entries =
          if let page = change.page { try EntryPage.decode(page).entries } else { [] as [CaravanWire.Entry] }
        try await add(entries, of: change.zone, progress, to: &batch)
      case .read, .reload:
        try await flush(&batch)
        try await read(change.zone, from: step == .reload ? nil : known)
      }
      if batch.rows >= Self.rowsPerTransaction { try await flush(&batch) }
    }
    guard let last = changes.last else { return }
    try await index.apply(batch.updates, cursor: (partition, last.position))
    metrics.changes.add(changes.count)
    metrics.groups.add()
  }

  private func add(
    _ entries: [CaravanWire.Entry], of zone: ZoneID, _ progress: ZoneProgress, to batch: inout Batch
  ) async throws(CaravanError) {
    var records: [(name: String, row: IndexRow?)] = []
    for entry in entries { records.append((entry.name, try await row(entry.model(), in: zone))) }
    batch.add(records, of: zone, progress)
    metrics.rows.add(records.count { $0.row != nil })
  }

  private func flush(_ batch: inout Batch) async throws(CaravanError) {
    if !batch.isEmpty { try await index.apply(batch.updates) }
    batch = Batch()
  }

  /// Compares every zone with what the index has of it, and reads the difference.
  func rebuild(at head: UInt64) async throws(CaravanError) {
    var known = try await index.zones(in: partition)
    let reply: ListZonesReply = try await storage.call(
      .zones, in: partition, ListZonesRequest(partition: partition.number))
    for head in reply.zones {
      let zone = try required(head.zone, "zone").model()
      guard demand.includes(zone.database) else { continue }
      let progress = known.removeValue(forKey: zone)
      let continues = progress.map { $0.incarnation == head.incarnation && $0.seq <= head.seq } ?? false
      try await read(zone, from: continues ? progress : nil)
    }
    for zone in known.keys { try await forget(zone) }
    try await index.apply([], cursor: (partition, head))
    metrics.rebuilds.add()
  }

  /// Has the database in the index from now on. Not while changes are being taken in.
  func include(_ database: DatabaseID) async throws(CaravanError) {
    guard !demand.includes(database) else { return }
    for head in try await storage.zones(of: database) { try await read(required(head.zone, "zone").model(), from: nil) }
    try await index.want(database, at: demand.now)
    demand.include(database)
  }

  private func forget(_ zone: ZoneID) async throws(CaravanError) {
    while try await index.forgetSome(of: zone) {}
  }

  /// Reads a zone's entries after what the index has, or (nil) all of them anew.
  private func read(_ zone: ZoneID, from start: ZoneProgress?) async throws(CaravanError) {
    var request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(Limits.queryRows), maxBytes: UInt32(Limits.pageBytes),
      from: start.map {
        CaravanWire.ChangePosition(CaravanModel.ChangePosition(incarnation: $0.incarnation, seq: $0.seq))
      })
    if start == nil { try await forget(zone) }
    while true {
      let reply = try await storage.changes(of: zone, request)
      guard let next = reply.next else {
        try await forget(zone)
        guard reply.resetRequired, request.from != nil else { return }
        request.from = nil
        continue
      }
      let progress = ZoneProgress(incarnation: next.incarnation, seq: next.seq)
      var batch = Batch()
      // What nobody can be shown no query finds, until it is written anew.
      let damaged = reply.damaged.map { CaravanWire.Entry(name: $0.name, version: $0.version, deleted: true) }
      try await add(EntryPage.decode(reply.page).entries + damaged, of: zone, progress, to: &batch)
      try await flush(&batch)
      guard reply.more else { return }
      request.from = next
    }
  }

  /// nil: a tombstone, or a record that no query can find.
  private func row(_ entry: CaravanModel.Entry, in zone: ZoneID) async throws(CaravanError) -> IndexRow? {
    guard !entry.isDeleted, entry.type != 0, let type = try await types.type(entry.type, of: zone.database) else {
      return nil
    }
    guard let cells = try? BodyCells(entry.body) else {
      metrics.unreadable.add()
      return nil
    }
    return IndexRow(entry, cells, definition: type.definition)
  }
}
