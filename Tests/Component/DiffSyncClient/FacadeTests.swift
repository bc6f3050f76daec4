import CaravanBus
import CaravanDiffSync
import CaravanDiffSyncClient
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: SYNC_BEGIN and SYNC_CONTINUE keep what requirements part 3.1 says, with every status code, on the records of
/// an ordinary zone. Method: devices that speak frames, sync, schema and a real store, by virtual time.
@Suite(.timeLimit(.minutes(2))) struct FacadeTests {
  private func save(
    _ name: String, _ type: CaravanModel.RecordType, _ fields: [UInt32: CaravanModel.Value], base: UInt64? = 0,
    at time: UInt64 = 0
  ) -> CaravanWire.Mutation {
    CaravanWire.Mutation(
      name: name, kind: .save, basedOn: base, type: type.id, body: RecordFields(fields).body,
      scope: base == 0 ? .whole : .changed, stamp: time)
  }

  @Test("DIF-01: workers keep nothing: what begins at one goes on at another")
  func stateless() throws {
    try DiffCluster.run { cluster in
      let a = cluster.device("a")
      _ = try await a.agree()
      let turn = try await a.begin()
      try cluster.startSync("sync-2")
      try await cluster.pass(.seconds(1))
      cluster.hub.disconnect("sync")
      #expect(try await a.continue(1, turn.token, [CaravanWire.Diff(note("x"))]).status == .ok)
    }
  }

  // MARK: Diffs from state

  @Test(
    "DIF-09, DIF-10, UNI-03: a create, one update a changed field or a delete is derived, whatever else was written")
  func derived() throws {
    try DiffCluster.run { cluster in
      let (a, native) = (cluster.device("a"), cluster.device("native"))
      let type = try await a.agree()
      #expect(try await a.begin(pushes: false).currentHeight == 0)
      try await native.push(1, save("r", type, [1: .text("one"), 2: .integer(1), 4: .list([.text("t")])]))
      try await native.push(2, save("s", type, [2: .integer(5)]))
      let first = try await a.begin(pushes: false)
      #expect(first.currentHeight == 2 && first.status == .ok && first.token.isEmpty)
      let created = try first.models
      #expect(created.map(\.height) == [1, 2] && created.map(\.objtype) == ["note", "note"])
      guard case .create(let fields) = created[0].change else { throw Missing("create") }
      #expect(
        fields.mapValues(\.value) == ["text": .text("one"), "n": .integer(1), "tags": .list([.text("t")])])
      try await native.push(3, save("r", type, [2: .integer(2)], base: nil))
      try await native.push(4, save("r", type, [2: .integer(3), 1: .null], base: nil))
      try await native.push(5, CaravanWire.Mutation(name: "s", kind: .delete))
      let second = try await a.begin(2, incarnation: first.incarnation, pushes: false)
      let news = try second.models
      #expect(news.map(\.height) == [4, 4, 5] && second.currentHeight == 5)
      #expect(news[0].change == .update(field: "n", .integer(3)))
      #expect(news[1].change == .update(field: "text", .null))
      #expect(news[2].change == .delete && news[2].uuid == "s")
      // From the beginning, what is there, in one diff an object: what is gone by then is not told.
      #expect(try await a.begin(pushes: false).models.map(\.uuid) == ["r"])
    }
  }

  @Test("UNI-03, E11: an object that was deleted and made again is a create, with none of its former fields")
  func recreated() throws {
    try DiffCluster.run { cluster in
      let (native, client) = (cluster.device("native"), try await cluster.agreed("c"))
      let type = try await native.agree()
      try await native.push(1, save("r", type, [1: .text("old"), 2: .integer(1)]))
      try await client.sync()
      #expect(try await client.object("r")?.fields["text"] == .text("old"))
      try await native.push(2, CaravanWire.Mutation(name: "r", kind: .delete))
      try await native.push(3, save("r", type, [2: .integer(7)]))
      try await client.sync()
      #expect(try await client.object("r")?.fields == ["n": .integer(7)])
    }
  }

  // MARK: SYNC_BEGIN

  @Test(
    "DIF-11, DIF-14: status 1 while another client has its turn, which a client that vanished loses after its lease")
  func busy() throws {
    try DiffCluster.run { cluster in
      let (a, b) = (cluster.device("a"), cluster.device("b"))
      _ = try await a.agree()
      let turn = try await a.begin()
      #expect(turn.status == .ok && !turn.token.isEmpty)
      let refused = try await b.begin()
      #expect(refused.status == .serverBusy && refused.retryAfterMilliseconds > 0 && refused.token.isEmpty)
      // Who only wants to know is in nobody's way, and the same client may begin again.
      #expect(try await b.begin(pushes: false).status == .ok)
      #expect(try await a.begin().status == .ok)
      try await cluster.pass(.seconds(31))
      #expect(try await b.begin().status == .ok)
      let late = try await a.continue(1, turn.token, [CaravanWire.Diff(note("x"))])
      #expect(late.status == .invalidSyncToken)
      #expect(try await a.begin().status == .serverBusy)
    }
  }

  @Test("DIF-14: a turn ends with its SYNC_CONTINUE, whatever becomes of it, and with one that sends nothing")
  func turnsEnd() throws {
    try DiffCluster.run { cluster in
      let (a, b) = (cluster.device("a"), cluster.device("b"))
      _ = try await a.agree()
      #expect(try await a.sync(1, [note("x")]).status == .ok)
      #expect(try await b.sync(1, [note("x")]).status == .objectExists)
      let turn = try await a.begin()
      #expect(try await a.continue(0, turn.token, []).status == .ok)
      #expect(try await b.begin().status == .ok)
    }
  }

  @Test("DIF-11: status 2 for a height the zone does not have, or had in another life")
  func invalidHeight() throws {
    try DiffCluster.run { cluster in
      let a = cluster.device("a")
      _ = try await a.agree()
      let done = try await a.sync(1, [note("x")])
      #expect(done.height == 1)
      #expect(try await a.begin(2, incarnation: done.incarnation).status == .invalidHeight)
      #expect(try await a.begin(1).status == .invalidHeight)
      #expect(try await a.begin(1, incarnation: done.incarnation).status == .ok)
      try await a.drop()
      #expect(try await a.begin(1, incarnation: done.incarnation).status == .invalidHeight)
      #expect(try await a.sync(2, [note("y")]).status == .ok)
      #expect(try await a.begin(1, incarnation: done.incarnation).status == .invalidHeight)
      // A refused SYNC_BEGIN takes no turn.
      #expect(try await cluster.device("b").begin().status == .ok)
    }
  }

  // MARK: SYNC_CONTINUE

  private func note(_ uuid: String, _ fields: [String: CaravanModel.Value] = [:], at time: Int64 = 1)
    -> CaravanDiffSync.Diff
  {
    let stamp = HybridStamp(milliseconds: time)
    return CaravanDiffSync.Diff(
      timestamp: stamp, objtype: "note", uuid: uuid, .create(fields.mapValues { Stamped($0, at: stamp) }))
  }

  private func change(
    _ uuid: String, _ field: String, _ value: CaravanModel.Value, at time: Int64 = 1, of objtype: String = "note"
  ) -> CaravanDiffSync.Diff {
    CaravanDiffSync.Diff(
      timestamp: HybridStamp(milliseconds: time), objtype: objtype, uuid: uuid, .update(field: field, value))
  }

  private func removal(_ uuid: String, of objtype: String = "note") -> CaravanDiffSync.Diff {
    CaravanDiffSync.Diff(timestamp: HybridStamp(milliseconds: 1), objtype: objtype, uuid: uuid, .delete)
  }

  @Test("DIF-12, DIF-13: every status code, each refusing the whole with what is good in it")
  func statusCodes() throws {
    try DiffCluster.run { cluster in
      let a = cluster.device("a")
      _ = try await a.agree()
      _ = try await a.agree(.manual, on: "strict")
      #expect(try await a.sync(1, [note("x", ["n": .integer(1)]), note("gone")]).status == .ok)
      #expect(try await a.sync(2, [removal("gone")]).status == .ok)
      let long = String(repeating: "u", count: 129)
      var undecodable = CaravanWire.Diff(note("y"))
      undecodable.data = [0xff]
      var strange = CaravanWire.Diff(note("y"))
      strange.optype = 9
      var op: UInt64 = 2
      func expect(_ status: SyncContinueStatus, _ diffs: [CaravanWire.Diff], _ line: Int = #line) async throws {
        op += 1
        let good = CaravanWire.Diff(note("good-\(op)"))
        let result = try await a.continue(op, a.begin().token, [good] + diffs)
        #expect(result.status == status && !result.message.isEmpty, "line \(line): \(result)")
      }
      try await expect(.invalidData, [undecodable])
      try await expect(.invalidData, [strange])
      try await expect(.invalidData, [CaravanWire.Diff(note(long))])
      try await expect(.invalidData, [CaravanWire.Diff(note("y", ["n": .text("no integer")]))])
      try await expect(.invalidData, [CaravanWire.Diff(note("y", ["unknown": .integer(1)]))])
      try await expect(.invalidData, [CaravanWire.Diff(change("x", "n", .integer(1), of: "nobody"))])
      try await expect(.invalidData, [CaravanWire.Diff(change("x", "n", .integer(1), of: "strict"))])
      try await expect(.noSuchObject, [CaravanWire.Diff(change("unknown", "n", .integer(1)))])
      try await expect(.noSuchObject, [CaravanWire.Diff(change("gone", "n", .integer(1)))])
      try await expect(.noSuchObject, [CaravanWire.Diff(removal("unknown"))])
      try await expect(.objectExists, [CaravanWire.Diff(note("x"))])
      try await expect(.objectExists, [CaravanWire.Diff(note("twice")), CaravanWire.Diff(note("twice"))])
      try await expect(.malformedUpdate, [CaravanWire.Diff(change("x", "unknown", .integer(1)))])
      try await expect(.malformedUpdate, [CaravanWire.Diff(change("x", "n", .text("no integer")))])
      try await expect(.malformedUpdate, [CaravanWire.Diff(change("x", "photo", .text("no object")))])
      try await expect(.malformedUpdate, [CaravanWire.Diff(change("x", "", .integer(1)))])
      try await expect(.malformedUpdateUuid, [CaravanWire.Diff(change("x", "uuid", .text("y")))])
      let forged = try await a.continue(900, Array(repeating: 1, count: 41), [CaravanWire.Diff(note("good"))])
      #expect(forged.status == .invalidSyncToken)
      let foreign = try await cluster.device("b").continue(1, a.begin().token, [CaravanWire.Diff(note("good"))])
      #expect(foreign.status == .invalidSyncToken)
      #expect(try await a.entries().map(\.name) == ["x", "gone"])
      // What is deleted already is deleted.
      #expect(try await a.sync(901, [removal("gone")]).status == .ok)
    }
  }

  @Test("DIF-05: the server takes objtypes of 40 bytes, uuids of 128 and field_names of 128, and none that are longer")
  func names() throws {
    try DiffCluster.run { cluster in
      let a = cluster.device("a")
      var op: UInt64 = 0
      func answer(_ diff: CaravanDiffSync.Diff) async throws -> SyncContinueResult {
        op += 1
        return try await a.sync(op, [diff])
      }
      func text(_ count: Int) -> String { String(repeating: "x", count: count) }
      func create(_ objtype: String, _ uuid: String) -> CaravanDiffSync.Diff {
        CaravanDiffSync.Diff(timestamp: HybridStamp(milliseconds: 1), objtype: objtype, uuid: uuid, .create([:]))
      }
      // Native types may be called longer.
      for count in [40, 41] { _ = try await a.agree(on: text(count)) }
      #expect(try await answer(create(text(40), text(128))).status == .ok)
      let refused = [
        (create(text(41), "a"), SyncContinueStatus.invalidData, "objtype"),
        (create(text(40), text(129)), .invalidData, "uuid"),
        (note("a", [text(129): .integer(1)]), .invalidData, "field_name"),
        (change(text(128), text(129), .integer(1), of: text(40)), .malformedUpdate, "field_name"),
        (removal(text(129), of: text(40)), .invalidData, "uuid"), (removal("a", of: text(41)), .invalidData, "objtype"),
      ]
      for (diff, status, what) in refused {
        let result = try await answer(diff)
        #expect(result.status == status && result.message.hasPrefix("\(what) 'xxx"), "\(result)")
      }
      // No type has a field of such a name: what is refused is that, not its length.
      let unknown = try await answer(change(text(128), text(128), .integer(1), of: text(40)))
      #expect(unknown.status == .malformedUpdate && unknown.message.contains("has no field"))
    }
  }

  @Test("DIF-12, DIF-13: changes of more objects than one commit takes are status 1, whether those are there or not")
  func tooMany() throws {
    try DiffCluster.run { cluster in
      let a = cluster.device("a")
      _ = try await a.agree()
      let names = (0...DiffLimits.objectsPerContinue).map { "o\($0)" }
      let creates = names.map { note($0, ["n": .integer(1)]) }
      #expect(try await a.sync(1, creates).status == .invalidData)
      #expect(try await a.entries().isEmpty)
      #expect(try await a.sync(2, Array(creates.dropLast())).status == .ok)
      #expect(try await a.sync(3, Array(creates.suffix(1))).status == .ok)
      let updates = names.map { change($0, "n", .integer(2)) }
      let refused = try await a.sync(4, updates)
      #expect(refused.status == .invalidData && refused.message.contains("\(DiffLimits.objectsPerContinue)"))
      #expect(try await a.sync(5, names.map { removal($0) }).status == .invalidData)
      // Several changes of one object are those of one.
      #expect(try await a.sync(6, updates.dropLast() + updates.dropLast()).status == .ok)
      #expect(try await a.entries().allSatisfy { !$0.deleted })
    }
  }

  @Test("DIF-30: the same SYNC_CONTINUE again is answered as the first time and applied once, a refused one never")
  func replay() throws {
    try DiffCluster.run { cluster in
      let (a, b) = (cluster.device("a"), cluster.device("b"))
      _ = try await a.agree()
      let turn = try await a.begin()
      let diffs = [CaravanWire.Diff(note("x", ["n": .integer(1)]))]
      let first = try await a.continue(1, turn.token, diffs)
      #expect(first.status == .ok && first.height == 1)
      #expect(try await a.continue(1, turn.token, diffs) == first)
      #expect(try await b.sync(1, [removal("x")]).status == .ok)
      let third = try await a.continue(1, turn.token, diffs)
      #expect(third.status == .ok)
      #expect(try await a.entries().map(\.deleted) == [true])
      // A copy that was late meets the refusal of the other.
      let late = try await a.begin()
      try await cluster.pass(.seconds(31))
      #expect(try await a.continue(2, late.token, [CaravanWire.Diff(note("y"))]).status == .invalidSyncToken)
      let again = try await a.begin()
      #expect(try await a.continue(2, again.token, [CaravanWire.Diff(note("y"))]).status == .invalidSyncToken)
      #expect(try await a.entries().map(\.name) == ["x"])
    }
  }

  @Test("UNI-01, UNI-09: native writes between the two messages are merged by field, and shown by the next SYNC_BEGIN")
  func nativeBetween() throws {
    try DiffCluster.run { cluster in
      let (a, native) = (cluster.device("a"), cluster.device("native"))
      let type = try await a.agree()
      let fields: [String: CaravanModel.Value] = ["n": .integer(1), "text": .text("1"), "x": .real(1)]
      #expect(try await a.sync(1, [note("r", fields), note("s")]).height == 2)
      let first = try await a.begin(pushes: false)
      let turn = try await a.begin(2, incarnation: first.incarnation)
      let now = HybridStamp(milliseconds: cluster.host("test").clock.wallTime.milliseconds).rawValue
      try await native.push(1, save("r", type, [2: .integer(2)], base: nil, at: now))
      try await native.push(2, CaravanWire.Mutation(name: "s", kind: .delete))
      let result = try await a.continue(
        2, turn.token,
        [CaravanWire.Diff(change("r", "n", .integer(3), at: 5)), CaravanWire.Diff(change("r", "x", .real(9), at: 5))])
      #expect(result.status == .ok && result.height == 2)
      let news = try await a.begin(2, incarnation: first.incarnation, pushes: false).models
      #expect(news.map(\.uuid) == ["s", "r", "r"])
      #expect(news.map(\.change) == [.delete, .update(field: "n", .integer(2)), .update(field: "x", .real(9))])
    }
  }

  @Test("CK-100, DIF-10: the diffs of a large zone come in pages that each fit a frame")
  func pages() throws {
    try DiffCluster.run { cluster in
      let (a, client) = (cluster.device("a"), try await cluster.agreed("c"))
      let text = String(repeating: "x", count: 5_000)
      for part in 0..<3 {
        let notes = (0..<150).map { note("o\(part)-\($0)", ["text": .text(text)]) }
        #expect(try await a.sync(UInt64(part + 1), notes).status == .ok)
      }
      let page = try await a.begin(pushes: false)
      #expect(page.more && page.diffs.count < 450)
      let report = try await client.sync()
      #expect(report.pulled == 450)
      #expect(try await client.objects(of: "note").count == 450)
      #expect(await client.height == 450)
    }
  }
}
