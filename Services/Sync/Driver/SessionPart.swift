import CaravanModel
import CaravanSyncCore
import CaravanWire

/// Operations of one kind, of a device's session.
protocol SessionPart: Sendable {
  var session: DeviceSession { get }
}

extension SessionPart {
  var cloud: Cloud { session.cloud }
  var device: EnrolledDevice { session.device }
  var epoch: UInt64 { session.epoch }
  /// Everything of one user lies here.
  var partition: Partition { session.partition }

  func zone(_ container: String, _ name: String) throws(CaravanError) -> ZoneID { try session.zone(container, name) }
  func writer(in database: DatabaseID) async throws(CaravanError) -> String { try await session.writer(in: database) }
}
