internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

// Rows that refer to others of their table, which is their zone (CK-27, CK-28): who is referred to goes first.
extension PushLog {
  /// What goes to the cloud by itself, and its rows.
  struct Unit {
    let unit: PushUnit
    let rows: [StoredRow]
  }

  /// What has to go next for a row to go.
  enum Turn {
    /// These, and the row with the last of them; those before it are needed by it.
    case go([Unit])
    case hold
    /// They need each other.
    case join([StoredRow])
  }

  func unit(of key: Int64, in state: TableState) throws(CaravanError) -> PushUnit {
    try batches.batch(of: key, in: state).map { .batch($0) } ?? .row(key)
  }

  /// - Parameter row: of the unit; one that goes by itself may go.
  func turn(
    of unit: PushUnit, _ row: StoredRow, after chosen: Set<PushUnit>, in state: TableState
  ) throws(CaravanError) -> Turn {
    guard state.holdsReferences else {
      return try rows(of: unit, row, in: state).map { .go([Unit(unit: unit, rows: $0)]) } ?? .hold
    }
    var known: [PushUnit: [StoredRow]] = [:]
    var order = PushOrder(to: unit, after: chosen)
    while true {
      switch order.next() {
      case .ask(let asked):
        known[asked] = try rows(of: asked, asked == unit ? row : nil, in: state)
        order.answer(try known[asked].map { (rows) throws(CaravanError) in try needs(of: asked, rows, in: state) })
      case .go(let units): return .go(units.map { Unit(unit: $0, rows: known[$0] ?? []) })
      case .hold: return .hold
      case .join(let units):
        let rows = units.flatMap { known[$0] ?? [] }
        let fits = rows.count <= Limits.groupRecords && rows.reduce(0) { $0 + $1.bodyBytes } <= Limits.groupBytes
        return fits ? .join(rows) : .hold
      }
    }
  }

  /// Nil: they cannot go now.
  private func rows(
    of unit: PushUnit, _ row: StoredRow?, in state: TableState
  ) throws(CaravanError) -> [StoredRow]? {
    switch unit {
    case .batch(let batch):
      return try refusals.isRefused(batch: batch, in: state) ? nil : batches.rows(of: batch, in: state)
    case .row(let key):
      if let row { return [row] }
      guard let row = try state.rows.soundRow(key: key, database), row.head.flags.isCollectable,
        !row.head.presence.isUnconfirmed, try !refusals.isRefused(row, in: state)
      else { return nil }
      return [row]
    }
  }

  private func needs(
    of unit: PushUnit, _ rows: [StoredRow], in state: TableState
  ) throws(CaravanError) -> [PushUnit] {
    var needs: [PushUnit] = []
    for row in rows where !row.head.presence.isDeleted {
      for reference in try state.codec.references(row.cells, extra: row.extra) where reference.target != row.id {
        guard let key = try state.rows.unsentKey(id: reference.target, database) else { continue }
        let need = try self.unit(of: key, in: state)
        if need != unit, !needs.contains(need) { needs.append(need) }
      }
    }
    return needs
  }

  // MARK: Deletions

  /// The rows of one plan, in which whoever referred to a row that is deleted goes before it: the cloud deletes no row
  /// that another one validates (CK-28).
  func ordered(_ rows: [StoredRow], in state: TableState) throws(CaravanError) -> [StoredRow] {
    guard state.holdsReferences, rows.contains(where: \.head.presence.isDeleted) else { return rows }
    let deleted = Dictionary(
      rows.filter(\.head.presence.isDeleted).map { ($0.id, $0.key) }, uniquingKeysWith: { first, _ in first })
    var (needs, known): ([PushUnit: [PushUnit]], [PushUnit: StoredRow]) = ([:], [:])
    for row in rows {
      known[.row(row.key)] = row
      for target in try validated(by: row, in: state) where target != row.id {
        if let key = deleted[target] { needs[.row(key), default: []].append(.row(row.key)) }
      }
    }
    var (chosen, list): (Set<PushUnit>, [PushUnit]) = ([], [])
    for row in rows where !chosen.contains(.row(row.key)) {
      var order = PushOrder(to: .row(row.key), after: chosen)
      var step = order.next()
      while case .ask(let unit) = step {
        order.answer(needs[unit] ?? [])
        step = order.next()
      }
      // Rows that validate each other stay as they are, and the cloud says so.
      let units = if case .go(let units) = step { units } else { [PushUnit.row(row.key)] }
      chosen.formUnion(units)
      list += units
    }
    return list.compactMap { known[$0] }
  }

  /// Names of the rows that the row validates at the cloud, as far as is known here.
  private func validated(by row: StoredRow, in state: TableState) throws(CaravanError) -> [String] {
    let references =
      if let body = try ancestors.body(of: row.key, in: state) {
        try RowCodec.references(inBody: body)
      } else {
        row.head.version > 0 ? try state.codec.references(row.cells, extra: row.extra) : []
      }
    return references.filter { $0.kind == .validating }.map(\.target)
  }

  /// A row whose deletion was refused because another one validated it goes again once that has changed.
  /// - Parameter rows: that the cloud has taken, before they are settled.
  func liftRefusals(after rows: [PlannedRow], in state: inout TableState) throws(CaravanError) {
    guard state.holdsReferences, state.hasRefusals else { return }
    for planned in rows {
      guard let row = try state.rows.soundRow(key: planned.key, database) else { continue }
      for target in try validated(by: row, in: state) where target != row.id {
        guard let other = try state.rows.soundRow(id: target, database), other.head.presence.isDeleted else { continue }
        try refusals.forget(of: other.key, in: state)
      }
    }
    state.hasRefusals = try RefusalTable.hasAny(ofTable: state.number, database)
  }
}
