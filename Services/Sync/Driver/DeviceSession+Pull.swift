import Model
import Runtime
import Sealing
import StorageClient
import SyncCore
import Wire

extension DeviceSession {
  /// A page of changes after the device's token. The page's bytes are storage's; nobody decodes them on the way.
  func pull(_ pull: Pull, _ account: ReplyAccount) async throws(CaravanError) -> PullResult {
    let zone = try zone(pull.container, pull.zone)
    try DefaultZone.refuse(zone, "keeps no changes to pull")
    let position =
      pull.token.isEmpty
      ? ChangePosition(incarnation: 0, seq: 0) : try cloud.tokens.open(pull.token, of: zone)
    let wanted = pull.maxBytes == 0 ? Limits.pageBytes : min(Int(pull.maxBytes), Limits.pageBytes)
    let comeAgain = PullResult(token: pull.token, more: true)
    guard let room = account.take(wanted) else { return comeAgain }
    let reply: ReadChangesReply
    do throws(CaravanError) { reply = try await changes(of: zone, after: position, pull, room) } catch {
      _ = account.settle(taken: room, needed: 0)
      throw error
    }
    // A single record may be larger than the page asked for.
    guard account.settle(taken: room, needed: reply.page.count) else { return comeAgain }
    cloud.metrics.pageBytes.add(reply.page.count)
    if reply.resetRequired { return PullResult(resetRequired: true) }
    let next = ChangePosition(incarnation: reply.incarnation, seq: reply.last)
    return PullResult(page: reply.page, token: cloud.tokens.seal(next, of: zone), more: reply.more)
  }

  private func changes(
    of zone: ZoneID, after position: ChangePosition, _ pull: Pull, _ maxBytes: Int
  ) async throws(CaravanError) -> ReadChangesReply {
    let request = ReadChangesRequest(
      zone: ZoneRef(zone), after: position.seq, incarnation: position.incarnation,
      maxRecords: SyncLimits.recordsPerPage, maxBytes: UInt32(maxBytes), reader: pull.ownBodies ? "" : device.text,
      readerEpoch: epoch,
      allTombstones: pull.allTombstones)
    return try await cloud.storage.changes(of: zone, request)
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
