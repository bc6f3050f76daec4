import CaravanNotifyCore
import CaravanRuntime

extension CounterName {
  static let notifications = CounterName("caravan_notify_notifications_total", "Notifications sent the first time.")
  static let resends = CounterName("caravan_notify_resends_total", "Notifications sent again for want of an answer.")
  static let coalesced = CounterName(
    "caravan_notify_coalesced_changes_total", "Changes that joined others on their way to the same device.")
  static let away = CounterName("caravan_notify_devices_away_total", "Times a device stopped answering.")
  static let changes = CounterName("caravan_notify_changes_total", "Commits taken in from the change stream.")
}

struct NotifyMetrics: Sendable {
  let notifications: Counter
  let resends: Counter
  let coalesced: Counter
  let away: Counter
  let changes: Counter

  init(_ metrics: MetricsRegistry) {
    notifications = metrics.counter(.notifications)
    resends = metrics.counter(.resends)
    coalesced = metrics.counter(.coalesced)
    away = metrics.counter(.away)
    changes = metrics.counter(.changes)
  }

  func count(_ effects: PartitionNotifier.Effects) {
    if !effects.sends.isEmpty { notifications.add(effects.sends.count) }
    if !effects.resends.isEmpty { resends.add(effects.resends.count) }
    if effects.coalesced > 0 { coalesced.add(effects.coalesced) }
    if !effects.gaveUp.isEmpty { away.add(effects.gaveUp.count) }
  }
}
