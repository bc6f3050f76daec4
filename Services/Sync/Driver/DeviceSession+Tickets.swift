import CaravanAccess
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanSyncCore
import CaravanTokens
import CaravanWire

// Bulk bytes do not pass here: a ticket is for storage's chunk subject of the partition.
extension DeviceSession {
  /// It ends by storage's time, which is not this machine's while either clock is wrong.
  func ticket(_ request: RequestTicket) async throws(CaravanError) -> Ticket {
    var database = try database(request.container, request.database)
    var subject = TicketGrant.Subject.everything
    if database.isPublic {
      (database, subject) = try await publicSubject(of: request, in: database)
    } else if !request.record.isEmpty {
      let zone = try ZoneID(database, DefaultZone.name)
      database = try await home(of: request.record, in: zone, isLook: !request.upload).database
    }
    let now = try await cloud.storage.time(of: Partition(of: database))
    let lifetime = if case .record = subject { TicketSeal.recordLifetime } else { TicketSeal.lifetime }
    let bytes = request.bytes == 0 ? SyncLimits.ticketBytes : min(request.bytes, SyncLimits.ticketBytes)
    return cloud.tickets.issue(
      TicketGrant(
        database: database, device: device, isUpload: request.upload, of: subject, bytes: bytes,
        expiresMilliseconds: now.milliseconds + lifetime.wholeMilliseconds))
  }

  /// What a ticket in the public database is for. What is sent there is its user's, and nobody else's to name; what is
  /// fetched is of one record, which the user sees, at the version at which they do.
  /// - Throws: `noSuchObject` for a record that is not there, or that the user may not see: the two are the same
  ///   (CK-65); `serverRecordChanged` where it has another version by now.
  private func publicSubject(
    of request: RequestTicket, in database: DatabaseID
  ) async throws(CaravanError) -> (DatabaseID, TicketGrant.Subject) {
    guard !request.record.isEmpty else {
      throw CaravanError(
        .invalidData, "a ticket for the public database is for the objects of one record: name the record")
    }
    try RecordName.check(request.record)
    let zone = try await home(
      of: request.record, in: ZoneID(database, DefaultZone.name), isLook: !request.upload)
    guard !request.upload else {
      guard let author = WriterName.author(try await writer(in: database)) else {
        throw CaravanError(.accessDenied, "nobody is known to send these objects: sign in")
      }
      return (zone.database, .staged(by: String(author)))
    }
    // Of the zone first: where it is another one by the time the record is read, the ticket opens nothing.
    let heads = try await cloud.storage.zones(of: zone.database)
    let found = try await cloud.storage.fetch([request.record], fields: Self.noFields, from: zone)
    let seen = try await visible(found.map { CaravanWire.Entry($0) }, in: database).first { !$0.deleted }
    guard let record = seen, let head = heads.first(where: { $0.zone?.zone == zone.name }) else {
      throw CaravanError(.noSuchObject, "there is no record '\(request.record)' in the public database")
    }
    guard request.version == 0 || request.version == record.version else {
      throw CaravanError(
        .serverRecordChanged,
        "record '\(request.record)' has changed since it was read: read it again, and its objects as they are now")
    }
    let version = RecordVersion(
      zone: zone, incarnation: head.incarnation, name: record.name, version: record.version)
    return (zone.database, .record(version))
  }
}
