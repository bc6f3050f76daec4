import CaravanModel
import CaravanNotifyCore
import CaravanStorageClient
import CaravanWire

/// The devices' subscription lists as records: one per device, named `<device>_<enrolment>`, in the zone
/// `subscriptions` of its user's private database of the system container, in the device's environment. The encoded
/// list is field 1.
struct SubscriptionStore: Sendable {
  static let zoneName = "subscriptions"
  static let listField: UInt32 = 1

  /// A record of that zone.
  struct Stored: Sendable {
    let device: EnrolledDevice
    /// nil: deleted.
    let list: DeviceList?
  }

  let storage: StorageClient

  /// The owner of a zone of subscription lists; nil: it is no such zone.
  func user(of zone: ZoneID) -> UserID? {
    zone.name == Self.zoneName && zone.database.container == .system ? zone.database.owner : nil
  }

  /// Every list of a partition.
  func lists(in partition: Partition) async throws(CaravanError) -> [Stored] {
    var all: [Stored] = []
    for head in try await storage.zones(named: Self.zoneName, in: partition) {
      let zone = try required(head.zone, "zone").model()
      if let user = user(of: zone) { all += try await lists(of: user, in: zone, from: nil) }
    }
    return all
  }

  /// Lists of a user that were written after a position; all of them, if the zone no longer knows what came after.
  func lists(
    of user: UserID, in zone: ZoneID, from start: CaravanModel.ChangePosition?
  ) async throws(CaravanError) -> [Stored] {
    var lists: [Stored] = []
    var request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(Limits.recordsPerCommit), maxBytes: UInt32(Limits.pageBytes),
      from: start.map { CaravanWire.ChangePosition($0) })
    while true {
      let reply = try await storage.changes(of: zone, request)
      if reply.resetRequired, request.from != nil {
        request.from = nil
        continue
      }
      lists += try EntryPage.decode(reply.page).entries.compactMap { Self.stored($0, user: user, in: zone) }
      guard reply.more else { return lists }
      request.from = reply.next
    }
  }

  func list(of device: EnrolledDevice) async throws(CaravanError) -> DeviceList? {
    let database = DatabaseID(container: .system, environment: device.environment, owner: device.user)
    let zone = try ZoneID(database, Self.zoneName)
    guard let entry = try await storage.fetch([device.token], from: zone).first else { return nil }
    return Self.stored(CaravanWire.Entry(entry), user: device.user, in: zone)?.list
  }

  /// What a record of the zone says; nil: it is none of ours.
  static func stored(_ entry: CaravanWire.Entry, user: UserID, in zone: ZoneID) -> Stored? {
    guard let device = try? EnrolledDevice(user: user, token: entry.name),
      device.environment == zone.database.environment
    else { return nil }
    if entry.deleted { return Stored(device: device, list: nil) }
    guard
      let record = try? RecordFields(body: entry.body), case .data(let bytes) = record[listField],
      let list = try? DeviceList(SubscriptionList.decode(bytes))
    else { return nil }
    return Stored(device: device, list: list)
  }
}

extension DeviceList {
  /// - Throws: `invalidData` for a malformed zone; `limitExceeded`.
  init(_ list: SubscriptionList) throws(CaravanError) {
    var items: [Item] = []
    for subscription in list.subscriptions {
      let zone = try required(subscription.zone, "zone").model()
      items.append(
        Item(
          zone: zone, period: subscription.periodMilliseconds, isToldOnly: subscription.toldOnly,
          tolerance: subscription.delayToleranceMilliseconds))
    }
    try self.init(generation: list.generation, items: items)
  }
}
