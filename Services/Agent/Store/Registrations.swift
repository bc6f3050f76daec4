internal import CaravanAgentCore
internal import CaravanEncoding
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Which tables are synced periodically, and how.
struct Registrations: TablePart {
  let catalog: TableCatalog

  private var tolerances: Tolerances { catalog.tolerances }

  /// Registers a table for periodic sync, or changes its registration (SIM-17, SIM-20).
  /// - Throws: `invalidData` for a table that is local only.
  /// - Parameter loss: of writes (MOB-05); nil: rows that wait and might have been lost no longer may.
  func begin(
    _ table: TableID, _ direction: Direction, _ registration: SyncRegistration, loss: LossTolerance? = nil
  ) throws(CaravanError) {
    guard try !state(table).isLocalOnly else {
      throw CaravanError(.invalidData, "table '\(table.name)' is local only: create it with full sync first")
    }
    var meta = context.meta
    try change(table) { (state) throws(CaravanError) in
      try write(registration, direction, of: state)
      if direction == .read { try meta.bumpListGeneration(database) } else { try tolerances.declare(loss, in: state) }
    }
    context.meta = meta
    try tolerances.recall()
  }

  private func write(
    _ registration: SyncRegistration, _ direction: Direction, of state: TableState
  ) throws(CaravanError) {
    try database.run(
      """
      INSERT INTO registrations VALUES (?1, ?2, (SELECT ifnull(max(ordinal), 0) + 1 FROM registrations), ?3, ?4, ?5)
      ON CONFLICT DO UPDATE SET period = excluded.period, tolerance = excluded.tolerance, link = excluded.link
      """, state.number, Int64(direction.rawValue), registration.periodMilliseconds,
      registration.delayToleranceMilliseconds, Int64(registration.link.rawValue))
  }

  /// Part of making a table that is read from its first moment on, inside its transaction.
  func beginReading(
    _ state: TableState, _ registration: SyncRegistration, _ meta: inout StoreMeta
  ) throws(CaravanError) {
    try write(registration, .read, of: state)
    try meta.bumpListGeneration(database)
  }

  /// Ends periodic sync of a direction; dirty rows keep their flags (SIM-18, SIM-21).
  func end(_ table: TableID, _ direction: Direction) throws(CaravanError) {
    var meta = context.meta
    try change(table) { (state) throws(CaravanError) in
      try database.run(
        "DELETE FROM registrations WHERE table_id = ? AND direction = ?", state.number, Int64(direction.rawValue))
      if direction == .read, try database.changedRows > 0 { try meta.bumpListGeneration(database) }
      if direction == .write { try tolerances.declare(nil, in: state) }
    }
    context.meta = meta
    try tolerances.recall()
  }

  /// Part of dropping a table, inside its transaction.
  func endAll(_ state: TableState) throws(CaravanError) {
    try database.run("DELETE FROM registrations WHERE table_id = ?", state.number)
    if try database.changedRows > 0 { try context.meta.bumpListGeneration(database) }
    try tolerances.forget(state.number)
  }

  func all() throws(CaravanError) -> [TableRegistration] {
    try storedRegistrations().sorted { ($0.table, $0.direction) < ($1.table, $1.direction) }
  }

  func subscriptions(
    toldOnly: Set<TableID>?, deferrable: Set<TableID>
  ) throws(CaravanError) -> SubscriptionList {
    let items = try storedRegistrations().filter { $0.direction == .read }.map { read in
      SubscriptionList.Item(
        table: read.table, periodMilliseconds: read.registration.periodMilliseconds,
        isToldOnly: toldOnly?.contains(read.table) ?? false || catalog.tables[read.table]?.properties.query != nil,
        toleranceMilliseconds: deferrable.contains(read.table)
          ? .max : read.registration.delayToleranceMilliseconds)
    }
    if toldOnly != nil { try number(items) }
    return SubscriptionList(generation: context.meta.listGeneration, items: items)
  }

  /// The list is another one where other tables than last are told only, or may wait.
  private func number(_ items: [SubscriptionList.Item]) throws(CaravanError) {
    let told = items.filter(\.isToldOnly).map { "\($0.table)\n" }
    let names = (told + items.filter { $0.toleranceMilliseconds == .max }.map { "wait \($0.table)\n" }).joined()
    let sum = names.isEmpty ? 0 : XXHash64.hash(Array(names.utf8))
    guard sum != context.meta.toldOnlySum else { return }
    var meta = context.meta
    try context.transaction { () throws(CaravanError) in
      try meta.bumpListGeneration(database)
      try meta.note(toldOnlySum: sum, database)
    }
    context.meta = meta
  }

  /// In the order of registration.
  private func storedRegistrations() throws(CaravanError) -> [TableRegistration] {
    try database.all(
      """
      SELECT app, name, direction, period, tolerance, link FROM registrations JOIN tables ON id = table_id
      ORDER BY ordinal
      """
    ) { row in
      TableRegistration(
        table: TableID(app: ContainerID(unchecked: row.text(0)), name: row.text(1)),
        direction: row.integer(2) == 0 ? .write : .read,
        registration: SyncRegistration(
          periodMilliseconds: UInt32(truncatingIfNeeded: row.integer(3)),
          delayToleranceMilliseconds: UInt32(truncatingIfNeeded: row.integer(4)),
          link: LinkClass(rawValue: UInt8(truncatingIfNeeded: row.integer(5))) ?? .wired))
    }
  }
}
