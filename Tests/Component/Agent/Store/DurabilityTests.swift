import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: the store waits for the disk where something would be lost otherwise, and nowhere else. Method: count the
/// syncs of its log.
@Suite("When the store waits for the disk")
struct DurabilityTests {
  private typealias F = StoreFixture

  private final class Syncs: DiskTap {
    private let made = Mutex(0)

    func allows(_ change: DiskChange, of path: String) -> Bool {
      if change == .sync, path.hasSuffix("-wal") { made.withLock { $0 += 1 } }
      return true
    }

    /// Since the last call.
    func take() -> Int {
      made.withLock { made in
        defer { made = 0 }
        return made
      }
    }
  }

  private func with(_ body: (StoreFixture, Syncs) async throws -> Void) async throws {
    let syncs = Syncs()
    var options = LocalStoreOptions()
    options.tap = syncs
    try await F.with(options: options) { f in
      try await f.agree()
      _ = syncs.take()
      try await body(f, syncs)
    }
  }

  @Test("UNI-07: an op whose end is not on the disk is not forgotten for a commit of nothing")
  func nothing() async throws {
    try await with { f, syncs in
      try await f.write("a")
      let plan = try #require(try await f.collect())
      #expect(syncs.take() == 2, "the change, and that it is on its way")
      try await f.accept(plan, from: 5)
      try await f.store.beginResolution(F.photos, owner: f.owner)
      try await f.store.endResolution(F.photos, owner: f.owner)
      #expect(syncs.take() == 0)
      #expect(await f.store.opFloor == plan.op, "after a power cut its outcome is asked for again")
      try await f.write("b")
      #expect(await f.store.opFloor == plan.op + 1)
    }
  }

  @Test("UNI-22: an app's decision and the plan that answers the cloud are one transaction")
  func decision() async throws {
    try await with { f, syncs in
      let id = try await f.write("mine")
      let plan = try #require(try await f.collect())
      _ = syncs.take()
      try await f.store.record([.conflict(server: F.entry(id, 5, "theirs").entry)], of: plan.op)
      #expect(syncs.take() == 1, "a conflict that the app hears of is there to stay")
      try await f.store.planAtOnce([F.photos])
      try await f.store.beginResolution(F.photos, owner: f.owner)
      try await f.store.resolve(F.photos, row: id, .mine, owner: f.owner)
      try await f.store.endResolution(F.photos, owner: f.owner)
      let answer = try #require(try await f.collect())
      #expect(syncs.take() == 1)
      #expect(answer.mutations.map(\.base) == [.version(5)])
    }
  }

  @Test("what an app can read is on the disk; of several pages, with the last of them")
  func pages() async throws {
    try await with { f, syncs in
      _ = try await f.apply([F.entry("a", 1, "a")], token: [1])
      #expect(syncs.take() == 1)
      _ = try await f.apply([F.entry("b", 2, "b")], token: [2], end: .more)
      _ = try await f.apply([F.entry("c", 3, "c")], token: [3], end: .more)
      #expect(syncs.take() == 0)
      _ = try await f.apply([F.entry("d", 4, "d")], token: [4])
      #expect(syncs.take() == 1)
      _ = try await f.apply([F.entry("e", 5, "e")], token: [5], end: .unknown)
      #expect(syncs.take() == 1, "it came with a notification: nobody knows whether there will be another")
      #expect(try await f.names().sorted() == ["a", "b", "c", "d", "e"])
      let id = try await f.synced("f", version: 6)
      try await f.edit("f", at: 0, [1])
      _ = syncs.take()
      _ = try await f.apply([F.entry(id, 7, "theirs")], token: [7])
      #expect(try await f.status().conflicts == 1)
      #expect(syncs.take() == 1, "a conflict that the app hears of is there to stay")
    }
  }
}
