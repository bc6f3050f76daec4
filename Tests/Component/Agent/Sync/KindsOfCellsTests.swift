import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: what an app of one device puts into a row, an app of another finds in it, of whichever kind it is (CK-07).
/// Method: devices with real stores and the real services behind them, in one simulated cluster.
@Suite struct KindsOfCellsTests {
  private static let table = TableID(app: ContainerID(unchecked: "photos"), name: "kinds")
  private static let schema = "name VARCHAR PRIMARY KEY, t VARCHAR, i INTEGER, r FLOAT, b BLOB, o OBJECT, \(listed)"
  private static let listed = """
    at LOCATION, d DATE, p REFERENCE, lt LIST<VARCHAR>, li LIST<INTEGER>, lr LIST<FLOAT>, lb LIST<BLOB>, \
    ld LIST<DATE>, la LIST<LOCATION>, lp LIST<REFERENCE>
    """
  private static let columns = [
    "t", "i", "r", "b", "at", "d", "p", "lt", "li", "lr", "lb", "ld", "la", "lp",
  ]

  private static func join(_ device: RunningDevice) async throws {
    try await device.store.createTable(table, schema: try SchemaText(parsing: schema), localOnly: false)
    for direction in Direction.allCases {
      let at = SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .roaming)
      try await device.store.register(table, direction, at)
    }
    await device.agent.engine.registrationsChanged(of: table)
  }

  private static let rows: [String: [String: Value]] = [
    "nothing": [:],
    "empty": ["t": .text(""), "i": .integer(0), "r": .real(0), "b": .data([])],
    "least": ["i": .integer(.min), "r": .real(.leastNonzeroMagnitude), "b": .data([0])],
    "most": ["i": .integer(.max), "r": .real(.greatestFiniteMagnitude), "b": .data([255, 0, 255])],
    "endless": ["r": .real(-.infinity), "i": .integer(1 << 53 + 1)],
    "long": [
      "t": .text(String(repeating: "é🚋", count: 9_000)), "b": .data([UInt8](repeating: 0x80, count: 70_000)),
    ],
    "precise": ["r": .real(0.1), "i": .integer(-1), "t": .text("Zürich 東京")],
    "placed": [
      "at": place(52.5, 13.4), "d": .integer(1_795_773_600_000), "p": .reference(Reference(to: "nowhere yet")),
    ],
    "origin": ["at": place(0, 0), "d": .integer(0), "lt": .list([]), "la": .list([place(0, 0), place(-90, 180)])],
    "listed": [
      "lt": .list([.text("a"), .text(""), .text("é")]), "li": .list([.integer(.min), .integer(0)]),
      "lr": .list([.real(-0.5), .real(.infinity)]), "lb": .list([.data([]), .data([0])]),
      "ld": .list([.integer(-1), .integer(1)]),
      "lp": .list([.reference(Reference(to: "x")), .reference(Reference(to: "y z"))]),
    ],
  ]

  private static func place(_ latitude: Double, _ longitude: Double) -> Value {
    (try? Location(latitude: latitude, longitude: longitude)).map(Value.location) ?? .null
  }

  /// Cells by name of the row and column, without those that are null.
  private static func cells(_ device: RunningDevice) async throws -> [String: [String: Value]] {
    var found: [String: [String: Value]] = [:]
    for row in try await device.store.beginRead(ReadRequest(table: table), owner: 1).rows {
      var cells: [String: Value] = [:]
      for cell in row.cells where cell.value != .null { cells[cell.column] = cell.value }
      guard case .text(let name)? = cells.removeValue(forKey: "name") else { continue }
      found[name] = cells
    }
    return found
  }

  @Test("CK-07: values of every kind of column come to another device, and back changed; null is nothing again")
  func values() throws {
    let suite = try SuiteCluster(seed: 3)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] { try await Self.join(device) }
      for (name, cells) in Self.rows.sorted(by: { $0.key < $1.key }) {
        let values = cells.sorted { $0.key < $1.key }.map { CellValue($0.key, $0.value) }
        try await a.store.write(Self.table, cells: [CellValue("name", .text(name))] + values)
      }
      try await b.until("all rows are at b", within: .seconds(30)) { try await Self.cells(b).count == Self.rows.count }
      let found = try await Self.cells(b)
      for (name, cells) in Self.rows { #expect(found[name] == cells, "\(name)") }

      // Each becomes what another was, and the first nothing.
      let names = Self.rows.keys.sorted()
      var changed: [String: [String: Value]] = [:]
      for (name, other) in zip(names, names.dropFirst() + names.prefix(1)) {
        let cells = Self.columns.map { CellValue($0, Self.rows[other]?[$0] ?? .null) }
        try await b.store.write(Self.table, cells: cells, selection: Selection("name = ?", [.text(name)]))
        changed[name] = Self.rows[other]
      }
      try await a.until("a has what b made of it", within: .seconds(30)) { try await Self.cells(a) == changed }
    }
  }

  @Test("CK-07: objects of every size come to another device byte for byte, and go with the row that has them")
  func objects() throws {
    let suite = try SuiteCluster(seed: 4)
    try suite.cluster.run(deadline: .seconds(3_600)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] { try await device.createTable() }
      for device in [a, b] { try await device.register() }
      var random = SplitMix64(seed: 9)
      for size in [1, 100, 70_000, 1_500_000] {
        let bytes = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        try await a.writePhoto("p\(size)", bytes)
        try await b.until("\(size) bytes are at b", within: .seconds(60)) { try await b.photo("p\(size)") == bytes }
      }
      try await b.delete("p70000")
      try await a.until("it is gone") { try await a.photo("p70000") == nil }
      #expect(try await a.photo("p100")?.count == 100)
    }
  }
}
