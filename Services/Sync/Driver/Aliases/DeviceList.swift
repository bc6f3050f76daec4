import CaravanModel
import CaravanStorageClient
import CaravanSyncCore
import CaravanWire

/// Every device ever enrolled for development, as the gateway registers them: records of the zone `devices`, named
/// `<user>/<device>`, or `<device>` where they are from before enrolments had numbers. Field 1: the user; field 5: the
/// latest enrolment; field 7: the environment, where it was chosen.
struct DeviceList: Sendable {
  private static let user: UInt32 = 1
  private static let enrolment: UInt32 = 5
  private static let environment: UInt32 = 7

  let storage: StorageClient

  init(_ storage: StorageClient) { self.storage = storage }

  /// In the order of their latest change.
  /// - Parameter start: what the page before gave; nil: the first one is wanted.
  func page(
    after start: CaravanWire.ChangePosition?
  ) async throws(CaravanError) -> (devices: [EnrolledDevice], next: CaravanWire.ChangePosition?) {
    let zone = try ZoneID(DatabaseID(container: .system, environment: .development, owner: nil), "devices")
    let request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(SyncLimits.devicesPerPage), maxBytes: UInt32(Limits.pageBytes),
      from: start)
    let reply: ReadChangesReply
    do { reply = try await storage.changes(of: zone, request) } catch {
      guard error.code == .zoneDoesNotExist else { throw error }
      return ([], nil)
    }
    guard !reply.resetRequired || start == nil else {
      throw CaravanError(.unavailable, "the list of devices began anew: it is read again")
    }
    var devices: [EnrolledDevice] = []
    for entry in try EntryPage.decode(reply.page).entries where !entry.deleted {
      if let device = try Self.device(entry.name, RecordFields(body: entry.body)) { devices.append(device) }
    }
    return (devices, reply.more ? reply.next : nil)
  }

  /// - Returns: nil: it is production's.
  private static func device(_ name: String, _ fields: RecordFields) throws(CaravanError) -> EnrolledDevice? {
    if case .text(Environment.production.rawValue) = fields[environment] { return nil }
    guard case .text(let user) = fields[Self.user] else {
      throw CaravanError(.internalError, "the record of device '\(name)' does not say whose it is")
    }
    var number: UInt32 = 1
    if case .integer(let enrolment) = fields[Self.enrolment] { number = UInt32(clamping: max(1, enrolment)) }
    let device = name.split(separator: "/").last.map(String.init) ?? name
    return EnrolledDevice(
      user: try UserID(user), device: try DeviceID(device), enrolment: number, environment: .development)
  }
}
