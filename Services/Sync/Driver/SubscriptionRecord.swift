import CaravanModel
import CaravanWire

/// A device's subscription list as it lies in storage, where notify reads it too: the record `<device>_<enrolment>` in
/// the zone `subscriptions` of the system container's private database of its user. Field 1: an encoded
/// `SubscriptionList`; field 2: its generation; field 3: the device's epoch, in which generations only grow.
struct SubscriptionRecord {
  private static let zoneName = "subscriptions"
  private static let listField: UInt32 = 1
  private static let generationField: UInt32 = 2
  private static let epochField: UInt32 = 3

  let list: SubscriptionList
  let epoch: UInt64

  init(list: SubscriptionList, epoch: UInt64) {
    self.list = list
    self.epoch = epoch
  }

  init(_ entry: CaravanModel.Entry) throws(CaravanError) {
    let record = try RecordFields(body: entry.body)
    guard case .data(let bytes) = record[Self.listField], case .integer(let epoch) = record[Self.epochField] else {
      throw CaravanError(.internalError, "the subscriptions of '\(entry.name)' are not as sync writes them")
    }
    list = try SubscriptionList.decode(bytes)
    self.epoch = UInt64(bitPattern: epoch)
  }

  static func zone(of user: UserID, in environment: CaravanModel.Environment) throws(CaravanError) -> ZoneID {
    try ZoneID(DatabaseID(container: .system, environment: environment, owner: user), zoneName)
  }

  /// Whether this list came after `other`. Of another epoch the device knows best: it lost its store.
  func succeeds(_ other: SubscriptionRecord) -> Bool {
    epoch != other.epoch || list.generation > other.list.generation
  }

  func save(for device: EnrolledDevice, over base: Base) -> CaravanModel.Mutation {
    let body = RecordFields([
      Self.listField: .data(list.encoded()), Self.generationField: .integer(Int64(bitPattern: list.generation)),
      Self.epochField: .integer(Int64(bitPattern: epoch)),
    ]).body
    return CaravanModel.Mutation(name: device.token, base: base, change: .save(type: 0, body: body, chunks: []))
  }
}
