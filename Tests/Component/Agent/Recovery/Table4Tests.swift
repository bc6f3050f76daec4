import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanSQLite
import CaravanTestKit
import Testing

/// Goal: Simba's Table 4. Method: the 32 states of TD, OD, OO, SP, CF, each with the printed row, action and flags
/// after it; a store's file is put into each of them, opened, and asked.
@Suite("Table 4")
struct Table4Tests {
  private static func flags(_ td: Int, _ od: Int, _ oo: UInt32, _ sp: Int, _ cf: Int) -> RowFlags {
    RowFlags(tableDirty: td == 1, objectDirty: od == 1, openObjects: oo, syncPending: sp == 1, inConflict: cf == 1)
  }

  private static func text(_ flags: RowFlags) -> String {
    func bit(_ name: String, _ isSet: Bool) -> String { "\(name)=\(isSet ? 1 : 0)" }
    let open = flags.openObjects > 0 ? "OO>0" : "OO=0"
    return [
      bit("TD", flags.tableDirty), bit("OD", flags.objectDirty), open, bit("SP", flags.syncPending),
      bit("CF", flags.inConflict),
    ].joined(separator: " ")
  }

  enum Action: Sendable {
    case nothing, conflictUpcall, startUpstream, restartUpstream, restoreTorn
  }

  struct Line: Sendable, CustomTestStringConvertible {
    /// As printed; 0: not printed.
    let row: Int
    let before: RowFlags
    /// Nil: no history leads here.
    let action: Action?
    /// What was in a push goes with its objects: nobody knows any more whether it carried some. What is torn and in
    /// conflict keeps what it had to say (E8).
    let after: RowFlags
    var testDescription: String {
      let state = Table4Tests.text(before)
      guard let action else { return "not printed: \(state) cannot be" }
      return "row \(row): \(state) → \(action), \(Table4Tests.text(after))"
    }
  }

  static let lines: [Line] = {
    typealias F = Table4Tests
    func line(
      _ row: Int, _ f: (Int, Int, UInt32, Int, Int), _ action: Action?, _ a: (Int, Int, UInt32, Int, Int)
    ) -> Line {
      Line(row: row, before: F.flags(f.0, f.1, f.2, f.3, f.4), action: action, after: F.flags(a.0, a.1, a.2, a.3, a.4))
    }
    var all = [
      line(1, (0, 0, 0, 0, 0), .nothing, (0, 0, 0, 0, 0)),
      line(2, (0, 0, 0, 0, 1), .conflictUpcall, (0, 0, 0, 0, 1)),
      line(3, (0, 0, 0, 1, 0), .restartUpstream, (1, 1, 0, 0, 0)),
      line(4, (0, 0, 2, 0, 0), .nothing, (0, 0, 0, 0, 0)),
      line(5, (0, 0, 2, 0, 1), .conflictUpcall, (0, 0, 0, 0, 1)),
      line(6, (0, 0, 2, 1, 0), .restartUpstream, (1, 1, 0, 0, 0)),
      line(7, (0, 1, 0, 0, 0), .startUpstream, (0, 1, 0, 0, 0)),
      line(8, (0, 1, 0, 0, 1), .conflictUpcall, (0, 1, 0, 0, 1)),
      line(9, (0, 1, 0, 1, 0), .restartUpstream, (1, 1, 0, 0, 0)),
      line(10, (0, 1, 2, 0, 0), .restoreTorn, (0, 0, 0, 0, 0)),
      line(10, (0, 1, 2, 0, 1), .restoreTorn, (0, 1, 0, 0, 1)),
      line(11, (0, 1, 2, 1, 0), .restoreTorn, (0, 0, 0, 0, 0)),
      line(12, (1, 0, 0, 0, 0), .startUpstream, (1, 0, 0, 0, 0)),
      line(13, (1, 0, 0, 0, 1), .conflictUpcall, (1, 0, 0, 0, 1)),
      line(14, (1, 0, 0, 1, 0), .restartUpstream, (1, 1, 0, 0, 0)),
      line(15, (1, 0, 2, 0, 0), .startUpstream, (1, 0, 0, 0, 0)),
      line(16, (1, 0, 2, 0, 1), .conflictUpcall, (1, 0, 0, 0, 1)),
      line(17, (1, 0, 2, 1, 0), .restartUpstream, (1, 1, 0, 0, 0)),
      line(18, (1, 1, 0, 0, 0), .startUpstream, (1, 1, 0, 0, 0)),
      line(19, (1, 1, 0, 0, 1), .conflictUpcall, (1, 1, 0, 0, 1)),
      line(20, (1, 1, 0, 1, 0), .restartUpstream, (1, 1, 0, 0, 0)),
      line(21, (1, 1, 2, 0, 0), .restoreTorn, (0, 0, 0, 0, 0)),
      line(21, (1, 1, 2, 0, 1), .restoreTorn, (1, 1, 0, 0, 1)),
      line(22, (1, 1, 2, 1, 0), .restoreTorn, (0, 0, 0, 0, 0)),
    ]
    for (td, od, oo) in [(0, 0, 0), (0, 0, 2), (0, 1, 0), (0, 1, 2), (1, 0, 0), (1, 0, 2), (1, 1, 0), (1, 1, 2)] {
      all.append(line(0, (td, od, UInt32(oo), 1, 1), nil, (td, od, UInt32(oo), 1, 1)))
    }
    return all
  }()

  @Test("SIM-73: what the store makes of a row that a crash has left so", arguments: lines)
  func recovery(line: Line) async throws {
    guard let action = line.action else { return #expect(CrashRecovery.of(line.before) == nil) }
    try await StoreFixture.with { f in
      let row = try await f.write("x", photo: [1, 2, 3])
      try await f.crash { directory in
        // As a row that the cloud has.
        let database = try Connection(.file("\(directory)/agent.db"))
        defer { database.close() }
        try database.execute("UPDATE \"album/photos\" SET _flags = \(line.before.packed), _version = 5")
      }
      let status = try #require(try await f.store.status(of: StoreFixture.app).first)
      let view = try #require(try await f.rows(Selection("_id = ?", [.text(row)])).first)
      let seen = (status.conflicts, status.dirty, status.pending, status.torn)
      switch action {
      case .nothing, .restoreTorn:
        #expect(seen == (line.after.inConflict ? 1 : 0, line.after.isDirty ? 1 : 0, 0, 0))
      case .conflictUpcall: #expect(seen.0 == 1 && seen.2 == 0 && seen.3 == 0 && view.state == .conflict)
      case .startUpstream, .restartUpstream: #expect(seen == (0, 1, 0, 0) && view.state == .dirty)
      }
      await f.store.close()
      let stored = try Connection(.file("\(f.directory.path)/agent.db"))
      let flags = try stored.first("SELECT _flags FROM \"album/photos\"") { $0.integer(0) }
      stored.close()
      #expect(RowFlags(packed: try #require(flags)) == line.after)
      try await f.crash()
    }
  }

  @Test("E8, UNI-17: a torn row's last closed version keeps what the cloud does not have of it, and nothing else")
  func closedVersions() {
    for line in Self.lines where line.action == .restoreTorn {
      let synced = CrashRecovery.closed(line.before, isUnsynced: false)
      #expect(synced == RowFlags(inConflict: line.before.inConflict))
      let unsynced = CrashRecovery.closed(line.before, isUnsynced: true)
      #expect(unsynced.tableDirty == line.before.tableDirty && unsynced.objectDirty)
      #expect(unsynced.openObjects == 0 && !unsynced.syncPending)
    }
  }

  @Test("SIM-73: 32 states, 24 reachable in 22 printed rows, 8 unreachable")
  func counts() {
    #expect(Set(Self.lines.map(\.before)).count == 32)
    #expect(Self.lines.filter { $0.action != nil }.count == 24)
    #expect(Set(Self.lines.map(\.row)).subtracting([0]).count == 22)
    #expect(Self.lines.filter { $0.action == nil }.allSatisfy { $0.before.syncPending && $0.before.inConflict })
  }

  @Test("SIM-51: flags survive being stored, and collectable rows are those of 1, 2 and 3")
  func packing() {
    for line in Self.lines {
      #expect(RowFlags(packed: line.before.packed) == line.before)
      #expect(line.before.isCollectable == (1...3).contains(line.before.packed))
    }
  }
}
