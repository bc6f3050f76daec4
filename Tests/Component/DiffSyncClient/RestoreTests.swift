import CaravanDiffSync
import CaravanModel
import CaravanWire
import Testing

@testable import CaravanDiffSyncClient

/// Goal: what a restore of the cloud took back comes back from the clients that hold it, once, field by field the later
/// value, and nothing that was deleted. Method: clients, sync and a store that is restored from its backup.
@Suite(.timeLimit(.minutes(2))) struct RestoreTests {
  private func state(_ client: DiffSyncClient) async throws -> [String: [String: CaravanModel.Value]] {
    try await client.objects(of: "note").mapValues(\.fields)
  }

  private func number(_ number: Int64) -> [String: CaravanModel.Value] { ["n": .integer(number)] }

  @Test(
    "UNI-18, DIF-15: what was created and changed after the backup is given back, after a second restore, too")
  func givenBack() throws {
    try DiffCluster.run { cluster in
      let (c1, c2) = (try await cluster.agreed("c1"), try await cluster.agreed("c2"))
      for uuid in ["a", "b", "c"] { try await c1.create(uuid, "note", number(1)) }
      try await c1.sync()
      try await c2.sync()
      let backup = try cluster.backUp()
      try await cluster.pass(.milliseconds(5))
      try await c1.update("a", "n", .integer(2))
      try await c1.create("new", "note", ["n": .integer(5), "text": .text("x")])
      try await c1.sync()
      try await c2.sync()
      try await cluster.pass(.milliseconds(5))
      try await c2.update("a", "n", .integer(3))
      try await c2.update("b", "n", .null)
      try await c2.delete("c")
      try await c2.sync()
      try await cluster.restore(backup)
      try await c1.create("later", "note", number(7))
      for client in [c1, c2, c1] { try await client.sync() }
      // Nobody holds a deletion.
      var all = [
        "a": number(3), "b": [:], "c": number(1), "new": ["n": .integer(5), "text": .text("x")], "later": number(7),
      ]
      for client in [c1, c2] { #expect(try await state(client) == all) }
      let second = try cluster.backUp()
      try await c2.create("last", "note", number(9))
      try await c2.sync()
      try await cluster.restore(second)
      all["last"] = number(9)
      for client in [c2, c1, c2] { try await client.sync() }
      for client in [c1, c2] {
        #expect(try await state(client) == all)
        #expect(await client.pending.isEmpty)
      }
      #expect(try await state(cluster.client("fresh").synced()) == all)
    }
  }

  @Test(
    "UNI-18, UNI-09: what was deleted since, or is to be deleted, nobody gives back; of a young zone, too"
  )
  func deletedSince() throws {
    try DiffCluster.run { cluster in
      let clients = [try await cluster.agreed("c1"), try await cluster.agreed("c2"), try await cluster.agreed("c3")]
      let backup = try cluster.backUp()
      try await cluster.pass(.milliseconds(5))
      for uuid in ["a", "b", "c"] { try await clients[0].create(uuid, "note", number(1)) }
      try await clients[0].sync()
      for client in clients { try await client.sync() }
      try await clients[1].delete("b")
      try await cluster.restore(backup)
      try await clients[0].sync()
      try await clients[0].delete("a")
      try await clients[0].sync()
      for client in clients + clients { try await client.sync() }
      for client in clients {
        #expect(try await state(client) == ["c": number(1)])
        #expect(await client.pending.isEmpty)
      }
    }
  }

  @Test("UNI-18: a deletion that waits for the restored cloud reaches it before the object does")
  func deletedFirst() throws {
    try DiffCluster.run { cluster in
      let (c1, c2) = (try await cluster.agreed("c1"), try await cluster.agreed("c2"))
      let backup = try cluster.backUp()
      try await cluster.pass(.milliseconds(5))
      try await c1.create("a", "note", number(1))
      try await c1.sync()
      try await c2.sync()
      try await c2.delete("a")
      try await cluster.restore(backup)
      for client in [c2, c1, c2] { try await client.sync() }
      for client in [c1, c2] {
        #expect(try await state(client).isEmpty)
        #expect(await client.pending.isEmpty)
      }
    }
  }

  @Test("UNI-18: what a client knows of a restore survives its death at every question")
  func dies() throws {
    for deaths in 1...4 {
      try DiffCluster.run { cluster in
        let (c1, c2) = (try await cluster.agreed("c1"), try await cluster.agreed("c2"))
        try await c1.create("a", "note", number(1))
        try await c1.sync()
        let backup = try cluster.backUp()
        try await cluster.pass(.milliseconds(5))
        try await cluster.pass(.milliseconds(5))
        try await c1.update("a", "n", .integer(2))
        try await c1.create("b", "note", number(1))
        try await c1.sync()
        try await cluster.restore(backup)
        var client = c1
        for count in 1...deaths {
          try await client.ask(count)
          await client.close()
          client = try cluster.client("c1")
        }
        try await client.sync()
        try await c2.sync()
        for client in [client, c2] {
          let state = try await state(client)
          #expect(state == ["a": number(2), "b": number(1)], "\(deaths) deaths")
        }
      }
    }
  }

  @Test("DIF-11: with status 2 the service says what is lost, also to who was at height 0 in the life that ended")
  func told() throws {
    try DiffCluster.run { cluster in
      let a = cluster.device("a")
      _ = try await a.agree()
      let note = Diff(
        timestamp: HybridStamp(milliseconds: 1), objtype: "note", uuid: "x", .create([:]))
      let done = try await a.sync(1, [note])
      let backup = try cluster.backUp()
      try await cluster.pass(.milliseconds(5))
      try await cluster.restore(backup)
      for height in [0, 1] as [Seq] {
        let result = try await a.begin(height, incarnation: done.incarnation, pushes: false)
        #expect(result.status == .invalidHeight)
        #expect(LostRange.list(result.lost).first?.after == 1)
      }
      #expect(try await a.begin(pushes: false).status == .ok)
    }
  }
}

extension DiffSyncClient {
  fileprivate func synced() async throws -> DiffSyncClient {
    try await agree(on: "note", DiffCluster.fields)
    try await sync()
    return self
  }

  /// So many questions, then no more.
  fileprivate func ask(_ count: Int) async throws {
    var report = SyncReport()
    for _ in 0..<count { _ = try await askNext(&report) }
  }
}
