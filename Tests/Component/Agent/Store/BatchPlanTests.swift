import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: rows that an app has changed together go to the cloud together, whatever happens before they are there.
/// Method: the store itself, its plans, and what a cloud may answer.
@Suite("Batches on their way up (REC-23, UNI-05)")
struct BatchPlanTests {
  /// New rows of these names, changes of these, and deletions, as one batch.
  private func batch(
    _ f: StoreFixture, new: [String] = [], changed: [String] = [], deleted: [String] = [], date: Int64 = 7
  ) async throws {
    var held: [UInt64] = []
    for name in new {
      held.append(
        try await f.store.openWrite(
          StoreFixture.photos, cells: [CellValue("name", .text(name))], objects: [], owner: f.owner, isHeld: true
        ).handle)
    }
    for name in changed {
      held.append(
        try await f.store.openWrite(
          StoreFixture.photos, cells: [CellValue("date", .integer(date))], objects: [],
          selection: Selection("name = ?", [.text(name)]), owner: f.owner, isHeld: true
        ).handle)
    }
    for name in deleted {
      held.append(
        try await f.store.openDeletion(
          StoreFixture.photos, selection: Selection("name = ?", [.text(name)]), owner: f.owner
        ).handle)
    }
    try await f.store.closeWrites(held, isAtomic: true, owner: f.owner)
  }

  private func change(_ f: StoreFixture, _ name: String, date: Int64 = 9) async throws {
    try await f.store.write(
      StoreFixture.photos, cells: [CellValue("date", .integer(date))], selection: Selection("name = ?", [.text(name)]))
  }

  private func id(_ f: StoreFixture, _ name: String) async throws -> String {
    try #require(try await f.rows(Selection("name = ?", [.text(name)])).first?.id)
  }

  /// The plan's rows by name; those deleted by id.
  private func names(_ plan: PushPlan?, _ f: StoreFixture) async throws -> Set<String> {
    var names: Set<String> = []
    let rows = try await f.rows()
    for mutation in plan?.mutations ?? [] {
      let cell = rows.first { $0.id == mutation.name }?.cells.first { $0.column == "name" }
      if case .text(let name)? = cell?.value { names.insert(name) } else { names.insert(mutation.name) }
    }
    return names
  }

  /// The cloud refuses the plan because of a row that somebody else has changed.
  private func conflict(_ f: StoreFixture, _ plan: PushPlan, row: String, version: UInt64) async throws {
    let theirs = StoreFixture.entry(row, version, "theirs").entry
    try await f.store.record(
      plan.mutations.map { $0.name == row ? .conflict(server: theirs) : .aborted }, of: plan.op)
  }

  private func resolve(_ f: StoreFixture, _ row: String, _ choice: Resolution) async throws {
    try await f.store.beginResolution(StoreFixture.photos, owner: f.owner)
    try await f.store.resolve(StoreFixture.photos, row: row, choice, owner: f.owner)
    try await f.store.endResolution(StoreFixture.photos, owner: f.owner)
  }

  @Test("REC-23: a batch is one plan, all or none, after what was changed before it and before what came later")
  func onePlan() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let gone = try await f.synced("gone", version: 1)
      try await f.write("before")
      try await batch(f, new: ["a", "b"], deleted: ["gone"])
      try await f.write("after")
      let first = try #require(try await f.collect())
      #expect(try await names(first, f) == ["before", "after"] && !first.isAtomic, "rows by themselves share a plan")
      try await f.accept(first, from: 10)
      let second = try #require(try await f.collect())
      #expect(try await names(second, f) == ["a", "b", gone] && second.isAtomic)
      try await f.accept(second, from: 20)
      #expect(try await f.status().dirty == 0)
      try await change(f, "a")
      let third = try #require(try await f.collect())
      #expect(try await names(third, f) == ["a"] && !third.isAtomic, "it is at the cloud: a goes by itself")
    }
  }

  @Test("a plan has one batch whole, whatever its bounds; rows that were changed later wait for it")
  func whole() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await batch(f, new: ["a", "b", "c"])
      try await f.write("later")
      let plan = try #require(try await f.store.collect(StoreFixture.photos, maximumRows: 2, maximumBytes: 10))
      #expect(try await names(plan, f) == ["a", "b", "c"] && plan.isAtomic)
    }
  }

  @Test("a batch of one row is none")
  func single() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await f.write("new")
      try await batch(f, changed: ["new"])
      try await batch(f, new: ["b"], deleted: ["new"])
      let plan = try #require(try await f.collect())
      #expect(try await names(plan, f) == ["b"] && !plan.isAtomic, "what the cloud never had is gone at once")
    }
  }

  @Test("REC-23: after a crash before it was sent, in flight and after it came to nothing, it goes as a whole")
  func crashes() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await batch(f, new: ["a", "b"])
      try await f.crash()
      let first = try #require(try await f.collect())
      #expect(first.isAtomic && first.mutations.count == 2)
      try await f.crash()
      #expect(try await f.store.plansInFlight() == [first])
      try await f.store.abort(first.op)
      try await f.crash()
      let second = try #require(try await f.collect())
      #expect(second.isAtomic && second.mutations.count == 2 && second.op != first.op)
      try await f.accept(second, from: 1)
      try await f.crash()
      try await change(f, "a")
      try await change(f, "b")
      #expect(try await f.collect()?.isAtomic == false)
    }
  }

  @Test("UNI-02: where the cloud decides conflicts by who edited what when, a plan is not sent after a restart")
  func poorPlan() async throws {
    for policy in ConflictPolicy.allCases {
      try await StoreFixture.with { f in
        var type = StoreFixture.type
        type.settings = TypeSettings(conflicts: policy)
        try await f.store.agree(on: type, for: StoreFixture.photos)
        try await batch(f, new: ["a", "b"])
        #expect(try await f.collect()?.canBeSent == true)
        try await f.crash()
        #expect(try await f.store.plansInFlight().map(\.canBeSent) == [[.manual, .deterministic].contains(policy)])
      }
    }
  }

  @Test("a later change to one of its rows goes with it")
  func coalesced() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await batch(f, new: ["a", "b"])
      try await change(f, "a")
      let plan = try #require(try await f.collect())
      #expect(try await names(plan, f) == ["a", "b"] && plan.isAtomic)
      #expect(plan.mutations.last?.bodyBytes ?? 0 > plan.mutations.first?.bodyBytes ?? 0)
    }
  }

  @Test("two batches that share a row are one; two that do not are two")
  func overlapping() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await batch(f, new: ["a", "b"])
      try await batch(f, new: ["c", "d"])
      try await batch(f, new: ["e"], changed: ["b"])
      let plan = try #require(try await f.collect())
      #expect(try await names(plan, f) == ["a", "b", "e"], "a has waited longest")
      try await f.accept(plan, from: 1)
      #expect(try await names(try await f.collect(), f) == ["c", "d"])
    }
  }

  @Test(
    "what a row is changed together with while its batch is in flight goes after it, or with it if it comes to nothing",
    arguments: [true, false])
  func inFlight(accepted: Bool) async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await batch(f, new: ["a", "b"])
      let plan = try #require(try await f.collect())
      try await batch(f, new: ["c"], changed: ["b"])
      if accepted { try await f.accept(plan, from: 1) } else { try await f.store.abort(plan.op) }
      let next = try #require(try await f.collect())
      #expect(next.isAtomic)
      #expect(try await names(next, f) == (accepted ? ["b", "c"] : ["a", "b", "c"]))
    }
  }

  @Test("REC-23: batches that were made while a row of theirs was in flight are one, whatever becomes of that")
  func sharedInFlight() async throws {
    for isBatch in [true, false] {
      for accepted in [true, false] {
        try await StoreFixture.with { f in
          try await f.agree()
          if isBatch { try await batch(f, new: ["a", "x"]) } else { try await f.write("a") }
          let plan = try #require(try await f.collect())
          try await batch(f, new: ["b"], changed: ["a"])
          try await batch(f, new: ["c"], changed: ["a"], date: 8)
          if accepted { try await f.accept(plan, from: 1) } else { try await f.store.abort(plan.op) }
          let expected: Set<String> = isBatch && !accepted ? ["a", "b", "c", "x"] : ["a", "b", "c"]
          #expect(try await names(try await f.collect(), f) == expected, "of a batch: \(isBatch), \(accepted)")
        }
      }
    }
  }

  @Test("what has to go at once if what is in flight comes to nothing is bounded, too")
  func boundInFlight() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      var page: [IncomingEntry] = []
      for n in 1...10_001 { page.append(StoreFixture.entry("row-\(n)", UInt64(n), "n\(n)")) }
      try await f.apply(page)
      func change(_ selection: String) async throws {
        let held = try await f.store.openWrite(
          StoreFixture.photos, cells: [CellValue("date", .integer(1))], objects: [], selection: Selection(selection),
          owner: f.owner, isHeld: true)
        do { try await f.store.closeWrites([held.handle], isAtomic: true, owner: f.owner) } catch {
          try await f.store.abandonWrites([held.handle], owner: f.owner)
          throw error
        }
      }
      let number = "CAST(substr(name, 2) AS INTEGER)"
      try await change("\(number) <= 6000")
      let plan = try #require(try await f.collect())
      await #expect(throws: CaravanError.self) { try await change("\(number) >= 6000") }
      try await f.store.abort(plan.op)
      #expect(try await f.collect()?.mutations.count ?? 0 <= Limits.groupRecords)
    }
  }

  @Test(
    "REC-23: a row in conflict holds back the others, and nothing else, until it is resolved", arguments: [true, false])
  func conflict(atTheCloud: Bool) async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let a = try await f.synced("a", version: 1)
      try await batch(f, new: ["b", "c"], changed: ["a"])
      if atTheCloud {
        try await conflict(f, try #require(try await f.collect()), row: a, version: 2)
      } else {
        try await f.apply([StoreFixture.entry(a, 2, "theirs")])
      }
      #expect(try await f.collect() == nil)
      #expect(try await f.store.syncState(of: StoreFixture.photos).dirtyRows == 0, "nothing could go")
      try await f.write("alone")
      #expect(try await f.store.syncState(of: StoreFixture.photos).dirtyRows == 1)
      let alone = try #require(try await f.collect())
      #expect(try await names(alone, f) == ["alone"])
      try await f.accept(alone, from: 3)
      try await f.crash()
      try await resolve(f, a, .mine)
      let plan = try #require(try await f.collect())
      #expect(try await names(plan, f) == ["a", "b", "c"] && plan.isAtomic)
      try await f.accept(plan, from: 10)
      #expect(try await f.status().dirty == 0)
    }
  }

  @Test("a row that becomes the cloud's leaves it, and the others go")
  func theirs() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let a = try await f.synced("a", version: 1)
      try await batch(f, new: ["b", "c"], changed: ["a"])
      try await f.apply([StoreFixture.entry(a, 2, "theirs")])
      try await resolve(f, a, .theirs)
      try await change(f, "theirs")
      let plan = try #require(try await f.collect())
      #expect(try await names(plan, f) == ["b", "c"] && plan.isAtomic)
      try await f.accept(plan, from: 3)
      #expect(try await names(try await f.collect(), f) == ["theirs"])
    }
  }

  @Test("a row that is open in place holds back the others until it is closed")
  func open() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      _ = try await f.synced("a", photo: [1, 2, 3], version: 1)
      try await f.store.updateTable(StoreFixture.photos, TableChange(mode: .inPlace))
      try await batch(f, new: ["b"], changed: ["a"])
      let opened = try await f.store.openWrite(
        StoreFixture.photos, cells: [], objects: ["photo"], selection: Selection("name = 'a'"), owner: f.owner)
      #expect(try await f.collect() == nil)
      try await f.store.closeWrite(opened.handle, owner: f.owner)
      #expect(try await f.collect()?.mutations.count == 2)
    }
  }

  @Test("CK-102, MOB-47: deletions that go first and rows that fit into what is left are never part of one")
  func apart() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      _ = try await f.synced("x", version: 1)
      _ = try await f.synced("y", version: 2)
      let z = try await f.synced("z", version: 3)
      try await batch(f, new: ["a"], deleted: ["x"])
      try await f.write("small")
      func collect(onlyDeletions: Bool = false, room: Int? = nil) async throws -> PushPlan? {
        try await f.store.collect(
          StoreFixture.photos, maximumRows: 400, maximumBytes: 1 << 20, onlyDeletions: onlyDeletions, room: room)
      }
      #expect(try await collect(onlyDeletions: true) == nil)
      let small = try #require(try await collect(room: 700))
      #expect(try await names(small, f) == ["small"])
      try await f.accept(small, from: 4)
      #expect(try await collect(room: 700) == nil)
      try await batch(f, changed: ["y"])
      try await batch(f, deleted: ["y", "z"])
      #expect(try await collect(onlyDeletions: true)?.mutations.map(\.name).contains(z) == true)
    }
  }

  @Test("SIM-83: of batches that the cloud has refused, the one that was refused longest ago goes, and after all else")
  func refused() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      func refuse(_ plan: PushPlan) async throws {
        let error = CaravanError(.schemaViolation, "not like this")
        try await f.store.record(
          plan.mutations.indices.map { $0 == 0 ? .refused(error) : .aborted }, of: plan.op)
      }
      try await batch(f, new: ["a", "b"])
      try await batch(f, new: ["c", "d"])
      for expected: Set<String> in [["a", "b"], ["c", "d"], ["a", "b"], ["c", "d"]] {
        let plan = try #require(try await f.collect())
        #expect(try await names(plan, f) == expected)
        try await refuse(plan)
      }
      try await f.write("alone")
      let alone = try #require(try await f.collect())
      #expect(try await names(alone, f) == ["alone"])
      try await f.accept(alone, from: 1)
      try await change(f, "c")
      #expect(try await names(try await f.collect(), f) == ["c", "d"], "what was refused has been changed")
    }
  }

  @Test("what would have to go at once is bounded, batches that became one included")
  func bound() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      var page: [IncomingEntry] = []
      for n in 1...10_001 { page.append(StoreFixture.entry("row-\(n)", UInt64(n), "n\(n)")) }
      try await f.apply(page)
      func change(_ selection: String) async throws {
        let held = try await f.store.openWrite(
          StoreFixture.photos, cells: [CellValue("date", .integer(1))], objects: [], selection: Selection(selection),
          owner: f.owner, isHeld: true)
        do { try await f.store.closeWrites([held.handle], isAtomic: true, owner: f.owner) } catch {
          try await f.store.abandonWrites([held.handle], owner: f.owner)
          throw error
        }
      }
      let number = "CAST(substr(name, 2) AS INTEGER)"
      try await change("\(number) <= 6000")
      await #expect {
        try await change("\(number) >= 6000")
      } throws: { error in
        (error as? CaravanError)?.code == .limitExceeded && (error as? CaravanError)?.message.contains("10001") == true
      }
      #expect(try await f.rows(Selection("name = 'n10001' AND date IS NULL")).count == 1)
      try await change("\(number) > 6000")
      #expect(try await f.collect()?.mutations.count == 6_000)
    }
  }

  @Test("SIM-78: a batch that survives damage of the store's file goes as a whole")
  func salvaged() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await batch(f, new: ["a", "b"])
      let plan = try #require(try await f.collect())
      // As a store finds it that could not read its file.
      try await f.crash { Files.write([], to: "\($0)/agent.db-damaged") }
      #expect(try await f.names() == ["a", "b"])
      #expect(try await f.store.plansInFlight() == [])
      try await f.agree()
      try await f.apply([], end: .last)
      let next = try #require(try await f.collect())
      #expect(next.isAtomic && next.mutations.map(\.name) == plan.mutations.map(\.name))
    }
  }
}
