import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import Testing

/// Goal: a reset and its resync lose nothing that was written here, and bring nothing back that was deleted there.
@Suite("Resync after a reset")
struct ResyncTests {
  private typealias F = StoreFixture

  private static let dirty = RowFlags(tableDirty: true)
  private static let contested = RowFlags(tableDirty: true, inConflict: true)

  struct Case: Sendable {
    let name: String
    let head: RowHead
    let reset: RowHead
    let absence: RowHead.Absence
  }

  static let cases: [Case] = [
    Case(
      name: "UNI-18 clean", head: RowHead(version: 5), reset: RowHead(version: 5, presence: .unconfirmed),
      absence: .remove),
    Case(
      name: "I9 changed", head: RowHead(flags: dirty, version: 5),
      reset: RowHead(flags: dirty, version: 5, presence: .unconfirmed), absence: .conflict),
    Case(
      name: "I10 new", head: RowHead(flags: dirty), reset: RowHead(flags: dirty), absence: .stay),
    Case(
      name: "deleted here", head: RowHead(flags: dirty, version: 5, presence: .deleted),
      reset: RowHead(flags: dirty, version: 5, presence: .deletedUnconfirmed), absence: .remove),
    Case(
      name: "I8 in conflict", head: RowHead(flags: contested, version: 5),
      reset: RowHead(flags: dirty, version: 5, presence: .unconfirmed), absence: .conflict),
    Case(
      name: "I8 new on both sides", head: RowHead(flags: contested),
      reset: RowHead(flags: dirty, presence: .unconfirmed), absence: .conflict),
    Case(
      name: "torn", head: RowHead(version: 5, presence: .torn), reset: RowHead(presence: .torn), absence: .remove),
    Case(
      name: "torn and changed", head: RowHead(flags: dirty, version: 5, presence: .torn),
      reset: RowHead(flags: dirty, presence: .torn), absence: .conflict),
    Case(
      name: "reset again, clean", head: RowHead(presence: .unconfirmed), reset: RowHead(presence: .unconfirmed),
      absence: .remove),
    Case(
      name: "reset again, changed", head: RowHead(flags: dirty, presence: .unconfirmed),
      reset: RowHead(flags: dirty, presence: .unconfirmed), absence: .conflict),
  ]

  @Test("UNI-18, I9, I10: what a reset makes of a row, and the end of the resync if unnamed", arguments: cases.indices)
  func unnamed(index: Int) {
    let line = Self.cases[index]
    var head = line.head
    head.reset()
    #expect(head == line.reset, "\(line.name)")
    #expect(head.endResync() == line.absence, "\(line.name)")
    guard line.absence == .conflict else { return }
    #expect(head.flags.inConflict && !head.flags.isCollectable && head.presence != .unconfirmed, "\(line.name)")
  }

  @Test("UNI-18: what a page that names the row does to it")
  func named() {
    let changed = RowHead(flags: Self.dirty, version: 5, presence: .unconfirmed)
    let deleted = RowHead(flags: Self.dirty, version: 5, presence: .deletedUnconfirmed)
    func decision(_ arrival: Arrival, at head: RowHead) -> ArrivalDecision {
      ArrivalDecision.of(arrival, at: head, isBusy: false)
    }
    #expect(decision(Arrival(version: 9), at: changed) == .conflict)
    #expect(decision(Arrival(version: 9, isDeleted: true), at: changed) == .conflict)
    #expect(decision(Arrival(version: 9, likeness: .local), at: changed) == .apply)
    #expect(decision(Arrival(version: 5, origin: .own), at: changed) == .adopt)
    #expect(decision(Arrival(version: 4, origin: .own), at: changed) == .unexplained, "not what it was made from")
    #expect(decision(Arrival(version: 4), at: RowHead(version: 5, presence: .unconfirmed)) == .apply)
    #expect(decision(Arrival(version: 9, likeness: .ancestor), at: changed) == .adopt, "as it was when it was changed")
    #expect(decision(Arrival(version: 9, likeness: .ancestor), at: deleted) == .adopt)
    #expect(decision(Arrival(version: 9, isDeleted: true), at: deleted) == .remove)
    #expect(decision(Arrival(version: 9), at: RowHead(presence: .unconfirmed)) == .apply)
    var adopted = changed.adopting(9)
    #expect(adopted == RowHead(flags: Self.dirty, version: 9) && adopted.endResync() == .stay)
    var contested = changed
    contested.contest()
    #expect(contested == RowHead(flags: Self.contested) && contested.endResync() == .stay)
  }

  @Test("I9: a change or a deletion meanwhile is one of a row that the cloud had")
  func changedMeanwhile() {
    var head = RowHead(presence: .unconfirmed)
    #expect(head.write(RowChange(cells: true, objects: false)) == .keepAncestor)
    #expect(head == RowHead(flags: Self.dirty, presence: .unconfirmed))
    #expect(head.endResync() == .conflict)
    head = RowHead(presence: .unconfirmed)
    #expect(head.delete() == .keepAncestor)
    #expect(head == RowHead(flags: Self.dirty, presence: .deletedUnconfirmed))
    #expect(head.endResync() == .remove)
    #expect(head.write(RowChange(cells: true, objects: false)) == .none && head.presence == .unconfirmed)
    #expect(head.endResync() == .conflict, "what was written over is deleted there")
    head = RowHead(flags: Self.dirty, presence: .unconfirmed)
    #expect(head.delete() == .none)
    #expect(head.endResync() == .remove)
  }

  // MARK: In a store

  private static let change = [CellValue("date", .integer(1))]

  private static func change(_ name: String, _ f: StoreFixture) async throws {
    try await f.store.write(F.photos, cells: change, selection: Selection("name = ?", [.text(name)]))
  }

  /// Rows that the cloud has: left alone, changed, deleted, in conflict; and one that is new.
  private static func fill(_ f: StoreFixture) async throws -> [String: String] {
    var rows: [String: String] = [:]
    for (version, name) in ["clean", "changed", "deleted", "contested"].enumerated() {
      rows[name] = try await f.synced(name, version: UInt64(version + 1))
    }
    try await change("changed", f)
    try await change("contested", f)
    try await f.apply([F.entry(rows["contested"] ?? "", 9, "theirs")], token: [9])
    try await f.store.delete(F.photos, selection: Selection("name = 'deleted'"))
    rows["new"] = try await f.write("new")
    return rows
  }

  @Test("I9, I10: after a resync that names nothing only what is new is sent, changed rows are in conflict")
  func namesNothing() async throws {
    try await F.with { f in
      try await f.agree()
      let rows = try await Self.fill(f)
      try await f.store.reset(F.photos)
      #expect(try await Set(f.names()) == ["clean", "changed", "contested", "new"])
      #expect(try await f.collect() == nil, "nothing is sent before the end of the resync")
      #expect(try await f.store.syncState(of: F.photos).dirtyRows == 0)
      try await f.store.reset(F.photos)
      let summary = try await f.apply([])
      #expect(summary.removed == 1 && summary.conflicts == 2)
      #expect(try await f.store.syncState(of: F.photos).dirtyRows == 1)
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.map(\.name) == [rows["new"]] && plan.mutations[0].base == .absent)
      try await f.accept(plan, from: 20)
      let conflicts = try await f.store.conflicts(F.photos)
      #expect(Set(conflicts.map(\.mine.id)) == Set([rows["changed"], rows["contested"]].compactMap(\.self)))
      #expect(conflicts.allSatisfy { $0.theirs == nil && !$0.isMineDeleted && $0.ancestor != nil })
    }
  }

  @Test("I9, SIM-25: a decision counts against the copy that was looked at, not what a reset brings")
  func decidedBeforeReset() async throws {
    try await F.with { f in
      try await f.agree()
      let contested = try #require(try await Self.fill(f)["contested"])
      try await f.store.beginResolution(F.photos, owner: 1)
      try await f.store.resolve(F.photos, row: contested, .mine, owner: 1)
      try await f.store.reset(F.photos)
      try await f.apply([])
      await #expect {
        try await f.store.endResolution(F.photos, owner: 1)
      } throws: { ($0 as? CaravanError)?.code == .notInConflictResolution }
      #expect(try await f.store.conflicts(F.photos).contains { $0.mine.id == contested && $0.theirs == nil })
      #expect(try await f.collect()?.mutations.contains { $0.name == contested } == false)
    }
  }

  @Test("UNI-18: rows named as they were go on as if nothing had been; versions may have begun anew")
  func namesAll() async throws {
    try await F.with { f in
      try await f.agree()
      let rows = try await Self.fill(f)
      try await f.store.reset(F.photos)
      let page = ["clean", "changed", "deleted", "contested"].enumerated().map { version, name in
        F.entry(rows[name] ?? "", UInt64(version + 1), name)
      }
      let summary = try await f.apply(page)
      #expect(summary.removed == 0 && summary.conflicts == 0)
      let plan = try #require(try await f.collect())
      #expect(
        Dictionary(uniqueKeysWithValues: plan.mutations.map { ($0.name, $0.base) }) == [
          rows["changed"] ?? "": .version(2), rows["deleted"] ?? "": .version(3), rows["contested"] ?? "": .version(4),
          rows["new"] ?? "": .absent,
        ])
      try await f.accept(plan, from: 20)
    }
  }

  @Test("I10: a crash in the middle of a resync: it goes on behind its last page, and knows what is still to be named")
  func crash() async throws {
    try await F.with { f in
      try await f.agree()
      let rows = try await Self.fill(f)
      try await f.store.reset(F.photos)
      try await f.crash()
      #expect(try await f.store.syncState(of: F.photos).token == [])
      try await f.apply([F.entry(rows["clean"] ?? "", 1, "clean")], token: [1], end: .more)
      try await Self.change("clean", f)
      try await f.crash()
      let state = try await f.store.syncState(of: F.photos)
      #expect(state.isResyncing && state.token == [1] && state.dirtyRows == 0)
      #expect(try await f.collect() == nil)
      try await f.apply([F.entry(rows["changed"] ?? "", 12, "theirs")], token: [2], end: .more)
      try await f.crash()
      let summary = try await f.apply([], token: [2])
      #expect(summary.removed == 0 && summary.conflicts == 1)
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.map(\.name).sorted() == [rows["clean"], rows["new"]].compactMap(\.self).sorted())
      #expect(plan.mutations.map(\.base).contains(.version(1)))
      try await f.accept(plan, from: 20)
      #expect(try await f.store.conflicts(F.photos).map { $0.theirs == nil }.count == 2)
    }
  }

  @Test("I9: a row that is held back while it is open is not sent as new meanwhile")
  func heldBack() async throws {
    try await F.with { f in
      try await f.agree()
      let id = try await f.synced("open", photo: [1, 2], version: 1)
      try await Self.change("open", f)
      let opened = try await f.store.openWrite(
        F.photos, cells: [], objects: ["photo"], selection: Selection("name = 'open'"), owner: 1)
      try await f.store.reset(F.photos)
      #expect(try await f.apply([F.entry(id, 7, "theirs")]).staged == 1)
      #expect(try await f.collect() == nil)
      try await f.store.abandonWrite(opened.handle, owner: 1)
      #expect(try await f.rows()[0].state == .conflict)
      #expect(try await f.collect() == nil)
    }
  }

  @Test("SIM-79, UNI-18: a row that rots after the resync has named it is told again, not taken for gone")
  func rotsWhenNamed() async throws {
    try await F.with { f in
      try await f.agree()
      let name = "a name that is long enough to be found"
      let id = try await f.synced(name, version: 1)
      try await f.store.reset(F.photos)
      try await f.apply([F.entry(id, 1, name)], token: [1], end: .more)
      try await f.crash { try Rot.turnBit(of: Array(name.utf8), in: $0) }
      _ = try await f.names()
      try await f.store.repairDamage()
      try await f.apply([], token: [2])
      var state = try await f.store.syncState(of: F.photos)
      #expect(state.mustStartOver && state.isResyncing && state.lacksRows)
      #expect(try await f.status().torn == 1)
      try await f.store.reset(F.photos)
      try await f.apply([F.entry(id, 1, name)])
      state = try await f.store.syncState(of: F.photos)
      #expect(!state.mustStartOver && !state.isResyncing && !state.lacksRows)
      #expect(try await f.names() == [name])
    }
  }

  @Test("MOB-52: own writes are left out only by a process that has once heard of all there were")
  func ownThrough() async throws {
    try await F.with { f in
      try await f.agree()
      func push(_ name: String, _ version: Seq) async throws -> Seq {
        try await f.write(name)
        try await f.accept(try #require(try await f.collect()), from: version)
        return try await f.store.syncState(of: F.photos).ownThrough
      }
      #expect(try await push("a", 5) == 0)
      try await f.apply([], token: [1])
      #expect(try await push("b", 7) == 7)
      try await f.crash()
      #expect(try await push("c", 9) == 0)
    }
  }
}
