import CaravanAgentCore
import CaravanAgentStore
import CaravanAgentSync
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanClient

/// Goal: what an app changes of records in the cloud reaches the agent as it was meant, once, and outcomes come back
/// record by record (CK-25). Method: the client against an agent whose cloud is scripted.
@Suite("Records of the cloud, for apps", .timeLimit(.minutes(1))) struct CloudRecordAppTests {
  private static let columns = [
    FieldDefinition(id: 1, name: "text", kind: .text), FieldDefinition(id: 2, name: "photo", kind: .object),
  ]

  private static func shown(_ id: String, version: Seq = 7, expires: Int64 = 0) -> ShownRecord {
    let entry = Entry(
      name: id, version: version, created: 1, type: 1, writer: "u1/d1", expires: expires,
      authorship: Authorship(modified: 20, created: 10, creator: "u2/d9"))
    let fields = RecordFields([1: .text("of \(id)"), 2: .assetList(ChunkHash(of: [1]), size: 9)])
    return ShownRecord(entry: entry, fields: fields, columns: columns)
  }

  @Test("CK-24, CK-02: records come in the order of their names, with who made and changed them, and when they end")
  func fetches() async throws {
    let sync = ScriptedSync()
    let failure = CaravanError(.recordDamaged, "gone")
    sync.state.withLock {
      $0.found = [[.record(Self.shown("a", expires: 500)), .missing], [.failed(failure)], [.record(Self.shown("a"))]]
    }
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let notes = client.table("notes").cloud(.public)
        let found = try await notes.fetch(["a", "b", "a", "c"], columns: ["text", "photo"])
        guard case .record(let record) = found[0] else { return #expect(Bool(false), "\(found)") }
        #expect(found == [.record(record), .missing, .record(record), .failed(failure)])
        #expect(record["text"] == .text("of a") && record.objects == ["photo": 9] && record.version == 7)
        #expect(record.created == RowAct(milliseconds: 10, by: "u2/d9") && record.modified?.user == "u1")
        #expect(record.expires == 500 && record.changedColumns.isEmpty)
        #expect(try await notes.fetch("a")?.expires == nil)
      }
    }
    let asked = sync.state.withLock { $0.fetched }
    #expect(asked.map(\.ids) == [["a", "b", "c"], ["c"], ["a"]] && asked[0].columns == ["text", "photo"])
  }

  @Test("CK-25, CK-26: each mode sends its columns and what it builds on; ends are said as they were meant")
  func modes() async throws {
    let sync = ScriptedSync()
    sync.state.withLock { state in
      state.found = [[.record(Self.shown("a"))], [.record(Self.shown("c", version: 3))]]
      state.outcomes = [Array(repeating: .done(version: 9, modified: 30, writer: "u1/d1"), count: 7)]
    }
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let notes = client.table("notes").cloud(.public)
        var read = try #require(try await notes.fetch("a"))
        read["stars"] = .integer(5)
        read["old"] = .null
        read.expiry = .after(.seconds(2))
        func named(_ id: String, _ expiry: CloudExpiry) -> CloudRecord {
          var record = CloudRecord(id, ["text": .text("x")])
          record.expiry = expiry
          return record
        }
        var all = try #require(try await notes.fetch("c"))
        all["stars"] = .integer(1)
        all["old"] = .null
        all.expiry = .never
        let changes = CloudChanges([
          .save(read), .save(named("b", .at(milliseconds: 77))), .save(named("k", .keep), .changedKeys),
          .save(all, .allKeys), .delete("d"), .deleteIfUnchanged(CloudRecord("e", version: 4)),
          .deleteIfUnchanged(CloudRecord("f")),
        ])
        let outcomes = try await notes.commit(changes)
        guard case .saved(let saved) = outcomes[0] else { return #expect(Bool(false), "\(outcomes)") }
        #expect(saved.version == 9 && saved["stars"] == .integer(5) && saved["text"] == .text("of a"))
        #expect(saved.changedColumns.isEmpty && saved.expiry == .keep && saved.expires == 2_030)
        #expect(saved.created?.milliseconds == 10 && saved.modified?.milliseconds == 30)
        guard case .saved(let made) = outcomes[1] else { return #expect(Bool(false)) }
        #expect(made.created == made.modified && made.expires == 77)
        #expect(outcomes[4...] == [.deleted, .deleted, .deleted])
      }
    }
    let edits = try #require(sync.state.withLock { $0.changed.first }).edits
    #expect(edits.map(\.id) == ["a", "b", "k", "c", "d", "e", "f"])
    #expect(edits.map(\.base) == [.version(7), .absent, .any, .any, .any, .version(4), .absent])
    #expect(edits.map(\.expiry) == [.after(2_000), .at(77), .keep, .never, .keep, .keep, .keep])
    #expect(
      edits.map(\.change) == [
        .save(["stars": .integer(5), "old": .null]), .save(["text": .text("x")]), .save(["text": .text("x")]),
        .save(["text": .text("of c"), "stars": .integer(1), "old": .null]), .delete, .delete, .delete,
      ])
    #expect(zip(edits, edits.dropFirst()).allSatisfy { $1.number == $0.number + 1 })
  }

  @Test("UNI-07: changes that are committed again go under their numbers, and only those that have no outcome yet")
  func again() async throws {
    let sync = ScriptedSync()
    let busy = CaravanError(.rateLimited, "slowly", retryAfterMilliseconds: 5)
    let denied = CaravanError(.accessDenied, "not yours")
    sync.state.withLock { state in
      state.outcomes = [
        [.done(version: 1, modified: 0, writer: ""), .refused(denied)], nil, [.refused(busy), .conflict(nil)],
        [.merged(Self.shown("c"))],
      ]
    }
    try await AppFixture.with(sync: sync) { f in
      let changes = CloudChanges(saving: ["a", "b", "c", "d"].map { CloudRecord($0, ["text": .text("x")]) })
      try await f.app { client in
        let notes = client.table("notes").cloud(.public)
        let lost = await #expect(throws: CaravanError.self) { try await notes.commit(changes) }
        #expect(lost?.code == .timedOut)
        let elsewhere = await #expect(throws: CaravanError.self) {
          try await client.table("others").cloud(.public).commit(changes)
        }
        #expect(elsewhere?.code == .invalidData)
      }
      // The connection may be another one by then.
      try await f.app { client in
        let notes = client.table("notes").cloud(.public)
        let outcomes = try await notes.commit(changes)
        #expect(outcomes[1...] == [.refused(denied), .refused(busy), .conflict(nil)])
        guard case .merged(let record?) = try await notes.commit(changes)[2] else { return #expect(Bool(false)) }
        #expect(record.id == "c")
        #expect(try await notes.commit(changes).count == 4)
      }
    }
    let asked = sync.state.withLock { $0.changed }
    #expect(asked.map { $0.edits.map(\.id) } == [["a", "b", "c", "d"], ["c", "d"], ["c", "d"], ["c"]])
    let first = try #require(asked.first).edits.map(\.number)
    #expect(asked.flatMap(\.edits).allSatisfy { $0.number == first[0] + ["a": 0, "b": 1, "c": 2, "d": 3][$0.id]! })
  }

  @Test("CK-25: who has nothing to decide gets the record, or why the change was not made")
  func outcomes() throws {
    let (record, error) = (CloudRecord("a", version: 4), CaravanError(.accessDenied, "not yours"))
    #expect(try CloudOutcome.saved(record).get() == record && CloudOutcome.merged(record).get() == record)
    for nothing in [CloudOutcome.merged(nil), .deleted, .missing] { #expect(try nothing.get() == nil) }
    #expect(throws: error) { try CloudOutcome.refused(error).get() }
    for (theirs, says) in [(record, "version 4"), (nil, "gone")] as [(CloudRecord?, String)] {
      let conflict = #expect(throws: CaravanError.self) { try CloudOutcome.conflict(theirs).get() }
      #expect(conflict?.code == .serverRecordChanged && conflict?.message.contains(says) == true)
    }
  }

  @Test("CK-101: what cannot be sent is refused for its record; too many, twice the same, and the private database")
  func bounds() async throws {
    let sync = ScriptedSync()
    sync.state.withLock { state in
      state.outcomes = [[.done(version: 1, modified: 0, writer: "")], [.done(version: 2, modified: 0, writer: "")]]
    }
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let notes = client.table("notes").cloud(.public)
        let large = String(repeating: "x", count: 600 << 10)
        let outcomes = try await notes.save([
          CloudRecord("a", ["text": .text(large)]), CloudRecord("b", ["n": .real(.nan)]),
          CloudRecord("c", ["text": .text(large + large)]), CloudRecord("d", ["text": .text(large)]),
        ])
        let codes = outcomes.map { if case .refused(let error) = $0 { error.code } else { nil } as ErrorCode? }
        #expect(codes == [nil, .schemaViolation, .limitExceeded, nil])
        func refusal(_ work: () async throws -> [CloudOutcome]) async -> ErrorCode? {
          do { _ = try await work() } catch { return (error as? CaravanError)?.code }
          return nil
        }
        #expect(await refusal { try await notes.delete((0...400).map { "r\($0)" }) } == .limitExceeded)
        #expect(await refusal { try await notes.delete(["a", "a"]) } == .invalidData)
        #expect(await refusal { try await client.table("notes").cloud(.private).delete(["a"]) } == .invalidData)
        let read = await #expect(throws: CaravanError.self) {
          try await client.table("notes").cloud(.private).fetch("a")
        }
        #expect(read?.code == .invalidData)
        #expect(try await notes.delete([]).isEmpty)
      }
    }
    #expect(sync.state.withLock { $0.changed.map { $0.edits.map(\.id) } } == [["a"], ["d"]])
  }

  @Test("CK-24, CK-25: objects go with their record, given whole or piece by piece, once however often it is sent")
  func objects() async throws {
    let sync = ScriptedSync()
    let busy = CaravanError(.serverBusy, "in a moment", retryAfterMilliseconds: 1)
    sync.state.withLock { state in
      state.found = [[.record(Self.shown("a"))]]
      state.outcomes = [
        nil, [.refused(busy)], [.done(version: 9, modified: 30, writer: "u1/d1")],
        [.done(version: 10, modified: 40, writer: "u1/d1")],
      ]
      state.slices = [ObjectSlice(bytes: [1, 2], size: 2), ObjectSlice(bytes: [2], size: 2)]
    }
    let photo = SeededRandom(seed: 1).bytes(300_000)
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let notes = client.table("notes").cloud(.public)
        var record = try #require(try await notes.fetch("a"))
        record["old"] = .null
        record.contents = ["photo": photo]
        let changes = CloudChanges(saving: [record])
        _ = try? await notes.commit(changes)
        guard case .refused? = try await notes.commit(changes).first else { return #expect(Bool(false)) }
        guard case .saved(let saved)? = try await notes.commit(changes).first else { return #expect(Bool(false)) }
        #expect(saved.objects == ["photo": 300_000] && saved.contents.isEmpty)
        let written = try await notes.save(record, mode: .changedKeys, objects: ["film"]) { writer in
          try await writer.write(photo[..<200_000], to: "film", at: 0)
          try await writer.truncate("film", to: 100_000)
        }
        #expect(try written.get()?.objects["film"] == 100_000)
        #expect(try await notes.contents(of: "photo", in: saved).all() == [1, 2])
        #expect(try await notes.read("photo", of: saved, at: 1, count: 5) == [2])
        let many = (0...ClientLimits.objectsOpen).map { number -> CloudRecord in
          var record = CloudRecord("m\(number)")
          record.contents = ["photo": [UInt8(number)]]
          return record
        }
        sync.state.withLock { state in
          let done = RecordOutcome.done(version: 1, modified: 0, writer: "")
          state.outcomes = [Array(repeating: done, count: ClientLimits.objectsOpen), [done]]
        }
        #expect(try await notes.save(many).count == many.count)
      }
      try await eventually("nothing is left open") { await f.store.chunkFileBytes() == 0 }
    }
    let (changed, read) = sync.state.withLock { ($0.changed, $0.read) }
    let edits = changed.prefix(3).map(\.edits)
    #expect(edits[0] == edits[1] && edits[1] == edits[2], "the same objects, under the same number")
    guard case .save(let columns) = edits[0][0].change, case .asset(let manifest)? = columns["photo"] else {
      return #expect(Bool(false), "\(edits)")
    }
    #expect(manifest.size == 300_000 && columns["old"] == .null && columns.count == 2)
    #expect(read.map(\.version) == [9, 9] && read.map(\.offset) == [0, 1] && read[0].id == "a")
  }
}
