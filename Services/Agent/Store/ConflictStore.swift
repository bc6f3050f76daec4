internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// A row in conflict: the local copy, the cloud's, and what both are based on (CK-34).
public struct ConflictView: Sendable, Hashable {
  public let mine: RowView
  public let isMineDeleted: Bool
  /// Nil: deleted at the cloud.
  public let theirs: RowView?
  /// Nil: the row was new on both sides.
  public let ancestor: RowView?
}

/// Rows in conflict, and how an app decides what becomes of them.
struct ConflictStore: TablePart {
  let pushLog: PushLog

  var catalog: TableCatalog { pushLog.catalog }
  private var arrivals: Arrivals { pushLog.arrivals }
  private var resolutions: Resolutions { arrivals.resolutions }
  private var retention: Retention { arrivals.retention }
  private var inbox: Inbox { arrivals.inbox }
  private var writer: RowWriter { arrivals.writer }
  private var ancestors: Ancestors { arrivals.ancestors }
  private var openWrites: OpenWrites { arrivals.openWrites }

  /// Opens conflict resolution; until it ends, what arrives for the table waits (SIM-25). A reset of the table ends it.
  /// - Throws: `serverBusy` while another session resolves this table.
  func begin(_ table: TableID, owner: UInt64) throws(CaravanError) {
    try catalog.requireZone(of: state(table))
    if let session = resolutions.sessions[table], session.owner != owner {
      throw CaravanError(
        .serverBusy, "conflicts of '\(table.name)' are being resolved elsewhere: retry later",
        retryAfterMilliseconds: 200)
    }
    if resolutions.sessions[table] == nil { resolutions.sessions[table] = ResolutionSession(owner: owner) }
  }

  /// Rows in conflict whose cloud copy is here, ordered by their ids, from behind `after` on (SIM-26).
  func views(
    of table: TableID, after: String = "", limit: Int = StoreLimits.conflictsPerPage
  ) throws(CaravanError) -> [ConflictView] {
    let state = try state(table)
    guard state.absence == nil else { return [] }
    let copies = try database.all(
      """
      SELECT id, name, version, deleted, body, lacking, _authored, _modified, _created, _writer, _creator
      FROM incoming
      WHERE table_id = ? AND role = 1 AND lacking = 0 AND name > ? ORDER BY name LIMIT ?
      """, state.number, after, min(limit, StoreLimits.conflictsPerPage)
    ) { row in StoredIncoming(row) }
    var views: [ConflictView] = []
    for copy in copies {
      guard let row = try state.rows.row(id: copy.name, database) else { continue }
      let ancestor = try ancestors.body(of: row.key, in: state)
      views.append(
        ConflictView(
          mine: try view(row.id, row.head.version, row.cells, of: state), isMineDeleted: row.head.presence.isDeleted,
          theirs: copy.isDeleted ? nil : try view(row.id, copy.version, body: copy.body, of: state),
          ancestor: try ancestor.map { (body) throws(CaravanError) in
            try view(row.id, row.head.version, body: body, of: state)
          }))
    }
    return views
  }

  private static func notResolving(_ table: TableID) -> CaravanError {
    CaravanError(
      .notInConflictResolution,
      "conflicts of '\(table.name)' are not being resolved: begin first, and again after the table was reset")
  }

  /// Notes a decision; it takes effect with `endResolution`. A later one for the same row replaces it.
  /// - Parameters:
  ///   - cells: of a new value, which begins as the local one.
  ///   - fromTheirs: columns of a new value taken from the cloud's copy; objects, for instance.
  /// - Throws: `notInConflictResolution` outside of begin and end, `noSuchObject` when the row is in no conflict.
  func resolve(
    _ table: TableID, row id: String, _ resolution: Resolution, cells: [CellValue] = [], fromTheirs: [String] = [],
    owner: UInt64
  ) throws(CaravanError) {
    let state = try state(table)
    guard var session = resolutions.sessions[table], session.owner == owner else {
      throw Self.notResolving(table)
    }
    guard let copy = try inbox.entry(named: id, role: .serverCopy, of: state), copy.lacking == 0 else {
      throw CaravanError(.noSuchObject, "row '\(id.prefix(80))' of '\(table.name)' is in no conflict")
    }
    guard resolution == .new || cells.isEmpty && fromTheirs.isEmpty else {
      throw CaravanError(.invalidData, "only the choice 'new' takes values")
    }
    guard session.choices.count < StoreLimits.resolutions else {
      throw CaravanError(.limitExceeded, "\(StoreLimits.resolutions) rows are resolved already: end, and begin again")
    }
    var columns: [Int] = []
    for name in fromTheirs { columns.append(try state.column(named: name)) }
    session.choices[id] = ResolutionSession.Choice(
      resolution: resolution, cells: try writer.checked(cells, of: state, isInsert: false), fromTheirs: columns)
    resolutions.sessions[table] = session
  }

  /// Ends conflict resolution: all rows decided leave their conflict in one transaction and are eligible for upstream;
  /// the others stay in conflict (SIM-28).
  /// - Parameter isAbandoned: forgets what was decided.
  /// - Returns: how many rows left their conflict.
  @discardableResult
  func end(
    _ table: TableID, isAbandoned: Bool = false, owner: UInt64
  ) throws(CaravanError) -> Int {
    guard var session = resolutions.sessions[table], session.owner == owner else {
      throw Self.notResolving(table)
    }
    resolutions.sessions[table] = nil
    if isAbandoned { session.choices = [:] }
    let before = try state(table)
    do {
      try change(table) { (state) throws(CaravanError) in
        for (id, choice) in session.choices.sorted(by: { $0.key < $1.key }) { try settle(id, choice, in: &state) }
        if !session.choices.isEmpty { try pushLog.planAtOnce(&state) }
        try arrivals.applyWaiting(&state)
        try retention.evictOld(&state)
        try openWrites.sweep()
      }
    } catch {
      resolutions.sessions[table] = session
      throw error
    }
    // The cloud waits for the answer: delay does not apply (UNI-22).
    if !session.choices.isEmpty { context.events.tellDirtied(before, LocalChange(bytes: 1, withinMilliseconds: 0)) }
    catalog.tellNewsIfAny(of: table)
    return session.choices.count
  }

  private func settle(
    _ id: String, _ choice: ResolutionSession.Choice, in state: inout TableState
  ) throws(CaravanError) {
    guard var row = try state.rows.row(id: id, database),
      let copy = try inbox.entry(named: id, role: .serverCopy, of: state)
    else { return }
    switch try plan(choice.resolution, copy, row, in: state) {
    case .leave: return
    case .take: return try writer.overwrite(row, with: copy.entry, in: state)
    case .remove(let removal):
      try retention.note(removal, of: id, in: &state)
      return try writer.remove(row, of: state)
    case .keep(let head, let isMerging):
      row.head = head
      if isMerging { try merge(choice, copy, into: &row, of: state) }
    }
    if copy.isDeleted {
      try ancestors.forget(of: row.key, in: state)
    } else {
      try ancestors.set(copy.body, version: copy.version, of: row.key, in: state)
    }
    try inbox.drop(named: id, role: .serverCopy, of: state)
    row.change = nextChange()
    try state.rows.update(row, database)
    if let authorship = copy.authorship {
      try state.rows.note(authorship, ofRow: row.key, at: copy.version, database)
    }
  }

  private func plan(
    _ resolution: Resolution, _ copy: StoredIncoming, _ row: StoredRow, in state: TableState
  ) throws(CaravanError) -> RowPlan.Resolved {
    let inquiry = RowInquiry.Resolved(
      resolution, server: RowInquiry.Copy(version: copy.version, isDeleted: copy.isDeleted))
    var facts = RowFacts(row.head)
    while true {
      switch inquiry.next(knowing: facts) {
      case .plan(let plan): return plan
      case .ask(.belongs): facts[.belongs] = try retention.belongs(copy.entry, to: state)
      case .ask(let question): preconditionFailure("\(question) was asked of a row whose conflict is resolved")
      }
    }
  }

  private func merge(
    _ choice: ResolutionSession.Choice, _ copy: StoredIncoming, into row: inout StoredRow, of state: TableState
  ) throws(CaravanError) {
    let before = try state.codec.chunks(row.cells, extra: row.extra)
    if !choice.fromTheirs.isEmpty {
      let theirs = try state.codec.content(copy.body).cells
      for column in choice.fromTheirs { row.cells[column] = theirs[column] }
    }
    for (column, value) in choice.cells { row.cells[column] = value }
    try chunkTable.replace(before, by: try state.codec.chunks(row.cells, extra: row.extra))
  }

  // MARK: Views

  private func view(
    _ id: String, _ version: Seq, body: [UInt8], of state: TableState
  ) throws(CaravanError) -> RowView {
    try view(id, version, try state.codec.content(body).cells, of: state)
  }

  private func view(
    _ id: String, _ version: Seq, _ cells: [SQLValue], of state: TableState
  ) throws(CaravanError) -> RowView {
    var values: [CellValue] = []
    var objects: [RowView.ObjectSize] = []
    for (column, cell) in zip(state.schema.columns, cells) {
      if let value = try CellCodec.value(cell, of: column) {
        values.append(CellValue(column.name, value))
      } else if let size = try RowCodec.objectSize(cell) {
        objects.append(RowView.ObjectSize(column: column.name, size: size))
      }
    }
    return RowView(id: id, version: version, state: .conflict, cells: values, objects: objects)
  }
}
