import CaravanAgentCore
import CaravanModel
import CaravanWire

extension IncomingEntry {
  /// A record of the log of notifications, in its slot.
  static func notification(
    _ number: UInt64, of source: UInt64 = 1, slots: UInt64 = NotificationLog.kept,
    at: Int64? = nil, reason: NotificationLog.Reason = .changes, showing shown: RecordFields = RecordFields()
  ) -> IncomingEntry {
    var fields = shown
    func set(_ field: NotificationLog.Field, _ value: Value) { fields[field.rawValue] = value }
    set(.subscription, .text("near"))
    set(.reason, .text(reason.rawValue))
    set(.source, .integer(Int64(source)))
    set(.number, .integer(Int64(number)))
    set(.isPublic, .integer(source == 9 ? 1 : 0))
    set(.type, .text("places"))
    set(.zone, .text("places"))
    set(.record, .text("row-\(number)"))
    set(.version, .integer(Int64(10 * number)))
    set(.device, .text("phone"))
    set(.at, .integer(at ?? Int64(number)))
    let version = source * 100_000 + number
    return IncomingEntry(
      entry: Entry(
        name: "\(source)-\(number % slots)", version: version, created: version, type: NotificationLog.type.id,
        body: fields.body, writer: "@query"))
  }
}
