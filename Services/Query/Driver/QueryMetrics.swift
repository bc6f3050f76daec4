import CaravanRuntime

extension CounterName {
  static let indexedChanges = CounterName("caravan_query_changes_total", "Commits taken in from the change stream.")
  static let indexedGroups = CounterName(
    "caravan_query_groups_total", "Times commits were taken in: several at once, if they came close together.")
  static let indexedRows = CounterName("caravan_query_rows_indexed_total", "Records written to the index.")
  static let unreadableRows = CounterName(
    "caravan_query_rows_unreadable_total", "Records left out because their body is malformed.")
  static let indexSteps = CounterName(
    "caravan_query_index_steps_total", "Steps in which indexes were built, of some hundred records each.")
  static let rebuilds = CounterName("caravan_query_rebuilds_total", "Times a partition was compared with its zones.")
  static let hits = CounterName("caravan_query_hits_total", "Records in answers.")
  static let notificationsWritten = CounterName(
    "caravan_query_notifications_total", "Notifications of subscriptions written to the logs of users.")
  static let notificationsLost = CounterName(
    "caravan_query_notifications_lost_total",
    "Notifications that were given up: their log was behind, or could not be written. Numbers in it say so.")
}

struct QueryMetrics: Sendable {
  let changes: Counter
  let groups: Counter
  let rows: Counter
  let unreadable: Counter
  let steps: Counter
  let rebuilds: Counter
  let hits: Counter
  let notifications: Counter
  let notificationsLost: Counter

  init(_ metrics: MetricsRegistry) {
    changes = metrics.counter(.indexedChanges)
    groups = metrics.counter(.indexedGroups)
    rows = metrics.counter(.indexedRows)
    unreadable = metrics.counter(.unreadableRows)
    steps = metrics.counter(.indexSteps)
    rebuilds = metrics.counter(.rebuilds)
    hits = metrics.counter(.hits)
    notifications = metrics.counter(.notificationsWritten)
    notificationsLost = metrics.counter(.notificationsLost)
  }
}
