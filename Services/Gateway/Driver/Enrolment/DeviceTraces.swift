internal import CaravanModel
internal import CaravanStorageClient

/// What the cloud keeps in order to reach a device: its subscription lists, which notify drops from its memory when
/// they go.
struct DeviceTraces: Sendable {
  let records: SystemRecords

  /// Of one enrolment. Again is no error.
  func remove(_ device: EnrolledDevice) async throws(CaravanError) {
    for environment in CaravanModel.Environment.allCases {
      let database = DatabaseID(container: .system, environment: environment, owner: device.user)
      try await removeLists(of: device, from: ZoneID(database, Self.lists))
    }
  }

  private static let lists = "subscriptions"

  private func removeLists(of device: EnrolledDevice, from zone: ZoneID) async throws(CaravanError) {
    // The first enrolment may also have a list from before enrolments had numbers.
    let names = [device.token] + (device.enrolment == 1 ? [device.device.text] : [])
    let entries: [CaravanModel.Entry]
    do { entries = try await records.storage.fetch(names, from: zone) } catch {
      guard error.code == .zoneDoesNotExist else { throw error }
      return
    }
    for entry in entries where !entry.isDeleted {
      guard try await records.delete(entry.name, version: entry.version, from: zone) else {
        throw CaravanError(.serverBusy, "the device changes its subscriptions just now: revoke it again")
      }
    }
  }
}
