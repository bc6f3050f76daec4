internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

extension Checker {
  /// What `status` and the metrics say is what crossed the bus, and what is in the store.
  static let figuresTrue = Checker("TRU-17 the agent's figures are what was counted beside it") { $0.end.falseFigures }
}

/// What a device's agent says of itself, and what was counted beside it, in one life of the agent.
struct Figures: Sendable {
  private static let patience = 30

  let device: SimulatedDevice
  let clock: any Clock

  /// Looks until nothing is on its way.
  /// - Returns: what differs.
  func problems() async throws -> [String] {
    var found: [String] = []
    for _ in 0..<Self.patience {
      guard let session = device.slot.session else { return [] }
      found = try await bytes(session) + linkBytes(session)
      if found.isEmpty { break }
      try await clock.sleep(for: .seconds(1))
    }
    guard let session = device.slot.session else { return [] }
    return (found + (try await rows(session))).map { "\(device.name): \($0)" }
  }

  /// Every byte belongs to a table or to the device itself.
  private func bytes(_ session: AgentSlot.Session) async throws -> [String] {
    let status = await session.engine.status()
    let counted = status.totals.values.reduce(into: UsageLedger.Bytes()) { $0 += $1 }
    let own = status.deviceTotal
    let before = session.totalsBefore.values.reduce(into: UsageLedger.Bytes()) { $0 += $1 }
    let carried = session.tap.carried
    let up = Int(counted.up + own.up) - Int(before.up)
    let down = Int(counted.down + own.down) - Int(before.down)
    var problems: [String] = []
    if (up, down) != (carried.up, carried.down) {
      problems.append("its tables say \(up) bytes up and \(down) down, \(carried.up) and \(carried.down) went")
    }
    for (table, bytes) in session.totalsBefore {
      let now = status.totals[table] ?? UsageLedger.Bytes()
      if now.up < bytes.up || now.down < bytes.down { problems.append("\(table) has carried less than before") }
    }
    let metrics = wireBytes(status) - session.wireBytesBefore
    if metrics != carried.up + carried.down {
      problems.append("its metrics say \(metrics) bytes, \(carried.up + carried.down) went")
    }
    return problems
  }

  private func wireBytes(_ status: SyncStatus) -> Int { Self.wireBytes(status.counters) }

  static func wireBytes(_ counters: [SyncStatus.Counter]) -> Int {
    counters.reduce(0) { $0 + ($1.name.hasPrefix("caravan_agent_wire_bytes_total") ? Int($1.value) : 0) }
  }

  /// Since all devices have had the same link, it has carried everything. A new day begins anew.
  private func linkBytes(_ session: AgentSlot.Session) async throws -> [String] {
    guard let mark = device.slot.mark, mark.life == session.life, mark.day == device.day else { return [] }
    let now = await session.engine.status().usage
    var problems: [String] = []
    for link in LinkClass.allCases {
      let (before, after) = (Self.carried(mark.usage, over: link), Self.carried(now, over: link))
      guard after >= before else { return [] }
      let carried = session.tap.carried
      let expected = link == mark.link ? carried.up + carried.down - mark.carried.up - mark.carried.down : 0
      if after - before != expected { problems.append("\(after - before) bytes over \(link.name), \(expected) went") }
    }
    return problems
  }

  private static func carried(_ usage: [SyncStatus.Usage], over link: LinkClass) -> Int {
    usage.reduce(0) { $0 + ($1.account.link == link ? Int($1.bytes.up + $1.bytes.down) : 0) }
  }

  /// At the end nothing waits, and the rows that a table counts are those that it shows.
  private func rows(_ session: AgentSlot.Session) async throws -> [String] {
    var problems: [String] = []
    for table in await session.store.syncedTables() {
      guard let status = try await session.store.status(of: table.app).first(where: { $0.table == table }) else {
        continue
      }
      var page = try await session.store.beginRead(ReadRequest(table: table), owner: App.owner)
      var rows = page.rows
      while page.hasMore {
        page = try await session.store.nextPage(page.cursor, owner: App.owner)
        rows += page.rows
      }
      let states = Dictionary(grouping: rows, by: \.state).mapValues(\.count)
      if status.rows != rows.count { problems.append("\(table) counts \(status.rows) rows and shows \(rows.count)") }
      if status.conflicts < states[.conflict] ?? 0 || status.pending < states[.pending] ?? 0 {
        problems.append("\(table) counts \(status.conflicts) conflicts and \(status.pending) pending, shows \(states)")
      }
    }
    return problems
  }
}

extension SimulatedDevice {
  /// As its own clock has it.
  fileprivate var day: Int64 { part.machine.host.clock.wallTime.milliseconds / UsageLedger.dayMilliseconds }

  /// From here on its link does not change.
  func markFigures() async {
    guard let session = slot.session, let link = slot.link else { return slot.remember(mark: nil) }
    // Nothing may be on its way that is paid for by another link, or is counted later.
    for _ in 0..<300 {
      let before = session.tap.carried
      try? await part.machine.host.clock.sleep(for: .milliseconds(100))
      let usage = await session.engine.status().usage
      guard before.inFlight == 0, before == session.tap.carried else { continue }
      return slot.remember(
        mark: AgentSlot.Mark(life: session.life, link: link, usage: usage, carried: before, day: day))
    }
    slot.remember(mark: nil)
  }
}
