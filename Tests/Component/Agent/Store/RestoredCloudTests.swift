import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanSQLite
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a cloud that was restored from a backup costs no row that a device still has (UNI-18). Method: the store
/// alone.
@Suite struct RestoredCloudTests {
  @Test("UNI-18: rows that a restored cloud lost are sent again: over its older copy, as new, or they are in conflict")
  func restoredCloud() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let kept = try await f.synced("kept", version: 1)
      let rewritten = try await f.synced("rewritten", version: 8)
      _ = try await f.synced("made later", version: 9)
      let contested = try await f.synced("contested", version: 10)
      _ = try await f.synced("deleted before", version: 3)
      // The cloud may be restored while the device lists what it has for another reason.
      try await f.store.reset(StoreFixture.photos)
      try await f.store.reset(StoreFixture.photos, lost: [LostRange(after: 5, through: 50)])
      #expect(try await f.collect() == nil, "nothing goes before all is named")
      let summary = try await f.apply([
        StoreFixture.entry(kept, 1, "kept"), StoreFixture.entry(rewritten, 2, "as it was"),
        StoreFixture.entry(contested, 51, "written since"),
      ])
      #expect(summary.removed == 1 && summary.conflicts == 0 && summary.staged == 1)
      #expect(try await f.names() == ["kept", "rewritten", "made later", "contested"])
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.map(\.base) == [.version(8), .version(9), .version(10)])
      #expect(plan.mutations[0].name == rewritten && plan.mutations.allSatisfy(\.isOffer))
      let server = StoreFixture.entry(contested, 51, "written since").entry
      try await f.store.record(
        [.accepted(version: 52), .accepted(version: 53), .conflict(server: server)], of: plan.op)
      #expect(try await f.rows().map(\.state) == [.clean, .clean, .clean, .conflict])
    }
  }

  @Test("UNI-18: what the cloud knows better it says, and the device takes that, a deletion too, without a conflict")
  func known() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let changed = try await f.synced("changed since", version: 8)
      let deleted = try await f.synced("deleted since", version: 9)
      let unsaid = try await f.synced("no room to say it", version: 10)
      try await f.store.reset(StoreFixture.photos, lost: [LostRange(after: 5, through: 50)])
      _ = try await f.apply([])
      let plan = try #require(try await f.collect())
      let (now, tombstone) = (
        StoreFixture.entry(changed, 61, "newer").entry,
        Entry(name: deleted, version: 62, created: 9, isDeleted: true, writer: "other")
      )
      try await f.store.record(
        [
          .merged(version: 61, server: now), .merged(version: 62, server: tombstone), .merged(version: 63, server: nil),
        ],
        of: plan.op)
      #expect(try await f.names() == ["newer", "no room to say it"])
      #expect(try await f.rows().map(\.state) == [.clean, .dirty])
      #expect(try await f.collect()?.mutations.map(\.name) == [unsaid])
    }
  }

  @Test("UNI-18: where a restore took a type, what is kept of rows gets the numbers that its fields have since")
  func renumbered() async throws {
    func type(_ ids: [UInt32]) -> CaravanModel.RecordType {
      var type = StoreFixture.type
      type.fields.append(FieldDefinition(id: 0, name: "caption", kind: .text))
      for (index, id) in ids.enumerated() { type.fields[index].id = id }
      return type
    }
    try await StoreFixture.with { f in
      try await f.store.agree(on: type([3, 5, 6, 9, 11]), for: StoreFixture.photos)
      let body = RecordFields([3: .text("first"), 5: .integer(1), 11: .text("of a newer app")]).body
      let entry = Entry(name: "row", version: 7, created: 7, type: 42, body: body, writer: "elsewhere")
      try await f.apply([IncomingEntry(entry: entry)])
      _ = try await f.store.write(
        StoreFixture.photos, cells: [CellValue("date", .integer(2))],
        selection: Selection("name = ?", [.text("first")]))
      var behaving = type([3, 5, 6, 9, 11])
      behaving.settings = TypeSettings(conflicts: .fieldMerge)
      try await f.store.agree(on: behaving, for: StoreFixture.photos)
      let proposal = try await f.store.syncState(of: StoreFixture.photos).proposal
      #expect(proposal.settings == behaving.settings, "it is proposed again as it was")
      // Two of them have changed places.
      try await f.store.agree(on: type([2_003, 6, 5, 2_009, 2_011]), for: StoreFixture.photos)
      try await f.crash()
      let plan = try #require(try await f.collect())
      guard case .save(_, let sent, _) = plan.mutations[0].change else { return #expect(Bool(false)) }
      #expect(
        try RecordFields(body: sent)
          == RecordFields([2_003: .text("first"), 6: .integer(2), 2_011: .text("of a newer app")]))
      let theirs = Entry(
        name: "row", version: 8, created: 7, type: 42, body: RecordFields([2_003: .text("theirs")]).body, writer: "w")
      try await f.store.record([.conflict(server: theirs)], of: plan.op)
      let conflict = try #require(try await f.store.conflicts(StoreFixture.photos).first)
      #expect(conflict.ancestor?.cells.prefix(2).map(\.value) == [.text("first"), .integer(1)])
      #expect(conflict.theirs?.cells.first?.value == .text("theirs"))
    }
  }

  @Test("TRU-19: settings that the cloud has otherwise than before are in the status until they are as before")
  func settings() async throws {
    func type(_ id: UInt32, ttl: UInt64) -> CaravanModel.RecordType {
      var type = StoreFixture.type
      (type.id, type.settings) = (id, CaravanModel.TypeSettings(ttlMilliseconds: ttl))
      return type
    }
    try await StoreFixture.with { f in
      func shown() async throws -> [CaravanModel.SettingChange] {
        try await f.store.status(of: StoreFixture.photos.app).first?.settingChanges ?? []
      }
      try await f.store.agree(on: type(7, ttl: 60_000), for: StoreFixture.photos)
      try await f.store.agree(on: type(8, ttl: 60_000), for: StoreFixture.photos)
      #expect(try await shown() == [])
      try await f.store.agree(on: type(9, ttl: 0), for: StoreFixture.photos)
      try await f.crash()
      #expect(try await shown() == [CaravanModel.SettingChange("ttl", was: "60000ms", now: "never")])
      try await f.store.agree(on: type(10, ttl: 5), for: StoreFixture.photos)
      #expect(try await shown() == [CaravanModel.SettingChange("ttl", was: "60000ms", now: "5ms")])
      try await f.store.agree(on: type(11, ttl: 60_000), for: StoreFixture.photos)
      #expect(try await shown() == [], "somebody has said them again")
      try await f.store.agree(on: type(12, ttl: 0), for: StoreFixture.photos)
      try await f.store.reset(StoreFixture.photos, .keepLocal)
      #expect(try await shown() == [], "somebody has seen it")
    }
  }

  @Test("I7, UNI-18: what somebody else has brought back is what an app's change meanwhile is based on")
  func broughtBack() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let row = try await f.synced("offered by two", version: 8)
      try await f.store.reset(StoreFixture.photos, lost: [LostRange(after: 5, through: 50)])
      _ = try await f.apply([])
      let plan = try #require(try await f.collect())
      _ = try await f.store.write(
        StoreFixture.photos, cells: [CellValue("name", .text("by an app"))],
        selection: Selection("name = ?", [.text("offered by two")]))
      let there = StoreFixture.entry(row, 60, "offered by two").entry
      try await f.store.record([.merged(version: 60, server: there)], of: plan.op)
      #expect(try await f.rows().map(\.state) == [.dirty])
      #expect(try await f.collect()?.mutations.map(\.base) == [.version(60)])
    }
  }

  @Test(
    "I7, UNI-18: also what was settled as aborted, when another device had it from the cloud before the restore",
    arguments: [false, true], [false, true])
  func abortedAndBroughtBack(isPushed: Bool, isEditedBefore: Bool) async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let row = try await f.write("first", photo: StoreFixture.noise(90_000))
      let plan = try #require(try await f.collect())
      if isEditedBefore { try await Self.edit(f) }
      try await f.store.record([.aborted], of: plan.op)
      if !isEditedBefore { try await Self.edit(f) }
      try await f.crash()
      guard case .save(_, let body, _) = plan.mutations[0].change else { return #expect(Bool(false)) }
      let there = Entry(name: row, version: 60, created: 60, type: 42, body: body, writer: "elsewhere")
      if isPushed {
        let again = try #require(try await f.collect())
        try await f.store.record([.conflict(server: there)], of: again.op)
      } else {
        try await f.apply([IncomingEntry(entry: there)])
      }
      #expect(try await f.rows().map(\.state) == [.dirty])
      #expect(try await f.collect()?.mutations.map(\.base) == [.version(60)])
    }
  }

  @Test(
    "I9, UNI-18: nor is its deletion kept from the cloud, for others may give back what was settled as aborted",
    arguments: [false, true], [false, true])
  func abortedAndDeleted(isDeletedBefore: Bool, isRestored: Bool) async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let row = try await f.write("first")
      let plan = try #require(try await f.collect())
      if isDeletedBefore { try await f.store.delete(StoreFixture.photos, selection: nil) }
      try await f.store.record([.aborted], of: plan.op)
      try await f.crash()
      if isRestored { try await f.store.reset(StoreFixture.photos, lost: [LostRange(after: 5, through: 50)]) }
      if !isDeletedBefore { try await f.store.delete(StoreFixture.photos, selection: nil) }
      if isRestored { try await f.apply([]) }
      let deletion = try #require(try await f.collect())
      #expect(deletion.mutations == [Mutation(name: row, base: .absent, change: .delete, isOffer: true)])
      try await f.store.record([.accepted(version: 60)], of: deletion.op)
      #expect(try await f.rows().isEmpty)
      #expect(try await f.collect() == nil)
    }
  }

  /// The row keeps nothing of what it was.
  private static func edit(_ f: StoreFixture) async throws {
    _ = try await f.store.write(
      StoreFixture.photos, cells: [CellValue("name", .text("second")), CellValue("photo", .null)],
      selection: Selection("name = ?", [.text("first")]))
  }

  @Test("I9, UNI-18: what is sent again says so, for others may have had it before the restore, and deleted it")
  func sentAgain() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await f.write("first")
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.map(\.isOffer) == [false])
      try await f.store.record([.aborted], of: plan.op)
      try await f.crash()
      let again = try #require(try await f.collect())
      #expect(again.mutations.map(\.isOffer) == [true])
      let tombstone = StoreFixture.tombstone(again.mutations[0].name, 60).entry
      try await f.store.record([.conflict(server: tombstone)], of: again.op)
      #expect(try await f.rows().map(\.state) == [.conflict])
    }
  }

  @Test("I7, UNI-18: what was pushed in vain and is what the row holds is at the cloud, and not sent again")
  func broughtBackUnchanged() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let row = try await f.write("first")
      let plan = try #require(try await f.collect())
      try await f.store.record([.aborted], of: plan.op)
      try await f.apply([StoreFixture.entry(row, 60, "first")])
      #expect(try await f.rows().map(\.state) == [.clean])
    }
  }

  @Test("UNI-18: only so many pushes in vain are remembered, and none of a row that is at the cloud")
  func bounded() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      for name in ["first", "second"] {
        try await f.write(name)
        for _ in 0..<3 { try await f.store.record([.aborted], of: try #require(try await f.collect()).op) }
        try await f.accept(try #require(try await f.collect()), from: 7)
      }
      for number in 0..<400 { try await f.write("\(number)") }
      for round in 0..<3 {
        let plan = try #require(try await f.collect())
        try await f.store.record(plan.mutations.map { _ in .aborted }, of: plan.op)
        _ = try await f.store.write(
          StoreFixture.photos, cells: [CellValue("date", .integer(Int64(round)))],
          selection: Selection("name NOT IN (?, ?)", [.text("first"), .text("second")]))
      }
      let database = try Connection(.file("\(f.directory.path)/agent.db"), ConnectionOptions())
      defer { database.close() }
      #expect(try database.first("SELECT count(*) FROM pushed") { row in row.integer(0) } == 1_000)
      #expect(try database.first("SELECT count(*) FROM pushed WHERE row < 3") { row in row.integer(0) } == 0)
    }
  }

  @Test("I7, UNI-18: also before the device has heard of the restore; where there was none, it is a conflict")
  func unheardRestore() async throws {
    for (version, state) in [(9 + LostRange.gap, RowView.State.dirty), (59, .conflict)] {
      try await StoreFixture.with { f in
        try await f.agree()
        let row = try await f.synced("received", version: 8)
        _ = try await f.store.write(
          StoreFixture.photos, cells: [CellValue("name", .text("by an app"))],
          selection: Selection("name = ?", [.text("received")]))
        let plan = try #require(try await f.collect())
        let there = StoreFixture.entry(row, version, "received").entry
        try await f.store.record([.conflict(server: there)], of: plan.op)
        #expect(try await f.rows().map(\.state) == [state])
        #expect(try await f.collect()?.mutations.map(\.base) == (state == .dirty ? [.version(version)] : nil))
      }
    }
  }

  @Test("I7, UNI-18: what was pushed over a version the cloud had, too, and lost with it", arguments: [false, true])
  func pushedAndBroughtBack(isTold: Bool) async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let row = try await f.synced("first", version: 8)
      func rename(_ old: String, _ new: String) async throws {
        _ = try await f.store.write(
          StoreFixture.photos, cells: [CellValue("name", .text(new))], selection: Selection("name = ?", [.text(old)]))
      }
      try await rename("first", "second")
      let plan = try #require(try await f.collect())
      try await rename("second", "third")
      try await f.store.record([.aborted], of: plan.op)
      try await f.crash()
      let version = 9 + LostRange.gap
      let there = StoreFixture.entry(row, version, "second")
      if isTold {
        try await f.store.reset(StoreFixture.photos, lost: [LostRange(after: 5, through: 50)])
        try await f.apply([there])
      } else {
        let again = try #require(try await f.collect())
        try await f.store.record([.conflict(server: there.entry)], of: again.op)
      }
      #expect(try await f.rows().map(\.state) == [.dirty])
      let last = try #require(try await f.collect())
      #expect(last.mutations.map(\.base) == [.version(version)])
      // What it is based on is what an app would be shown.
      let theirs = StoreFixture.entry(row, version + 1, "theirs").entry
      try await f.store.record([.conflict(server: theirs)], of: last.op)
      let conflict = try #require(try await f.store.conflicts(StoreFixture.photos).first)
      #expect(conflict.ancestor?.cells.first?.value == .text("second"))
    }
  }

  @Test("UNI-18: the echo that names a row again after a reset leaves what its change was made from as it was")
  func echo() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let row = try await f.synced("first", version: 8)
      _ = try await f.store.write(
        StoreFixture.photos, cells: [CellValue("name", .text("second"))],
        selection: Selection("name = ?", [.text("first")]))
      try await f.store.reset(StoreFixture.photos)
      let named = CaravanModel.Entry(name: row, version: 8, created: 8, type: 7, writer: "d")
      try await f.apply([IncomingEntry(entry: named, isOwn: true)])
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.map(\.base) == [.version(8)])
      try await f.store.record([.conflict(server: StoreFixture.entry(row, 9, "theirs").entry)], of: plan.op)
      let conflict = try #require(try await f.store.conflicts(StoreFixture.photos).first)
      #expect(conflict.ancestor?.cells.first?.value == .text("first"))
    }
  }

  @Test("UNI-18: what an app changed or deleted since a lost version is sent as that")
  func changed() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let row = try await f.synced("edited", version: 8)
      try await f.store.reset(StoreFixture.photos, lost: [LostRange(after: 5, through: 50)])
      try await f.store.reset(StoreFixture.photos, lost: [LostRange(after: 5, through: 50)])
      _ = try await f.apply([])
      _ = try await f.store.write(
        StoreFixture.photos, cells: [CellValue("name", .text("by an app"))],
        selection: Selection("name = ?", [.text("edited")]))
      let first = try #require(try await f.collect())
      #expect(first.mutations.map(\.base) == [.version(8)] && !first.mutations[0].isOffer)
      let sentAgain = Outcome.conflict(server: StoreFixture.entry(row, 59, "edited").entry)
      try await f.store.record([sentAgain], of: first.op)
      #expect(try await f.rows().map(\.state) == [.dirty], "what it was made from is there under another version")
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.map(\.base) == [.version(59)])
      let conflict = Outcome.conflict(server: StoreFixture.entry(row, 60, "by an app").entry)
      try await f.store.record([conflict], of: plan.op)
      #expect(try await f.rows().map(\.state) == [.clean], "the cloud has just what was sent")
    }
  }
}
