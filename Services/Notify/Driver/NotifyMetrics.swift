import CaravanNotifyCore
import CaravanRuntime

extension CounterName {
  static let notifications = CounterName("caravan_notify_notifications_total", "Notifications sent the first time.")
  static let resends = CounterName("caravan_notify_resends_total", "Notifications sent again for want of an answer.")
  static let coalesced = CounterName(
    "caravan_notify_coalesced_changes_total", "Changes that joined others on their way to the same device.")
  static let away = CounterName("caravan_notify_devices_away_total", "Times a device stopped answering.")
  static let changes = CounterName("caravan_notify_changes_total", "Commits taken in from the change stream.")
  static let pushes = CounterName("caravan_notify_pushes_total", "Notifications that push targets took.")
  static let pushesGivenUp = CounterName(
    "caravan_notify_pushes_given_up_total", "Notifications that no push target took, and that are given up.")
}

struct NotifyMetrics: Sendable {
  let notifications: Counter
  let resends: Counter
  let coalesced: Counter
  let away: Counter
  let changes: Counter
  let pushes: Counter
  let pushesGivenUp: Counter

  init(_ metrics: MetricsRegistry) {
    notifications = metrics.counter(.notifications)
    resends = metrics.counter(.resends)
    coalesced = metrics.counter(.coalesced)
    away = metrics.counter(.away)
    changes = metrics.counter(.changes)
    pushes = metrics.counter(.pushes)
    pushesGivenUp = metrics.counter(.pushesGivenUp)
  }

  func count(_ effects: PartitionNotifier.Effects) {
    if !effects.sends.isEmpty { notifications.add(effects.sends.count) }
    if !effects.resends.isEmpty { resends.add(effects.resends.count) }
    if effects.coalesced > 0 { coalesced.add(effects.coalesced) }
    if !effects.gaveUp.isEmpty { away.add(effects.gaveUp.count) }
  }
}
