import CaravanBus
import CaravanDiffSync
import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanDiffSyncClient

/// Goal: the client library keeps objects, log and height right on the disk whatever happens between two messages, and
/// shares a zone with native devices. Method: clients, sync and a real store by virtual time, with faults placed one by
/// one.
@Suite(.timeLimit(.minutes(2))) struct ClientTests {
  private func numbers(_ client: DiffSyncClient) async throws -> [String: CaravanModel.Value] {
    try await client.objects(of: "note").compactMapValues { $0.fields["n"] }
  }

  @Test("DIF-08: the worked example, with heights as the zone counts them")
  func workedExample() throws {
    try DiffCluster.run { cluster in
      let (c1, c2) = (try await cluster.agreed("c1"), try await cluster.agreed("c2"))
      try await c1.create("aaa", "note", ["n": .integer(1)])
      try await c1.sync()
      #expect(await c1.height == 1)
      try await c2.sync()
      try await c2.delete("aaa")
      try await cluster.pass(.milliseconds(1))
      try await c1.update("aaa", "n", .integer(2))
      try await c1.sync()
      #expect(await c1.height == 2)
      try await c2.sync()
      #expect(await c2.height == 3)
      try await c1.sync()
      #expect(try await numbers(c1).isEmpty)
      #expect(try await numbers(c2).isEmpty)
      #expect(await c1.height == 3)
    }
  }

  @Test("REC-22, UNI-12, E3: what others did is merged before what is pending goes up, and decides what goes")
  func downloadsFirst() throws {
    try DiffCluster.run { cluster in
      let (c1, c2) = (try await cluster.agreed("c1"), try await cluster.agreed("c2"))
      for uuid in ["a", "b"] { try await c1.create(uuid, "note", ["n": .integer(1)]) }
      try await c1.sync()
      try await c2.sync()
      try await c1.delete("a")
      try await c1.sync()
      try await c2.update("a", "n", .integer(2))
      try await c2.update("b", "n", .integer(3))
      // Had it sent what was pending before it heard, the server would have refused the whole: there is no `a`.
      #expect(try await c2.sync() == SyncReport(pulled: 1, pushed: 1))
      try await c1.sync()
      #expect(try await numbers(c1) == ["b": .integer(3)])
      #expect(try await numbers(c2) == ["b": .integer(3)])
    }
  }

  @Test(
    "DIF-02, DIF-03: everything works without a connection, survives a restart, and a new device is complete at once")
  func offline() throws {
    let faults = FaultPlan()
    try DiffCluster.run(faults) { cluster in
      let first = try await cluster.agreed("c1")
      faults.cut("c1", "sync")
      try await first.create("a", "note", ["n": .integer(1), "tags": .list([.text("x"), .text("y")])])
      try await first.update("a", "n", .integer(2))
      try await first.create("b", "note", ["x": .real(0.5)])
      try await first.delete("b")
      await #expect(throws: CaravanError.self) { try await first.sync() }
      await first.close()
      let again = try cluster.client("c1")
      #expect(await again.pending.count == 4)
      #expect(try await again.object("a")?.fields["n"] == .integer(2))
      faults.healAll()
      #expect(try await again.sync() == SyncReport(pulled: 0, pushed: 1))
      let new = try cluster.client("c2")
      try await new.sync()
      #expect(try await new.objects(of: "note").bare == again.objects(of: "note").bare)
    }
  }

  @Test("DIF-02: a sign-in leaves a new device complete or fails; a complete one signs in without a connection, too")
  func signIn() throws {
    let faults = FaultPlan()
    try DiffCluster.run(faults) { cluster in
      let types = ["note": DiffCluster.fields]
      let first = try await cluster.agreed("c1")
      for uuid in ["a", "b"] { try await first.create(uuid, "note", ["n": .integer(1)]) }
      try await first.sync()
      let new = try cluster.client("c2")
      faults.cut("c2", "sync")
      let refusal = await #expect(throws: CaravanError.self) { try await new.signIn(types) }
      #expect(refusal?.isTransient == true)
      #expect(await !new.isComplete)
      faults.healAll()
      #expect(try await new.signIn(types) == SyncReport(pulled: 2, pushed: 0))
      #expect(await new.isComplete)
      faults.cut("c2", "sync")
      await new.close()
      let again = try cluster.client("c2")
      #expect(await again.isComplete)
      #expect(try await again.signIn(types) == nil)
      #expect(try await numbers(again).count == 2)
      faults.healAll()
      let misfit = await #expect(throws: CaravanError.self) {
        try await again.signIn(["note": [FieldDefinition(id: 0, name: "n", kind: .text)]])
      }
      #expect(misfit?.code == .schemaNotAdditive)
    }
  }

  @Test("DIF-02: a file of before the mark counts as complete where it has a height", arguments: [0, 1])
  func olderFile(_ objects: Int) throws {
    try DiffCluster.run { cluster in
      let client = try await cluster.agreed("c1")
      for number in 0..<objects { try await client.create("o\(number)", "note", [:]) }
      if objects > 0 { try await client.sync() }
      await client.close()
      let path = "\(cluster.directory.path)/c1/diffsync.db"
      let file = try Connection(.file(path))
      try file.execute("ALTER TABLE standing DROP COLUMN complete; PRAGMA user_version = 2")
      file.close()
      #expect(try await cluster.client("c1").isComplete == (objects > 0))
    }
  }

  @Test("DIF-02: a device whose user has nothing yet is complete, too")
  func emptySignIn() throws {
    try DiffCluster.run { cluster in
      let client = try cluster.client("c1")
      #expect(try await client.signIn(["note": DiffCluster.fields]) == SyncReport())
      #expect(await client.isComplete)
    }
  }

  @Test("DIF-04: what is not agreed on, or of another kind, is refused before it is logged")
  func types() throws {
    try DiffCluster.run { cluster in
      let client = try cluster.client("c")
      let unknown = await #expect(throws: CaravanError.self) { try await client.create("a", "note", [:]) }
      #expect(unknown?.code == .tableNotFound)
      try await client.agree(on: "note", DiffCluster.fields)
      for fields: [String: CaravanModel.Value] in [["n": .text("1")], ["other": .integer(1)], ["photo": .text("1")]] {
        let misfit = await #expect(throws: CaravanError.self) { try await client.create("a", "note", fields) }
        #expect(misfit?.code == .schemaViolation)
      }
      #expect(await client.pending.isEmpty)
    }
  }

  // MARK: DIF-15

  /// Loses the n-th message between a client and the server, either way, and all after it until it is told otherwise.
  private final class CutAfter: FaultPolicy {
    private let left = Mutex<Int?>(nil)

    func arm(_ messages: Int?) { left.withLock { $0 = messages } }

    func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
      guard passage.sender == "c1" || passage.receiver == "c1" else { return [.zero] }
      return left.withLock { left in
        guard let count = left else { return [.zero] }
        left = max(0, count - 1)
        return count == 0 ? [] : [.zero]
      }
    }
  }

  @Test(
    "DIF-15: a connection lost after any message of a sync, the client dead or alive: nothing stale, twice or stuck",
    arguments: [false, true])
  func connectionLost(_ dies: Bool) throws {
    for messages in 0...4 {
      let cut = CutAfter()
      try DiffCluster.run(seed: UInt64(messages + 1), cut) { cluster in
        var (c1, c2) = (try await cluster.agreed("c1"), try await cluster.agreed("c2"))
        try await c2.create("shared", "note", ["n": .integer(1), "x": .real(1)])
        try await c2.sync()
        try await c1.sync()
        try await c2.update("shared", "n", .integer(2))
        try await c2.sync()
        try await c1.update("shared", "x", .real(2))
        try await c1.create("mine", "note", ["n": .integer(1)])
        cut.arm(messages)
        _ = try? await c1.sync()
        if dies {
          await c1.close()
          c1 = try cluster.client("c1")
        }
        try await c1.update("mine", "n", .integer(5))
        // The others are held up no longer than the turn lasts.
        try await c2.update("shared", "n", .integer(3))
        try await c2.sync()
        cut.arm(nil)
        try await c1.sync()
        try await c2.sync()
        let (one, two) = (try await c1.objects(of: "note").bare, try await c2.objects(of: "note").bare)
        #expect(one == two && one["mine"]?.fields == ["n": .integer(5)], "after \(messages) messages")
        #expect(one["shared"]?.fields == ["n": .integer(3), "x": .real(2)], "after \(messages) messages")
        #expect(await c1.pending.isEmpty)
        c2 = try cluster.client("c3")
        try await c2.sync()
        #expect(try await c2.objects(of: "note").bare == one)
      }
    }
  }

  @Test(
    "DIF-15: storage dies between SYNC_BEGIN and SYNC_CONTINUE and comes back: the same token goes on, or a new turn")
  func serverDies() throws {
    for absence in [Duration.seconds(2), .seconds(60)] {
      try DiffCluster.run { cluster in
        let (a, c) = (cluster.device("a"), try await cluster.agreed("c"))
        try await c.create("r", "note", ["n": .integer(1)])
        try await c.sync()
        let turn = try await a.begin()
        cluster.stopStorage()
        try await cluster.pass(absence)
        try await cluster.startStorage()
        try await cluster.pass(.seconds(1))
        let create = CaravanDiffSync.Diff(
          timestamp: HybridStamp(milliseconds: 1), objtype: "note", uuid: "s", .create([:]))
        let result = try await a.continue(1, turn.token, [CaravanWire.Diff(create)])
        #expect(result.status == (absence < .seconds(30) ? .ok : .invalidSyncToken))
        try await c.update("r", "n", .integer(2))
        try await c.sync()
        #expect(try await c.objects(of: "note").count == (result.status == .ok ? 2 : 1))
        #expect(try await numbers(c)["r"] == .integer(2))
      }
    }
  }

  @Test("DIF-15: two clients that want their turn all the time both get it, and nobody waits for ever")
  func noDeadlock() throws {
    try DiffCluster.run { cluster in
      let clients = [try await cluster.agreed("c1"), try await cluster.agreed("c2"), try await cluster.agreed("c3")]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, client) in clients.enumerated() {
          group.addTask {
            for round in 0..<10 {
              try await client.create("o\(number)-\(round)", "note", ["n": .integer(Int64(round))])
              try await client.sync()
            }
          }
        }
        try await group.waitForAll()
      }
      for client in clients { try await client.sync() }
      for client in clients { #expect(try await client.objects(of: "note").count == 30) }
    }
  }

  // MARK: With others

  @Test("UNI-02: native devices and diff-sync clients work on the same records, under the same merge")
  func mixed() throws {
    try DiffCluster.run { cluster in
      let (client, native) = (try await cluster.agreed("c"), cluster.device("native"))
      let type = try await native.agree()
      let body = RecordFields([1: .text("native"), 2: .integer(1)]).body
      try await native.push(
        1, CaravanWire.Mutation(name: "r", kind: .save, basedOn: 0, type: type.id, body: body))
      try await client.sync()
      try await client.update("r", "n", .integer(2))
      try await client.create("mine", "note", ["text": .text("diff")])
      try await client.sync()
      let entries = try await native.entries()
      #expect(entries.map(\.name).sorted() == ["mine", "r"] && entries.allSatisfy { $0.type == type.id })
      let record = try RecordFields(body: entries.first { $0.name == "r" }?.body ?? [])
      #expect(record.values == [1: .text("native"), 2: .integer(2)])
      #expect(entries.allSatisfy { $0.writer == "ann/c/1" })
      try await native.push(2, CaravanWire.Mutation(name: "mine", kind: .delete))
      try await client.update("mine", "text", .text("too late"))
      try await client.sync()
      #expect(try await client.object("mine") == nil)
      #expect(await client.pending.isEmpty)
    }
  }

  @Test("DIF-11, UNI-18: a zone that was dropped and made again: the client begins at 0, with what it has pending")
  func anotherIncarnation() throws {
    try DiffCluster.run { cluster in
      let (client, native) = (try await cluster.agreed("c"), cluster.device("native"))
      try await client.create("old", "note", ["n": .integer(1)])
      try await client.sync()
      try await native.drop()
      try await client.create("pending", "note", ["n": .integer(2)])
      try await client.update("old", "n", .integer(3))
      try await client.sync()
      #expect(try await numbers(client) == ["pending": .integer(2)])
      #expect(try await native.entries().map(\.name) == ["pending"])
    }
  }

  @Test("TRU-19: what a client has put aside it keeps, over its death, until the app discards it")
  func aside() throws {
    try DiffCluster.run { cluster in
      let (client, native) = (try await cluster.agreed("c"), cluster.device("native"))
      for uuid in ["edited", "untouched"] {
        try await client.create(uuid, "note", ["n": .integer(1), "text": .text("x")])
      }
      try await client.sync()
      // Nobody there remembers any more what was deleted.
      try await native.drop()
      try await client.update("edited", "n", .integer(3))
      #expect(try await client.sync().aside == 1)
      #expect(try await client.sync().aside == 0)
      #expect(try await numbers(client).isEmpty)
      await client.close()
      let again = try cluster.client("c")
      let unsent = UnsentObject(
        objtype: "note", fields: ["n": .integer(3), "text": .text("x")], edited: ["n"])
      #expect(try await again.setAsideObjects() == ["edited": unsent])
      try await again.discardAside("edited")
      #expect(try await again.setAsideObjects().isEmpty)
    }
  }

  @Test("DIF-31, E16: a client whose clock is a day ahead wins once, and not for ever")
  func fastClock() throws {
    try DiffCluster.run { cluster in
      let ahead = cluster.simulation.host("fast")
      ahead.adjustWallTime(by: .seconds(86_400))
      let (fast, right) = (try await cluster.agreed("fast", host: ahead.host), try await cluster.agreed("right"))
      try await fast.create("r", "note", ["n": .integer(1)])
      try await fast.sync()
      try await right.sync()
      try await fast.update("r", "n", .integer(2))
      try await cluster.pass(.seconds(5))
      try await right.update("r", "n", .integer(3))
      try await right.sync()
      try await fast.sync()
      try await right.sync()
      #expect(try await numbers(fast) == ["r": .integer(3)])
      #expect(try await numbers(right) == ["r": .integer(3)])
    }
  }
}
