import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: what refers to a row goes with it, or keeps it, as the app has said, on every device (CK-27, CK-28). Method:
/// devices with real stores and the real services behind them, in one simulated cluster.
@Suite("References between devices", .timeLimit(.minutes(3))) struct ReferenceTests {
  private static let tree = TableID(app: ContainerID(unchecked: "photos"), name: "tree")
  private static let schema = "name VARCHAR, parent REFERENCE, others LIST<REFERENCE>"

  private static func pair(_ suite: SuiteCluster) async throws -> (RunningDevice, RunningDevice) {
    let (a, b) = (try await suite.start("a"), try await suite.start("b"))
    for device in [a, b] {
      try await device.store.createTable(tree, schema: try SchemaText(parsing: schema), localOnly: false)
      for direction in Direction.allCases {
        let at = SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .roaming)
        try await device.store.register(tree, direction, at)
      }
      await device.agent.engine.registrationsChanged(of: tree)
    }
    return (a, b)
  }

  private static func write(
    _ device: RunningDevice, _ name: String, _ parent: String? = nil, _ kind: Reference.Kind = .owning
  ) async throws -> String {
    var cells = [CellValue("name", .text(name))]
    if let parent { cells.append(CellValue("parent", .reference(Reference(to: parent, kind)))) }
    return try await device.store.write(tree, cells: cells)[0]
  }

  private static func change(_ device: RunningDevice, _ name: String, _ column: String, _ value: Value) async throws {
    try await device.store.write(
      tree, cells: [CellValue(column, value)], selection: Selection("name = ?", [.text(name)]))
  }

  private static func delete(_ device: RunningDevice, _ name: String) async throws {
    try await device.store.delete(tree, selection: Selection("name = ?", [.text(name)]))
  }

  private static func names(_ device: RunningDevice) async throws -> Set<String> {
    let rows = try await device.store.beginRead(ReadRequest(table: tree), owner: 1).rows
    return Set(rows.compactMap { $0.cells[0].value.textValue })
  }

  private static func status(_ device: RunningDevice) async throws -> TableStatusView? {
    try await device.store.status(of: tree.app).first { $0.table == tree }
  }

  private static func isSettled(_ device: RunningDevice) async throws -> Bool {
    guard let status = try await status(device) else { return false }
    return status.dirty + status.pending + status.conflicts == 0
  }

  @Test("CK-27: written offline in any order, rows and those that they refer to come to the cloud, and none is refused")
  func offline() throws {
    let suite = try SuiteCluster(seed: 31)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b) = try await Self.pair(suite)
      await a.agent.engine.linkChanged(to: nil)
      let root = try await Self.write(a, "root")
      let middle = try await Self.write(a, "middle", root)
      _ = try await Self.write(a, "leaf", middle, .validating)
      let list = Value.list([.reference(Reference(to: middle, .owning)), .reference(Reference(to: root))])
      try await Self.change(a, "leaf", "others", list)
      let circle = try await Self.write(a, "circle", root, .validating)
      try await Self.change(a, "root", "others", .list([.reference(Reference(to: circle, .validating))]))
      try await Self.change(a, "middle", "name", .text("middle"))
      try await Self.change(a, "root", "name", .text("root"))
      await a.agent.engine.linkChanged(to: Link(.wired))
      try await b.until("all rows are at b", within: .seconds(60)) { try await Self.names(b).count == 4 }
      try await a.until("a has sent all", within: .seconds(60)) { try await Self.isSettled(a) }
      #expect(try await Self.status(a)?.refused == "")
    }
  }

  @Test("CK-27: a row that is deleted takes along what it owns, here and elsewhere, and the app hears of it")
  func cascade() throws {
    let suite = try SuiteCluster(seed: 32)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b) = try await Self.pair(suite)
      let root = try await Self.write(a, "root")
      let middle = try await Self.write(a, "middle", root)
      _ = try await Self.write(a, "leaf", middle)
      _ = try await Self.write(a, "free", root, .plain)
      try await b.until("all rows are at b", within: .seconds(60)) { try await Self.names(b).count == 4 }
      let told = try await b.store.told(of: Self.tree)
      try await Self.delete(a, "root")
      for device in [a, b] {
        try await device.until("\(device.name) has what is left", within: .seconds(60)) {
          try await Self.names(device) == ["free"]
        }
        try await device.until("nothing waits", within: .seconds(60)) { try await Self.isSettled(device) }
      }
      let upcalls = try await b.store.upcalls(of: Self.tree, after: told)
      #expect(upcalls.changed.names.contains(middle) && upcalls.lost.count == 0)

      // What was changed here meanwhile is a conflict, as with any deletion from elsewhere.
      let second = try await Self.write(a, "second")
      _ = try await Self.write(a, "child", second)
      try await b.until("they are at b", within: .seconds(60)) { try await Self.names(b).count == 3 }
      await b.agent.engine.linkChanged(to: nil)
      try await Self.change(b, "child", "name", .text("changed"))
      try await Self.delete(a, "second")
      try await a.until("a has sent it", within: .seconds(60)) { try await Self.names(a) == ["free"] }
      await b.agent.engine.linkChanged(to: Link(.wired))
      try await b.until("b sees the conflict", within: .seconds(60)) { try await Self.status(b)?.conflicts == 1 }
      #expect(try await b.store.conflicts(Self.tree).first.map { $0.theirs == nil } == true)
    }
  }

  @Test("CK-28: a row that another one validates is not deleted: the table says why, and it goes once nobody does")
  func validating() throws {
    let suite = try SuiteCluster(seed: 33)
    try suite.cluster.run(deadline: .seconds(7_200)) {
      let (a, b) = try await Self.pair(suite)
      let root = try await Self.write(a, "root")
      let child = try await Self.write(a, "child", root, .validating)
      try await b.until("both are at b", within: .seconds(60)) { try await Self.names(b).count == 2 }
      try await Self.delete(a, "root")
      try await a.until("the cloud has refused it", within: .seconds(60)) {
        try await Self.status(a)?.refused.isEmpty == false
      }
      let status = try #require(try await Self.status(a))
      #expect(status.refused.contains("'\(root)' cannot be deleted while '\(child)' refers to it"))
      #expect(status.dirty == 1 && status.fault == nil)
      let error = await #expect(throws: CaravanError.self) {
        try await a.agent.engine.syncNow(Self.tree, write: true, read: false)
      }
      #expect(error?.code == .referenceViolation)
      #expect(try await Self.names(b) == ["root", "child"])
      try await Self.change(a, "child", "parent", .null)
      for device in [a, b] {
        try await device.until("the row is gone from \(device.name)", within: .seconds(600)) {
          try await Self.names(device) == ["child"]
        }
      }
      try await a.until("nothing waits", within: .seconds(60)) { try await Self.isSettled(a) }
    }
  }

  @Test(
    "CK-28: a row that refers to one that is gone is refused, says so where it is read, and goes when it is changed")
  func dangling() throws {
    let suite = try SuiteCluster(seed: 34)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b) = try await Self.pair(suite)
      _ = try await Self.write(a, "lost", "nobody", .validating)
      func refused() async throws -> String {
        try await a.store.beginRead(ReadRequest(table: Self.tree), owner: 1).rows.first?.refused ?? ""
      }
      try await a.until("the cloud has refused it", within: .seconds(60)) { try await !refused().isEmpty }
      #expect(try await refused().contains("refers to 'nobody', which is not in the zone"))
      try await Self.change(a, "lost", "parent", .reference(Reference(to: "nobody")))
      try await b.until("it is at b", within: .seconds(60)) { try await Self.names(b) == ["lost"] }
      #expect(try await refused() == "")
    }
  }
}
