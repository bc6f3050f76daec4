import Model
import Wire

/// A device's subscription list as it lies in storage, where notify reads it too: the record named after the device in
/// the zone `subscriptions` of the system container's private database of its user. Field 1: an encoded
/// `SubscriptionList`; field 2: its generation.
enum SubscriptionRecord {
  private static let zoneName = "subscriptions"
  private static let list: UInt32 = 1
  private static let generation: UInt32 = 2

  static func zone(of user: UserID, in environment: Model.Environment) throws(CaravanError) -> ZoneID {
    try ZoneID(DatabaseID(container: .system, environment: environment, owner: user), zoneName)
  }

  /// Replaces whatever was there: the device knows best.
  static func save(_ subscriptions: SubscriptionList, of device: DeviceID) -> Model.Mutation {
    let body = RecordFields([
      list: .data(subscriptions.encoded()), generation: .integer(Int64(clamping: subscriptions.generation)),
    ]).body
    return Model.Mutation(name: device.text, base: .any, change: .save(type: 0, body: body, chunks: []))
  }

  static func list(_ entry: Model.Entry) throws(CaravanError) -> SubscriptionList {
    guard case .data(let bytes) = try RecordFields(body: entry.body)[list] else {
      throw CaravanError(.internalError, "the subscriptions of '\(entry.name)' are not as sync writes them")
    }
    return try SubscriptionList.decode(bytes)
  }
}
