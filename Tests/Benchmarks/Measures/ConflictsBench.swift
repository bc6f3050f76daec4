internal import CaravanClient
internal import CaravanModel
internal import CaravanRuntime

/// Devices of one user that change one row at once, until all have the same (BEN-05): each resolves its conflicts as
/// the figure says. The floor is as many devices that change a row each.
///
/// The clock runs from the writes to the moment when every device has what the cloud has. Nothing is synced behind the
/// apps' backs: each says when, as often as it takes; a round is one way up and down of the device that needs the most.
struct ConflictsBench: Sendable {
  let suite: BenchSuite
  let report: BenchReport
  let rounds: Int

  private static let deviceCounts = [2, 3, 5, 10, 20]

  private struct Figures {
    var times = Samples()
    var rounds = 0
  }

  func run() async throws {
    var places: [(socket: String, app: String)] = []
    for number in 0..<(Self.deviceCounts.max() ?? 0) {
      places.append((try await suite.agent("conflict-\(number)", user: "conflict"), "bench"))
    }
    try await withClients(of: places) { clients in
      var tables: [Table] = []
      for client in clients {
        tables.append(try await client.createTable("conflicts", "name VARCHAR PRIMARY KEY, text VARCHAR"))
      }
      for count in Self.deviceCounts { try await measure(Array(tables.prefix(count))) }
    }
  }

  private func measure(_ tables: [Table]) async throws {
    for number in tables.indices { try await tables[0].write(["name": .text("\(number)"), "text": .text("old")]) }
    try await tables[0].writeSyncNow()
    try await together(tables) { table, _ in try await table.readSyncNow() }
    let floor = try await figures(tables) { number in ("\(number)", nil) }
    let theirs = try await figures(tables) { _ in ("0", .theirs) }
    let mine = try await figures(tables) { _ in ("0", .mine) }
    for (figure, ours) in [("no conflict", floor), ("theirs", theirs), ("mine", mine)] {
      report.line(
        "\(tables.count) devices, \(figure)",
        ["p50_ms": ours.times.p50, "p99_ms": ours.times.p99, "rounds": Double(ours.rounds) / Double(rounds)],
        floor: ["no_conflict_p50_ms": floor.times.p50])
    }
    try await tables[0].delete(.all)
    try await tables[0].writeSyncNow()
  }

  /// - Parameter plan: which row a device changes, and how it resolves; nil: it has nothing to.
  private func figures(
    _ tables: [Table], _ plan: @escaping @Sendable (Int) -> (row: String, resolution: Resolution?)
  ) async throws -> Figures {
    var figures = Figures()
    for trial in 0..<rounds {
      let start = suite.host.clock.now
      let needed = try await together(tables) { table, number in
        let (row, resolution) = plan(number)
        try await table.update(.init("name=?", [.text(row)]), ["text": .text("\(trial) of \(number)")]) { _ in }
        return try await settle(table, resolution)
      }
      // Whoever was quick has not seen what came later.
      try await together(tables) { table, _ in try await table.readSyncNow() }
      figures.times.add(suite.host.clock.now - start)
      figures.rounds += needed.max() ?? 0
      try await confirmEquality(of: tables, trial)
    }
    return figures
  }

  /// - Returns: after how many rounds the cloud has taken the device's change, or the device the cloud's.
  private func settle(_ table: Table, _ resolution: Resolution?) async throws -> Int {
    var rounds = 0
    while true {
      rounds += 1
      try await table.writeSyncNow()
      guard let resolution else { return rounds }
      let count = try await table.withConflictResolution { open in
        let conflicts = try await open.conflicts()
        for conflict in conflicts { try await open.resolve(conflict.mine.id, resolution) }
        return conflicts.count
      }
      // Who takes the cloud's copy has it now, and nothing to send.
      if case .theirs = resolution { return rounds }
      if count == 0 { return rounds }
    }
  }

  private func confirmEquality(of tables: [Table], _ trial: Int) async throws {
    let contents = try await together(tables) { table, _ in
      try await table.rows(orderBy: [("name", false)]).all().map { "\($0["text"]) \($0.state)" }
    }
    guard contents.allSatisfy({ $0 == contents[0] }), contents[0].contains(where: { $0.contains("\(trial) of") }) else {
      throw CaravanError(.internalError, "the devices have not converged: \(contents)")
    }
  }

  /// - Returns: in the order of the tables.
  @discardableResult
  private func together<Value: Sendable>(
    _ tables: [Table], _ body: @escaping @Sendable (Table, Int) async throws -> Value
  ) async throws -> [Value] {
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
      for (number, table) in tables.enumerated() { group.addTask { (number, try await body(table, number)) } }
      var values: [Int: Value] = [:]
      for try await (number, value) in group { values[number] = value }
      return tables.indices.compactMap { values[$0] }
    }
  }
}
