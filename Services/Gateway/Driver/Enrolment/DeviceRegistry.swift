internal import CaravanGatewayCore
internal import CaravanModel
internal import CaravanStorageClient
internal import CaravanWire

/// Every device ever enrolled, with its latest enrolment: records of the zone `devices`, named `<user>/<device>`.
/// Records from before enrolments had numbers are named after the device alone, until they are written again.
struct DeviceRegistry: Sendable {
  let records: SystemRecords

  private static let zone = "devices"

  struct Known: Sendable {
    let record: DeviceRecord
    /// What whoever writes the record writes it over.
    let base: Base
    /// The record under the name of the device alone, which goes when it is written under its own.
    let old: (name: String, version: Seq)?
  }

  struct Page: Sendable {
    var devices: [DeviceRecord]
    /// Where the next page begins; nil: this is the last.
    var next: CaravanWire.ChangePosition?
  }

  func find(_ user: UserID, _ device: DeviceID) async throws(CaravanError) -> Known? {
    let name = DeviceRecord.name(of: user, device)
    let found = try await records.fetch([name, device.text], from: Self.zone)
    let own = found.first { $0.name == name }
    var old: (name: String, version: Seq)?
    if let stored = found.first(where: { $0.name == device.text }) {
      let record = try DeviceRecord(name: stored.name, stored.fields)
      if record.device.user == user {
        guard own != nil else { return Known(record: record, base: .absent, old: (stored.name, stored.version)) }
        old = (stored.name, stored.version)
      }
    }
    guard let own else { return nil }
    return Known(record: try DeviceRecord(name: own.name, own.fields), base: .version(own.version), old: old)
  }

  /// - Parameter known: what `find` gave; nil: nothing.
  /// - Returns: false when somebody else has changed it meanwhile.
  func save(_ record: DeviceRecord, over known: Known?) async throws(CaravanError) -> Bool {
    let name = DeviceRecord.name(of: record.device.user, record.device.device)
    guard try await records.save(record.fields, as: name, in: Self.zone, base: known?.base ?? .absent) else {
      return false
    }
    // Where this is cut off, the record under its own name counts.
    if let old = known?.old {
      _ = try await records.delete(old.name, version: old.version, from: SystemRecords.zone(Self.zone))
    }
    return true
  }

  /// In the order of their latest change, at most `limit`.
  func page(from start: CaravanWire.ChangePosition?, limit: Int) async throws(CaravanError) -> Page {
    let zone = try SystemRecords.zone(Self.zone)
    let request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(limit), maxBytes: UInt32(Limits.pageBytes), from: start)
    let reply: ReadChangesReply
    do { reply = try await records.storage.changes(of: zone, request) } catch {
      guard error.code == .zoneDoesNotExist else { throw error }
      return Page(devices: [], next: nil)
    }
    guard !reply.resetRequired || start == nil else {
      throw CaravanError(.invalidSyncToken, "this page cannot be had any more: list the devices from the beginning")
    }
    var devices: [DeviceRecord] = []
    for entry in try EntryPage.decode(reply.page).entries where !entry.deleted {
      devices.append(try DeviceRecord(name: entry.name, RecordFields(body: entry.body)))
    }
    return Page(devices: devices, next: reply.more ? reply.next : nil)
  }
}
