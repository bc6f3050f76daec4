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
  /// What is read until the index is current.
  let catchUp: CatchUp

  /// Rows written in one transaction, roughly.
  private static let rowsPerTransaction = 2_000

  /// What was written under a name.
  private enum Written {
    case row(IndexRow)
    /// Nothing that a query can find.
    case removed(RemovedRow)
    case standing(StandingChange)
  }

  /// What several commits leave of one zone: of each record the last.
  private struct ZoneBatch {
    /// By the bytes of their names, as two texts that are equal to Swift may be two names; nil: gone.
    private var records: [[UInt8]: Written] = [:]
    private var standings: [StandingChange] = []
    private let source: Source
    var progress: ZoneProgress

    init(_ progress: ZoneProgress, from source: Source) {
      self.progress = progress
      self.source = source
    }

    mutating func add(_ written: Written) {
      switch written {
      case .row(let row): records[Array(row.name.utf8)] = written
      case .removed(let row): records[Array(row.name.utf8)] = written
      case .standing(let change): standings.append(change)
      }
    }

    func update(of zone: ZoneID, at now: WallTime) -> IndexUpdate {
      var update = IndexUpdate(zone: zone, progress: progress, at: now)
      (update.telling, update.isMade, update.isRead) = (source.telling, source.isMade, source.isRead)
      update.standings = standings
      // In the order of the table.
      for (_, written) in records.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        switch written {
        case .row(let row): update.rows.append(row)
        case .removed(let row): update.removed.append(row)
        case .standing: preconditionFailure("a subscription stands among records")
        }
      }
      return update
    }
  }

  /// Where entries are from.
  private struct Source {
    var telling = Telling.differences
    /// They are the first of a life of their zone.
    var isMade = false
    var isRead = false
  }

  private struct Batch {
    private var steps: [(zone: ZoneID, batch: ZoneBatch)] = []
    /// The latest step of each zone.
    private var latest: [ZoneID: Int] = [:]
    private(set) var rows = 0

    var isEmpty: Bool { steps.isEmpty }

    func updates(at now: WallTime) -> [IndexUpdate] { steps.map { $0.batch.update(of: $0.zone, at: now) } }

    /// - Parameter isApart: what was written before is not to be written over, as somebody hears of each commit.
    mutating func add(
      _ records: [Written], of zone: ZoneID, _ progress: ZoneProgress, from source: Source, isApart: Bool
    ) {
      var place = latest[zone] ?? steps.count
      if isApart { place = steps.count }
      if place == steps.count { steps.append((zone, ZoneBatch(progress, from: source))) }
      latest[zone] = place
      steps[place].batch.progress = progress
      for written in records { steps[place].batch.add(written) }
      rows += records.count
    }
  }

  func take(_ changes: [Change]) async throws(CaravanError) {
    var batch = Batch()
    // What the index has, or is about to have: it is not asked for each change, as others have turns there too.
    var current: [ZoneID: ZoneProgress] = [:]
    for change in changes where demand.includes(change.zone.database) && change.zone.name != NotificationLog.name {
      guard try await isWanted(change.zone.database) else {
        try await flush(&batch)
        while try await index.forgetSome(of: change.zone.database) {}
        continue
      }
      let known: ZoneProgress? =
        if let recent = current[change.zone] { recent } else {
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
        try await add(entries, of: change.zone, progress, from: Source(isMade: known == nil), to: &batch)
        current[change.zone] = progress
      case .read:
        try await flush(&batch)
        current[change.zone] = try await read(
          change.zone, from: known, telling: catchUp.telling, deleted: change.isZoneDeletion ? change.incarnation : nil)
      }
      if batch.rows >= Self.rowsPerTransaction { try await flush(&batch) }
    }
    guard let last = changes.last else { return }
    try await index.apply(batch.updates(at: demand.now), in: partition, cursor: last.position)
    metrics.changes.add(changes.count)
    metrics.groups.add()
  }

  private func add(
    _ entries: [CaravanWire.Entry], of zone: ZoneID, _ progress: ZoneProgress, from source: Source,
    to batch: inout Batch
  ) async throws(CaravanError) {
    var records: [Written] = []
    for entry in entries {
      if let written = try await written(entry.model(), in: zone) { records.append(written) }
    }
    batch.add(records, of: zone, progress, from: source, isApart: index.isWatched(partition))
    metrics.rows.add(records.count { if case .row = $0 { true } else { false } })
  }

  private func flush(_ batch: inout Batch) async throws(CaravanError) {
    if !batch.isEmpty { try await index.apply(batch.updates(at: demand.now), in: partition) }
    batch = Batch()
  }

  /// Compares every zone with what the index has of it, and reads the difference. What was told meanwhile nobody knows.
  func rebuild(at head: UInt64) async throws(CaravanError) {
    var known = try await index.zones(in: partition)
    let reply: ListZonesReply = try await storage.call(
      .zones, in: partition, ListZonesRequest(partition: partition.number))
    for head in reply.zones {
      let zone = try required(head.zone, "zone").model()
      guard demand.includes(zone.database) else { continue }
      let progress = known.removeValue(forKey: zone)
      guard zone.name != NotificationLog.name else { continue }
      try await read(zone, from: progress, telling: .nothing)
    }
    for zone in known.keys { try await forget(zone) }
    for database in demand.databases { try await index.tellOfLoss(of: database, at: demand.now) }
    try await index.apply([], in: partition, cursor: head)
    metrics.rebuilds.add()
  }

  /// Has the database in the index from now on. Not while changes are being taken in.
  func include(_ database: DatabaseID) async throws(CaravanError) {
    guard !demand.includes(database) else { return }
    for head in try await storage.zones(of: database) {
      let zone = try required(head.zone, "zone").model()
      if zone.name != NotificationLog.name { try await read(zone, from: nil, telling: .nothing) }
    }
    // Who subscribed before this instance knew the database may have missed something.
    try await index.tellOfLoss(of: database, at: demand.now)
    try await index.want(database, at: demand.now)
    demand.include(database)
  }

  private func forget(_ zone: ZoneID) async throws(CaravanError) {
    while try await index.forgetSome(of: zone) {}
  }

  /// Whether the index is to have a database: somebody has asked about it not long ago, or has subscribed to it.
  private func isWanted(_ database: DatabaseID) async throws(CaravanError) -> Bool {
    guard demand.isUnasked(database) else { return true }
    if try await index.hasStandings(database) { return true }
    return !demand.drop(database)
  }

  /// Reads what a zone has beyond what is in the index, or all of it anew where that cannot go on.
  /// - Parameters:
  ///   - known: what the index has of the zone; nil: nothing, so that whatever is there is new.
  ///   - deleted: a life of the zone that is known to be over.
  /// - Returns: what the index has of it then; nil: there is no such zone.
  @discardableResult
  private func read(
    _ zone: ZoneID, from known: ZoneProgress?, telling: Telling, deleted: Incarnation? = nil
  ) async throws(CaravanError) -> ZoneProgress? {
    var source = Source(telling: telling, isMade: known == nil && telling != .nothing, isRead: true)
    var past = known
    if let known, known.incarnation == 0 {
      // It was being forgotten, of which subscribers have heard.
      (past, source.isMade) = (nil, telling != .nothing)
      if telling == .differences { source.telling = .loss }
    }
    if past == nil { try await forget(zone) }
    var request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(Limits.queryRows), maxBytes: UInt32(Limits.pageBytes),
      from: past.map {
        CaravanWire.ChangePosition(CaravanModel.ChangePosition(incarnation: $0.incarnation, seq: $0.seq))
      })
    var isOver = false
    while true {
      let reply = try await storage.changes(of: zone, request)
      guard !reply.resetRequired else {
        // First it is to be seen what there is instead.
        (isOver, request.from) = (true, nil)
        continue
      }
      guard let next = reply.next else {
        if telling != .nothing {
          try await index.tellOfLoss(of: zone, ended: past?.incarnation ?? deleted, at: demand.now)
        }
        try await forget(zone)
        return nil
      }
      let progress = ZoneProgress(incarnation: next.incarnation, seq: next.seq)
      if isOver, let past {
        isOver = false
        source.isMade = telling != .nothing && past.incarnation != next.incarnation
        if telling != .nothing {
          // Of one that others may have told of, it is enough that the next one begins.
          let ended = source.isMade && telling == .differences ? past.incarnation : nil
          try await index.tellOfLoss(of: zone, ended: ended, at: demand.now)
        }
        if source.telling == .differences { source.telling = .nothing }
        try await forget(zone)
      }
      var batch = Batch()
      // What nobody can be shown no query finds, until it is written anew.
      let damaged = reply.damaged.map { CaravanWire.Entry(name: $0.name, version: $0.version, deleted: true) }
      try await add(EntryPage.decode(reply.page).entries + damaged, of: zone, progress, from: source, to: &batch)
      source.isMade = false
      try await flush(&batch)
      guard reply.more else { return progress }
      request.from = next
    }
  }

  /// nil: nothing that is of interest here.
  private func written(_ entry: CaravanModel.Entry, in zone: ZoneID) async throws(CaravanError) -> Written? {
    if zone.name == SubscriptionZone.name { return try await standing(entry, in: zone).map { .standing($0) } }
    if let row = try await row(entry, in: zone) { return .row(row) }
    return .removed(RemovedRow(name: entry.name, version: entry.version, writer: entry.writer))
  }

  /// nil: it is no subscription of ours.
  private func standing(_ entry: CaravanModel.Entry, in zone: ZoneID) async throws(CaravanError) -> StandingChange? {
    guard let (user, name) = SubscriptionRecord.place(entry.name) else { return nil }
    guard !entry.isDeleted else { return .removed(user, name: name) }
    guard let stored = try? SubscriptionRecord(entry) else {
      metrics.unreadable.add()
      return nil
    }
    var type: CaravanModel.RecordType?
    if case .records(let typeName, _, _, _) = stored.query.subject {
      do throws(CaravanError) {
        let known = try await types.type(named: typeName, of: zone.database, isFresh: false)
        let fits = Self.fits(stored.query, known, in: zone.database)
        // Perhaps it names a field that is newer than what is remembered.
        type = fits ? known : try await types.type(named: typeName, of: zone.database, isFresh: true)
      } catch {
        guard error.code == .tableNotFound else { throw error }
      }
    }
    return .saved(StandingRow(user: user, query: stored.query, viewer: stored.viewer, type: type))
  }

  private static func fits(
    _ query: CaravanModel.StandingQuery, _ type: CaravanModel.RecordType, in database: DatabaseID
  ) -> Bool {
    (try? Standing(query, type, in: database)) != nil && (try? query.shows.check(against: type)) != nil
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

/// Whether other instances have served the partition since the index was what it is, and what they told is not known.
final class CatchUp: Sendable {
  private let isLate: Mutex<Bool>

  init(isLate: Bool) { self.isLate = Mutex(isLate) }

  /// Of what is read meanwhile.
  var telling: Telling { isLate.withLock { $0 } ? .loss : .differences }

  func ended() { isLate.withLock { $0 = false } }
}
