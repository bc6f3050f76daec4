internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanWire

// Between the messages of `app.proto` and the store's values.

extension CaravanWire.WriteIntent {
  var store: CaravanAgentCore.WriteIntent {
    let loss: CaravanAgentCore.WriteIntent.Loss =
      switch self.loss {
      case .asRegistered: .asRegistered
      case .tolerated: .tolerated
      case .none: .none
      }
    return CaravanAgentCore.WriteIntent(
      withinMilliseconds: hasDeadline ? withinMilliseconds : nil, loss: loss,
      timeToLiveMilliseconds: timeToLiveMilliseconds == 0 ? nil : timeToLiveMilliseconds)
  }
}

extension WriteClass {
  init(_ promise: WritePromise) {
    self =
      switch promise {
      case .durable: .durable
      case .accepted: .accepted
      }
  }
}

extension CaravanWire.LossTolerance {
  var store: CaravanAgentCore.LossTolerance {
    CaravanAgentCore.LossTolerance(
      maximumPermille: maximumPermille, timeToLiveMilliseconds: timeToLiveMilliseconds, isOnRequest: onRequest)
  }

  init(_ tolerance: CaravanAgentCore.LossTolerance) {
    self.init(
      maximumPermille: tolerance.maximumPermille, timeToLiveMilliseconds: tolerance.timeToLiveMilliseconds,
      onRequest: tolerance.isOnRequest)
  }
}

extension LossStatus {
  init(_ ledger: LossLedger) {
    self.init(
      tolerance: CaravanWire.LossTolerance(ledger.tolerance), accepted: ledger.accepted, settled: ledger.settled,
      expired: ledger.expired, lostInQueue: ledger.lostInQueue, lostToBusyServer: ledger.lostToServer)
  }
}

extension ReadRequest {
  /// - Throws: `invalidData` for an argument that is none.
  init(_ request: Select, table: TableID) throws(CaravanError) {
    self.init(
      table: table, columns: request.columns, selection: try request.selection?.store(),
      order: request.order.map { OrderTerm($0.column, isDescending: $0.descending) }, pageRows: Int(request.pageRows),
      isHeld: request.hold, isAside: request.aside)
    wantsAuthorship = request.authorship
  }
}

extension CaravanWire.Row {
  init(_ view: RowView) {
    let state: RowState =
      switch view.state {
      case .clean: .clean
      case .dirty: .dirty
      case .pending: .pending
      case .conflict: .conflict
      }
    self.init(
      id: view.id, version: view.version, state: state, cells: view.cells.map { Cell($0) },
      objects: view.objects.map { ObjectInfo(column: $0.column, size: $0.size) }, refused: view.refused)
    guard let authorship = view.authorship else { return }
    (modifiedMilliseconds, modifiedBy) = (UInt64(max(0, authorship.modified)), authorship.writer)
    (createdMilliseconds, createdBy) = (UInt64(max(0, authorship.created)), authorship.creator)
  }
}

extension RowPage {
  init(_ page: RowsPage) { self.init(cursor: page.cursor, rows: page.rows.map { Row($0) }, more: page.hasMore) }
}

extension ConflictRow {
  init(_ view: ConflictView) {
    self.init(
      mine: Row(view.mine), theirs: view.theirs.map { Row($0) }, ancestor: view.ancestor.map { Row($0) },
      mineDeleted: view.isMineDeleted)
  }
}

extension CaravanWire.RowCopy {
  var store: CaravanAgentStore.RowCopy {
    switch self {
    case .mine: .mine
    case .theirs: .theirs
    case .ancestor: .ancestor
    }
  }
}

extension Choice {
  var model: Resolution? {
    switch self {
    case .unspecified: nil
    case .mine: .mine
    case .theirs: .theirs
    case .new: .new
    }
  }
}

extension AgentStatus {
  init(_ device: SyncStatus, _ tables: [TableStatusView], isDiskFull: Bool) {
    let tables = tables.map { TableStatus($0, device) }
    self.init(
      device: device.device, user: device.user, link: LinkClass(device.link?.linkClass), connected: device.isConnected,
      tables: tables,
      counters: device.counters.map { CounterValue(name: $0.name, value: $0.value) },
      metered: device.link?.isMetered ?? false, linkIsAutomatic: device.isLinkAutomatic,
      policy: CaravanWire.NetworkPolicy(device.policy, spent: device.spent),
      usage: device.usage.map { LinkUsage($0) },
      mode: device.refusal == nil ? tables.map(\.mode).max { $0.rawValue < $1.rawValue } ?? .idle : .notRecoverable,
      diskIsFull: isDiskFull || !device.refusedByDisk.isEmpty,
      refused: device.refusal == nil ? "" : Admission.Refusal.reason,
      remedy: device.refusal == nil ? "" : Admission.Refusal.remedy,
      refusedSinceMilliseconds: UInt64(max(0, device.refusal?.since ?? 0)),
      linkIsAssumed: device.link.map { !$0.isKnown } ?? false, unreachable: device.unreachable ?? "")
  }
}

extension SyncEvent {
  init(_ report: SessionReport) {
    self.init(
      table: report.table.name, write: report.direction == .write, rowsSent: UInt64(report.counters.sent),
      deletionsSent: UInt64(report.counters.deleted), rowsReceived: UInt64(report.counters.received),
      resumed: report.isResumed, complete: report.isWhole, sessions: 1)
  }
}

extension LinkUsage {
  init(_ usage: SyncStatus.Usage) {
    self.init(
      link: LinkClass(usage.account.link), table: usage.account.table?.name ?? "", bytesUp: usage.bytes.up,
      bytesDown: usage.bytes.down)
  }
}

extension CaravanWire.NetworkPolicy {
  init(_ policy: CaravanAgentCore.NetworkPolicy, spent: [CaravanModel.LinkClass: UInt64]) {
    let budgets = policy.dailyBytes.sorted { $0.key < $1.key }.map { link, bytes in
      LinkBudget(link: LinkClass(link), dailyBytes: bytes, usedToday: spent[link] ?? 0)
    }
    self.init(maximumLink: LinkClass(policy.maximumLink), budgets: budgets)
  }

  var model: CaravanAgentCore.NetworkPolicy {
    get throws(CaravanError) {
      var budgets: [CaravanModel.LinkClass: UInt64] = [:]
      for budget in self.budgets {
        guard let link = budget.link.model else {
          throw CaravanError(.invalidData, "a budget needs a link: wired, wifi, cellular or roaming")
        }
        guard Int64(exactly: budget.dailyBytes) != nil else {
          throw CaravanError(.invalidData, "a budget of \(budget.dailyBytes) bytes is none: leave it out")
        }
        budgets[link] = budget.dailyBytes
      }
      return CaravanAgentCore.NetworkPolicy(maximumLink: maximumLink.model, dailyBytes: budgets)
    }
  }
}

extension TableStatus {
  init(_ view: TableStatusView, _ device: SyncStatus) {
    let mode = CaravanAgentCore.SyncMode(
      fault: view.fault, isResetting: view.isResyncing, isConnected: device.isConnected,
      isAtWork: device.atWork.contains(view.table))
    self.init(
      table: view.table.name, rows: UInt64(view.rows), dirty: UInt64(view.dirty), pending: UInt64(view.pending),
      conflicts: UInt64(view.conflicts), torn: UInt64(view.torn), lastSyncMilliseconds: UInt64(max(0, view.lastSync)),
      bytesUp: device.totals[view.table]?.up ?? 0, bytesDown: device.totals[view.table]?.down ?? 0,
      refused: view.refused.isEmpty ? device.refusedByDisk[view.table] ?? "" : view.refused,
      schema: view.schema.description, loss: view.loss.map { LossStatus($0) },
      properties: CaravanWire.TableProperties(view.properties),
      mode: view.properties.isLocalOnly ? .idle : CaravanWire.SyncMode(mode), remedy: view.fault?.remedy ?? "",
      tornRows: view.tornRows, waiting: UInt64(view.waiting), picksHere: view.picksHere, zoneIsGone: view.zoneIsGone,
      aside: UInt64(view.aside), cloudDamagedRows: view.cloudDamagedRows,
      settingChanges: view.settingChanges.map {
        CaravanWire.SettingChange(setting: $0.setting, was: $0.was, now: $0.now)
      })
  }
}

extension CaravanWire.SyncMode {
  init(_ mode: CaravanAgentCore.SyncMode) {
    self =
      switch mode {
      case .idle: .idle
      case .synchronizing: .synchronizing
      case .notConnected: .notConnected
      case .resetting: .resetting
      case .clientError: .clientError
      case .internalError: .internalError
      case .notRecoverable: .notRecoverable
      }
  }
}

extension CaravanWire.ResetChoice {
  var model: CaravanAgentCore.ResetChoice? {
    switch self {
    case .unspecified: nil
    case .keepLocal: .keepLocal
    case .takeServer: .takeServer
    }
  }
}
