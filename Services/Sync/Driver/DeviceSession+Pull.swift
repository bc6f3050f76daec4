import CaravanAccess
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanSyncCore
import CaravanTokens
import CaravanWire

extension DeviceSession {
  /// A page of changes after the device's token. The page's bytes are storage's; nobody decodes them on the way, unless
  /// types were removed.
  func pull(_ pull: Pull, _ account: ReplyAccount) async throws(CaravanError) -> PullResult {
    let zone = try zone(pull.container, pull.zone)
    try DefaultZone.refuse(zone, "keeps no changes to pull")
    let visibility = try await cloud.visibility.of(zone.database)
    guard pull.type == 0 || !visibility.isRetired(pull.type) else {
      throw CaravanError(
        .tableNotFound, "the record type of '\(zone.name)' (\(pull.type)) was removed: propose it again")
    }
    let position = pull.token.isEmpty ? nil : try cloud.tokens.open(pull.token, of: zone)
    let wanted = pull.maxBytes == 0 ? Limits.pageBytes : min(Int(pull.maxBytes), Limits.pageBytes)
    let comeAgain = PullResult(token: pull.token, more: true)
    guard let room = account.take(wanted) else { return comeAgain }
    var reply: ReadChangesReply
    do throws(CaravanError) {
      reply = try await changes(of: zone, from: position, pull, room)
      try visibility.omitRetired(from: &reply)
    } catch {
      _ = account.settle(taken: room, needed: 0)
      throw error
    }
    // A single record may be larger than the page asked for.
    let named = reply.damaged.reduce(0) { $0 + $1.name.utf8.count + SyncLimits.outcomeBytes }
    guard account.settle(taken: room, needed: reply.page.count + named) else { return comeAgain }
    cloud.metrics.pageBytes.add(reply.page.count)
    // Without a reader nothing is said of a zone that is not there.
    let next = reply.next?.model() ?? CaravanModel.ChangePosition(incarnation: 0, seq: 0)
    let token = cloud.tokens.seal(next, of: zone)
    if reply.resetRequired {
      cloud.metrics.resets.add()
      return PullResult(token: token, resetRequired: true, lost: reply.lost)
    }
    return PullResult(
      page: reply.page, token: token, more: reply.more, consistent: reply.consistent,
      point: reply.consistent ? next.seq : 0, damaged: reply.damaged)
  }

  private func changes(
    of zone: ZoneID, from position: CaravanModel.ChangePosition?, _ pull: Pull, _ maxBytes: Int
  ) async throws(CaravanError) -> ReadChangesReply {
    let request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: SyncLimits.recordsPerPage, maxBytes: UInt32(maxBytes), reader: device.text,
      readerEpoch: pull.ownBodies ? 0 : epoch, from: position.map { CaravanWire.ChangePosition($0) }, fresh: pull.fresh,
      mode: pull.mode, snapshot: pull.snapshot, ownThrough: pull.ownThrough, filter: pull.filter)
    return try await cloud.storage.changes(of: zone, request)
  }

  /// Which zones of the app's database changed (CK-48).
  func changedZones(
    _ list: ListChangedZones, _ account: ReplyAccount
  ) async throws(CaravanError) -> ChangedZones {
    let database = try access.database(list.container)
    let position = list.token.isEmpty ? nil : try cloud.tokens.open(list.token, of: database)
    let reply = try await cloud.storage.changedZones(of: database, from: position)
    if reply.resetRequired { return ChangedZones(resetRequired: true) }
    let zones = reply.zones.filter { access.isZone($0.zone, in: database) }
    let bytes = zones.reduce(0) { $0 + $1.zone.utf8.count + SyncLimits.zoneBytes }
    guard account.settle(taken: 0, needed: bytes) else { throw Refusal.replyFull }
    let next = try required(reply.next, "next").model()
    return ChangedZones(
      zones: zones.map { ChangedZone(zone: $0.zone, deleted: $0.deleted) },
      token: cloud.tokens.seal(next, of: database), more: reply.more)
  }

  /// Removes the table's zone with all its rows, at once or when its grace is over, or calls that off (CK-32); none
  /// there is done already.
  func drop(_ drop: DropTable) async throws(CaravanError) -> Empty {
    let zone = try zone(drop.container, drop.zone)
    try DefaultZone.refuse(zone, "cannot be deleted")
    guard !drop.cancel else {
      try await cloud.storage.cancel(.zone(ZoneRef(zone)))
      return Empty()
    }
    guard drop.graceMilliseconds == 0 else {
      let grace = Duration.milliseconds(Int64(clamping: drop.graceMilliseconds))
      _ = try await cloud.storage.schedule(.zone(ZoneRef(zone)), after: grace, by: device.text)
      return Empty()
    }
    _ = try await cloud.storage.drop(zone, writer: device.text)
    return Empty()
  }
}

extension RecordVisibility {
  /// Records of types that were removed are nobody's to get (CK-90).
  fileprivate func omitRetired(from reply: inout ReadChangesReply) throws(CaravanError) {
    guard !retired.isEmpty, !reply.page.isEmpty else { return }
    var page = try EntryPage.decode(reply.page)
    let count = page.entries.count
    page.entries.removeAll { !$0.deleted && isRetired($0.type) }
    if page.entries.count < count { reply.page = page.encoded() }
  }
}
