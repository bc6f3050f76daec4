import CaravanModel
import CaravanStorageCore
import CaravanStore
import CaravanWire

// The store's values as messages, and back.

extension ChangeHint {
  init(_ hint: ChangeEvent) {
    self.init(
      previous: hint.previous, log: hint.changes.map { LogEntry($0.log) },
      pages: hint.carriesEntries
        ? hint.changes.map { EntryPage(entries: $0.entries.map { CaravanWire.Entry($0) }).encoded() } : [])
  }
}

extension LogEntry {
  init(_ commit: LoggedCommit) {
    self.init(
      position: commit.position, zone: ZoneRef(commit.zone), low: commit.low, high: commit.high,
      incarnation: commit.incarnation, writer: commit.writer, zoneDeleted: commit.isDeletion)
  }
}

extension ReadLogReply {
  init(_ page: LogPage) {
    self.init(entries: page.entries.map { LogEntry($0) }, head: page.head, trimmed: page.isTrimmed)
  }
}

extension ReadChangesRequest {
  /// - Throws: `invalidData` or `limitExceeded` for a filter that is none.
  func query(_ zone: ZoneID) throws(CaravanError) -> ChangeQuery {
    ChangeQuery(
      zone: zone, position: from?.model(), mode: mode.model,
      maxRecords: RequestRules.bounded(maxRecords, by: StoreLimits.recordsPerPage),
      maxBytes: RequestRules.bounded(maxBytes, by: Limits.pageBytes),
      reader: reader.isEmpty ? nil : ChangeQuery.Reader(writer: reader, epoch: readerEpoch, ownThrough: ownThrough),
      isFresh: fresh, bySnapshots: snapshot, filter: try RowFilter(filter))
  }
}

extension ReadChangesReply {
  init(_ page: ChangePage) {
    self.init(
      page: page.page, more: page.more, head: page.head, resetRequired: page.resetRequired,
      next: page.next.map { ChangePosition($0) }, consistent: page.isConsistent, lost: LostRange.numbers(page.lost),
      damaged: page.damaged.map { DamagedEntry($0) })
  }
}

extension DamagedEntry {
  init(_ entry: DamagedVersion) { self.init(name: entry.name, version: entry.version) }
}

extension ChangeMode {
  fileprivate var model: ChangeQuery.Mode {
    switch self {
    case .forward: .forward
    case .reverse: .reverse
    }
  }
}

extension ChangedZonesReply {
  init(_ page: ZoneChangePage) {
    self.init(
      zones: page.zones.map {
        CaravanWire.ZoneChange(zone: $0.name, seq: $0.seq, incarnation: $0.incarnation, deleted: $0.isDeleted)
      }, next: page.next.map { CaravanWire.DatabasePosition($0) }, more: page.more, resetRequired: page.resetRequired)
  }
}

extension ZoneHead {
  init(_ zone: ZonePosition) { self.init(zone: ZoneRef(zone.zone), seq: zone.seq, incarnation: zone.incarnation) }
}

extension LeaseGrant {
  init(_ lease: Lease) {
    self.init(
      name: lease.name, granted: lease.isGranted, token: lease.token, holder: lease.holder,
      remainingMilliseconds: UInt32(
        clamping: lease.remaining.components.seconds * 1_000
          + lease.remaining.components.attoseconds / 1_000_000_000_000_000))
  }
}

extension StorageStatus {
  mutating func add(_ objects: ObjectCounts) {
    objectsWaiting = UInt64(clamping: objects.waiting)
    objectsFailing = UInt64(clamping: objects.failing)
    objectsRefused = UInt64(clamping: objects.refused)
    objectProblem = objects.problem
  }

  init(_ status: StoreStatus) {
    self.init(
      zones: status.zones, records: status.records, chunks: status.chunks, chunkBytes: status.chunkBytes,
      damagedChunks: status.damagedChunks, damagedRecords: status.damagedRecords)
  }
}
