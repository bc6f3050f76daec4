import CaravanDiffSync
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanTokens
import CaravanWire

/// SYNC_BEGIN: a zone's changes as diffs (requirements part 3).
struct DiffExchange: SessionPart {
  let session: DeviceSession

  /// The diffs after a height; for who will send some, under the lease that makes it their turn (DIF-14).
  func begin(_ begin: SyncBegin, _ account: ReplyAccount) async throws(CaravanError) -> SyncBeginResult {
    let zone = try zone(begin.container, begin.zone)
    try DefaultZone.refuse(zone, "has no heights to sync by")
    guard let room = account.take(Limits.pageBytes) else { return comeAgain(begin) }
    var lease: UInt64 = 0
    let heard: Heard
    do throws(CaravanError) {
      if begin.pushes {
        let turn = try await takeTurn(in: zone)
        guard turn.granted else {
          _ = account.settle(taken: room, needed: 0)
          return SyncBeginResult(
            status: .serverBusy,
            retryAfterMilliseconds: min(turn.remainingMilliseconds, SyncLimits.turnRetryMilliseconds))
        }
        lease = turn.token
      }
      heard = try await diffs(begin, of: zone, room: room)
    } catch {
      _ = account.settle(taken: room, needed: 0)
      throw error
    }
    guard account.settle(taken: room, needed: heard.bytes) else { return comeAgain(begin) }
    switch heard {
    case .page(let page): return result(page, lease: lease, in: zone)
    case .invalidHeight(let lost):
      if lease > 0 { try await endTurn(in: zone) }
      return SyncBeginResult(status: .invalidHeight, lost: lost)
    }
  }

  /// There was no room in this frame.
  private func comeAgain(_ begin: SyncBegin) -> SyncBeginResult {
    let page = DiffPage(
      last: begin.lastSyncHeight, more: true, incarnation: begin.incarnation, cursor: begin.cursor)
    return result(page, lease: 0, in: nil)
  }

  private func result(_ page: DiffPage, lease: UInt64, in zone: ZoneID?) -> SyncBeginResult {
    var result = SyncBeginResult(
      currentHeight: page.last, incarnation: page.incarnation, diffs: page.diffs.map { CaravanWire.Diff($0) },
      more: page.more,
      serverTimeMilliseconds: UInt64(clamping: cloud.host.clock.wallTime.milliseconds),
      cursor: page.cursor)
    if lease > 0, let zone {
      let turn = SyncTurn(leaseToken: lease, height: page.last, incarnation: page.incarnation)
      result.token = cloud.turns.seal(turn, in: zone, of: holder)
    }
    return result
  }

  // MARK: Turns

  /// Another life of the same device's store is another client.
  var holder: String { "\(device.text)/\(epoch)" }

  /// One sync at a time of a user's database (DIF-11).
  private func leaseName(_ zone: ZoneID) -> String { "diffsync/\(zone.database)" }

  /// Once more by the same client: the same turn.
  func takeTurn(in zone: ZoneID) async throws(CaravanError) -> LeaseGrant {
    let grants = try await cloud.storage.lease(
      [leaseName(zone)], holder: holder, for: SyncLimits.turn, in: Partition(of: zone.database)
    ).grants
    return try required(grants.first, "grant")
  }

  func endTurn(in zone: ZoneID) async throws(CaravanError) {
    try await cloud.storage.lease(
      [leaseName(zone)], holder: holder, for: .zero, in: Partition(of: zone.database))
  }

  // MARK: Diffs

  private struct DiffPage {
    var diffs: [CaravanDiffSync.Diff] = []
    var bytes = 0
    var records = 0
    var last: Seq = 0
    var more: Bool
    var incarnation: Incarnation = 0
    /// With `more`: where the next page begins.
    var cursor: [UInt8] = []
  }

  private enum Heard {
    case page(DiffPage)
    /// It is none of this zone, or the zone has forgotten deletes since.
    /// - Parameter lost: pairs of heights, as messages have them.
    case invalidHeight(lost: [UInt64])

    var bytes: Int { if case .page(let page) = self { page.bytes } else { 0 } }
  }

  private func diffs(
    _ begin: SyncBegin, of zone: ZoneID, room: Int
  ) async throws(CaravanError) -> Heard {
    guard begin.lastSyncHeight == 0 || begin.incarnation > 0 else { return .invalidHeight(lost: []) }
    let height = CaravanModel.ChangePosition(incarnation: begin.incarnation, seq: begin.lastSyncHeight)
    var start = height.seq > 0 ? height : nil
    if !begin.cursor.isEmpty {
      guard let cursor = try? cloud.tokens.open(begin.cursor, of: zone) else {
        return .invalidHeight(lost: try await lost(since: height, of: zone))
      }
      start = cursor
    } else if start == nil, begin.incarnation > 0 {
      // It has no height, and has been here before: in a life that a restore ended it may have left something.
      let lost = try await lost(since: height, of: zone)
      guard lost.isEmpty else { return .invalidHeight(lost: lost) }
    }
    // Diffs of some fields take several times what the record does.
    var maxBytes = room / SyncLimits.diffBytesPerRecordByte
    while true {
      let heard = try await page(begin, of: zone, after: start, maxBytes: maxBytes)
      guard case .page(let page) = heard, page.bytes > room, page.records > 1 else { return heard }
      maxBytes /= SyncLimits.diffBytesPerRecordByte
    }
  }

  /// What restores took back of what a client had that came so far.
  private func lost(since height: CaravanModel.ChangePosition, of zone: ZoneID) async throws(CaravanError) -> [UInt64] {
    let request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: 1, reader: try await writer(in: zone.database),
      from: CaravanWire.ChangePosition(height)
    )
    let reply = try await cloud.storage.changes(of: zone, request)
    return reply.resetRequired ? reply.lost : []
  }

  private func page(
    _ begin: SyncBegin, of zone: ZoneID, after start: CaravanModel.ChangePosition?, maxBytes: Int
  ) async throws(CaravanError) -> Heard {
    // Its own come with their bodies, and with the ends of what it has created itself.
    let request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: SyncLimits.recordsPerPage, maxBytes: UInt32(maxBytes),
      reader: try await writer(in: zone.database),
      from: start.map { CaravanWire.ChangePosition($0) }, fresh: start == nil)
    let reply = try await cloud.storage.changes(of: zone, request)
    guard !reply.resetRequired else { return .invalidHeight(lost: reply.lost) }
    var page = DiffPage(more: reply.more)
    if let next = reply.next, next.incarnation != 0 { (page.last, page.incarnation) = (next.seq, next.incarnation) }
    let visibility = try await cloud.visibility.of(zone.database)
    for entry in try EntryPage.decode(reply.page).entries where entry.deleted || !visibility.isRetired(entry.type) {
      let diffs = try await diffs(of: entry.model(), in: zone, after: begin.lastSyncHeight)
      page.records += 1
      page.diffs += diffs
      page.bytes += diffs.reduce(0) { $0 + $1.byteCount + SyncLimits.diffOverheadBytes }
    }
    if page.more, let next = reply.next { page.cursor = cloud.tokens.seal(next.model(), of: zone) }
    return .page(page)
  }

  /// Of records whose type's conflicts are merged otherwise there is no history field by field: they are none of diff
  /// sync's.
  private func diffs(
    of entry: CaravanModel.Entry, in zone: ZoneID, after height: Seq
  ) async throws(CaravanError) -> [CaravanDiffSync.Diff] {
    guard !entry.isDeleted else {
      return ServerObject(
        uuid: entry.name, objtype: "", version: entry.version, created: entry.created, isDeleted: true
      ).diffs(after: height)
    }
    guard entry.type != 0 else { return [] }
    let type = try await cloud.schema.type(entry.type, of: zone.database.container, in: zone.database.environment)
    guard type.settings?.conflicts == .fieldMerge else { return [] }
    return try ServerObject(entry, type).diffs(after: height)
  }
}

extension ServerObject {
  /// - Throws: `invalidData` when the record cannot be decoded.
  init(_ entry: CaravanModel.Entry, _ type: CaravanModel.RecordType) throws(CaravanError) {
    let values = try RecordFields(body: entry.body)
    let history = try FieldVersions.decode(entry.fields).fields
    let versions = Dictionary(history.map { ($0.id, $0) }) { $1 }
    // A field without a history was written before there was one.
    let unknown = FieldVersion(seq: entry.created)
    self.init(
      uuid: entry.name, objtype: type.name, version: entry.version, created: versions[0]?.seq ?? entry.created)
    for field in type.fields where field.isDiffable {
      let value = values[field.id]
      guard value != .null || versions[field.id] != nil, value.isDiffable else { continue }
      let version = versions[field.id] ?? unknown
      fields[field.name] = Field(value, seq: version.seq, timestamp: HybridStamp(rawValue: version.stamp))
    }
  }
}
