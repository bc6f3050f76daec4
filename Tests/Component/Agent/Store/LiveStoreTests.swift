import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentStore

/// Goal: a difference that is told in parts is of one moment, and nothing that the store goes through is told wrongly.
/// Method: a store and its live queries, without apps; pages as the cloud would send them.
@Suite("Live queries of the store", .timeLimit(.minutes(2))) struct LiveStoreTests {
  typealias F = StoreFixture

  /// A cloud that answers each question with another version of one row.
  private final class AskedCloud: Sendable {
    private let count = Mutex(0)
    var questions: Int { count.withLock { $0 } }

    func answer(_ store: LocalStore, _ handle: UInt64, owner: UInt64) async throws {
      while await store.nextLiveQuestion(handle, owner: owner) != nil {
        let version = count.withLock { count in
          count += 1
          return count
        }
        let view = RowView(id: "c", version: UInt64(version), state: .clean, cells: [], objects: [])
        let row = LiveCloudRow(view: view, ranks: [.null], bytes: 100)
        let wantsMore = try await store.takeLiveAnswer(
          .success(LiveCloudPage(rows: [row], hasMore: false)), for: handle, owner: owner)
        #expect(!wantsMore)
      }
    }
  }

  private static func page(_ names: Range<Int>, version: UInt64 = 1, _ text: String = "") -> [IncomingEntry] {
    names.map { F.entry("r\(1_000 + $0)", version + UInt64($0), "\(1_000 + $0)\(text)") }
  }

  @Test("UNI-15: parts of a difference are of one moment: what changes between them is told with the next")
  func moment() async throws {
    try await F.with { f in
      try await f.agree()
      try await f.apply(Self.page(0..<500))
      var follower = try await LiveFollower(f)
      let first = try await follower.part()
      #expect(first.hasMore && first.steps.count == 200)
      try await f.store.delete(F.photos, selection: Selection("name = '1450'"))
      try await f.store.write(
        F.photos, cells: [CellValue("name", .text("1300 new"))], selection: Selection("name = '1300'"))
      let parts = try await follower.rest(first.steps)
      #expect(parts == 2 && follower.names == (1_000..<1_500).map(String.init))
      try await follower.rest()
      let expected = (1_000..<1_500).filter { $0 != 1_450 }.map { $0 == 1_300 ? "1300 new" : "\($0)" }
      #expect(follower.names == expected)
    }
  }

  @Test("UNI-15: a difference that is not taken in its time gives its snapshot up, and begins again when it is")
  func idle() async throws {
    let clock = ManualClock()
    try await F.with(clock: clock) { f in
      try await f.agree()
      try await f.apply(Self.page(0..<500))
      var follower = try await LiveFollower(f)
      let first = try await follower.part()
      try await f.store.delete(F.photos, selection: Selection("name < '1100'"))
      clock.advance(by: StoreLimits.cursorIdle)
      await f.store.closeIdleLives()
      let parts = try await follower.rest(first.steps)
      #expect(parts == 2 && follower.names == (1_100..<1_500).map(String.init))
    }
  }

  @Test("UNI-15: a damaged row is in no answer until it is restored, also where its damage shows in the middle of one")
  func damaged() async throws {
    try await F.with { f in
      try await f.agree()
      let text = "a name that lies in no other row of this table, and is long enough to be found in the file"
      try await f.apply(Self.page(0..<400) + [F.entry("r1300a", 900, text)])
      try await f.crash { try Rot.turnBit(of: Array(text.utf8), in: $0) }
      // Ordered by what is not damaged, it comes behind the first part.
      var follower = try await LiveFollower(f, [])
      let first = try await follower.part()
      #expect(first.hasMore)
      try await follower.rest(first.steps)
      #expect(follower.names == (1_000..<1_400).map(String.init))
      try await f.store.repairDamage()
      try await f.apply([F.entry("r1300a", 901, "restored")])
      while follower.names.count < 401 { try await follower.rest() }
      #expect(follower.names[301] == "restored")
    }
  }

  @Test("UNI-15: a table whose zone is gone shows nothing, and all of it when the zone is there again")
  func absent() async throws {
    try await F.with { f in
      try await f.agree()
      try await f.apply(Self.page(0..<3))
      var follower = try await LiveFollower(f)
      try await follower.rest()
      #expect(follower.names == ["1000", "1001", "1002"])
      _ = try await f.store.zoneIsGone(F.photos)
      try await follower.rest()
      #expect(follower.names == [])
      try await f.store.zoneIsThere(F.photos)
      try await follower.rest()
      #expect(follower.names == ["1000", "1001", "1002"])
    }
  }

  @Test("UNI-15: the cloud is asked when somebody waits and there is a reason, and once in ten seconds at most")
  func asking() async throws {
    let clock = ManualClock()
    try await F.with(clock: clock) { f in
      try await f.store.updateTable(F.photos, TableChange(replication: .recent(RecentWindow(rows: 9))))
      try await f.agree()
      let (store, owner) = (f.store, f.owner)
      let follower = try await LiveFollower(f)
      let handle = follower.handle
      let cloud = AskedCloud()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await cloud.answer(store, handle, owner: owner) }
        // The first difference may be of the device alone.
        var joined = try await follower.part()
        if joined.lack == .unasked { joined = try await follower.part() }
        #expect(joined.lack == .nothing && joined.steps.count == 1)
        #expect(cloud.questions == 1)
        // A table that comes no further is no reason, time is none, and one that does is one, when the time has come.
        clock.advance(by: .seconds(60))
        store.cloudNews.synced(F.photos)
        try await f.write("own")
        #expect(try await follower.part().steps.count == 1)
        #expect(cloud.questions == 1)
        try await f.apply([F.entry("r1", 5, "a")], token: [7])
        store.cloudNews.synced(F.photos)
        while cloud.questions < 2 { _ = try await follower.part() }
        for number in 0..<20 {
          try await f.apply([F.entry("r1", UInt64(10 + number), "\(number)")], token: [8, UInt8(number)])
          store.cloudNews.synced(F.photos)
          #expect(try await follower.part().steps.count >= 1)
        }
        #expect(cloud.questions == 2)
        await store.endLive(handle, owner: owner)
        try await group.waitForAll()
      }
    }
  }

  @Test("UNI-15: more rows than are looked at one by one, and a transaction that fails, leave the answer right")
  func many() async throws {
    try await F.with { f in
      try await f.agree()
      try await f.apply(Self.page(0..<StoreLimits.liveKeysAtOnce * 2))
      var follower = try await LiveFollower(f)
      try await follower.rest()
      try await f.apply(Self.page(0..<StoreLimits.liveKeysAtOnce * 2, version: 10_000, "x"), token: [2])
      try await follower.rest()
      #expect(follower.names.count == StoreLimits.liveKeysAtOnce * 2 && follower.names.allSatisfy { $0.last == "x" })
      // Two that are closed together, of which the second is refused: neither happens.
      let one = try await f.store.openWrite(
        F.photos, cells: [CellValue("name", .text("0"))], objects: [], owner: f.owner, isHeld: true)
      await #expect(throws: CaravanError.self) {
        try await f.store.closeWrites([one.handle, 9_999], isAtomic: true, owner: f.owner)
      }
      try await f.store.abandonWrites([one.handle], owner: f.owner)
      try await f.write("00")
      try await follower.rest()
      #expect(follower.names.first == "00" && !follower.names.contains("0"))
    }
  }
}

extension LocalStore {
  fileprivate func closeIdleLives() { lives.closeIdle() }
}
