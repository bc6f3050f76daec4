import CaravanModel
import CaravanNotifyCore
import CaravanWire

/// What of a log's record says where it goes.
struct LoggedNotification {
  let subscription: String
  let source: UInt32
  let number: UInt64
  /// Nothing of its source is missing below this.
  let since: UInt64
  /// Unix milliseconds.
  let at: Int64

  init?(_ entry: CaravanWire.Entry) {
    guard let fields = try? RecordFields(body: entry.body) else { return nil }
    func number(_ field: NotificationLog.Field) -> Int64 { fields[field.rawValue].integerValue ?? 0 }
    subscription = fields[NotificationLog.Field.subscription.rawValue].textValue ?? ""
    source = UInt32(clamping: number(.source))
    self.number = UInt64(clamping: number(.number))
    since = UInt64(clamping: number(.since))
    at = number(.at)
  }

  /// What is missing may concern every subscription.
  func isWanted(by target: StoredTarget) -> Bool {
    guard let wanted = target.target?.subscriptions, !wanted.isEmpty, !subscription.isEmpty else { return true }
    return wanted.contains(subscription)
  }

  func lost(_ status: UInt32, _ problem: String, at wall: Int64) -> TargetProgress.GivenUp {
    TargetProgress.GivenUp(source: source, number: number, status: status, problem: problem, at: wall)
  }
}
