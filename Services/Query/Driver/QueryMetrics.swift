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
}

struct QueryMetrics: Sendable {
  let changes: Counter
  let groups: Counter
  let rows: Counter
  let unreadable: Counter
  let steps: Counter
  let rebuilds: Counter
  let hits: Counter

  init(_ metrics: MetricsRegistry) {
    changes = metrics.counter(.indexedChanges)
    groups = metrics.counter(.indexedGroups)
    rows = metrics.counter(.indexedRows)
    unreadable = metrics.counter(.unreadableRows)
    steps = metrics.counter(.indexSteps)
    rebuilds = metrics.counter(.rebuilds)
    hits = metrics.counter(.hits)
  }
}
