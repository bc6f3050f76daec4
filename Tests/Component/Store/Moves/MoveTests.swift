import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanStorageCore
import CaravanStorageDriver
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Dispatch
import Testing

import struct Synchronization.Atomic

/// Goal: a user's data moves between stores, of one engine or two, while its devices go on, and nobody can tell
/// (CK-100). Method: a main store and one beside it, all that a store can hold, writers that never stop, and a disk
/// that ends before change n, for many n.
@Suite(.timeLimit(.minutes(3))) struct MoveTests {
  static let kinds = StoreKind.allCases

  /// Records, a tombstone, references, an expiry, chunks, a zone that is gone and one that came again, ops, a lock, a
  /// group that has ended, a quota.
  private static func fill(_ bench: MoveBench) async throws {
    let (zone, store) = (try Sample.zone(), bench.routed)
    try await store.stage([MoveBench.chunk], in: zone.database)
    let rows = [Sample.save("a"), Sample.save("b", chunks: [MoveBench.chunk.hash]), Sample.save("c")]
    _ = try await bench.commit(zone, rows, as: "phone", 1)
    let more = [Sample.delete("c"), Sample.link("d", to: [CaravanModel.Reference(to: "a", .owning)])]
    _ = try await bench.commit(zone, more, as: "phone", 2)
    var terms = WriteTerms(policy: .fieldMerge)
    terms.expiry = .at(9_999_999_999_999)
    _ = try await bench.commit(zone, [Sample.save("e", [1: .text("merged")], terms)], as: "tablet", 1)
    for (number, name) in [(3, "dead"), (6, "again")] as [(UInt64, String)] {
      _ = try await bench.commit(Sample.zone(name), [Sample.save("x"), Sample.save("y")], as: "phone", number)
      _ = try await store.deleteZone(Sample.zone(name), writer: "phone")
      if name == "dead" { _ = try await bench.commit(Sample.zone("bob"), [Sample.save("r")], as: "phone", 4) }
    }
    _ = try await bench.commit(Sample.zone("again"), [Sample.save("z")], as: "phone", 5)
    _ = try await store.settle(OpID(writer: "phone", epoch: 3, number: 77), in: zone)
    _ = try await bench.commit(Sample.zone(of: "bob"), [Sample.save("s")], as: "laptop", 1)
    _ = try await store.setQuota(Quota(records: 50, bytes: nil), of: .user(MoveBench.ada, .development))
    let group = OpID(writer: "phone", epoch: 2, number: 1)
    _ = try await store.beginGroup(group, floor: 0, in: zone)
    _ = try await store.settle(group, in: zone)
    let partition = Partition(of: zone.database)
    _ = try await store.lock(
      "lock/\(zone.database)", .take(ttl: .seconds(600)), holder: "phone", in: partition)
  }

  /// All that devices can see of ada's, with tokens.
  private static func view(_ bench: MoveBench) async throws -> [String] {
    var lines: [String] = []
    for name in ["t", "dead", "again", "bob"] {
      let zone = try Sample.zone(name)
      let reader = ChangeQuery.Reader(writer: "phone", epoch: 1)
      for query in [ChangeQuery(zone: zone), ChangeQuery(zone: zone, reader: reader)] {
        let (page, entries) = try await bench.page(query)
        lines.append("\(name): \(String(describing: page.next)) of \(page.head), \(page.resetRequired), \(entries)")
      }
      lines.append("\(try await bench.routed.fetch(["a", "b", "c", "d", "e", "x", "z"], in: zone))")
    }
    lines.append("\(try await bench.routed.account(.user(MoveBench.ada, .development)))")
    let group = try await bench.routed.group(OpID(writer: "phone", epoch: 2, number: 1), in: Sample.zone())
    lines.append("\(String(describing: group?.stage))")
    return lines
  }

  @Test("CK-100: in another store a user's data is the same to every token, op, lock and writer", arguments: kinds)
  func same(kind: StoreKind) async throws {
    try await MoveBench.with(kind) { bench in
      try await Self.fill(bench)
      let zone = try Sample.zone()
      let before = try await Self.view(bench)
      let replay = try await bench.commit(zone, [Sample.save("never")], as: "phone", 1)
      let again = try Sample.zone("again")
      let former = try await bench.commit(again, [Sample.save("never")], as: "phone", 6)
      let token = try await bench.page(ChangeQuery(zone: zone, maxRecords: 2)).page.next
      for (turn, name) in ["other", "main", "other"].enumerated() {
        let reply = try await bench.move(to: name)
        #expect(reply.store == name && reply.problem.isEmpty && reply.records == 7)
        try await bench.collectAll()
        for (now, then) in zip(try await Self.view(bench), before) { #expect(now == then, "move \(turn)") }
        // UNI-07: what was answered is answered the same, what was aborted stays so.
        #expect(try await bench.commit(zone, [Sample.save("never")], as: "phone", 1) == replay)
        #expect(try await bench.commit(again, [Sample.save("never")], as: "phone", 6) == former, "of a former life")
        let late = OpID(writer: "phone", epoch: 3, number: 77)
        #expect(
          try await bench.routed.commit(
            Commit(zone: zone, op: late, isAtomic: false, mutations: [Sample.save("late")])) == .aborted)
        let rest = try await bench.page(ChangeQuery(zone: zone, position: token))
        #expect(!rest.page.resetRequired && rest.entries.map(\.name) == ["d", "e"], "its token fits")
      }
      let partition = Partition(of: zone.database)
      let lock = "lock/\(zone.database)"
      let held = await #expect(throws: CaravanError.self) {
        _ = try await bench.routed.lock(lock, .take(ttl: .seconds(1)), holder: "tablet", in: partition)
      }
      #expect(held?.code == .lockAlreadyHeld)
      let bytes = try await bench.routed.chunks([MoveBench.chunk.hash], in: zone.database, maxBytes: 9)
      #expect(bytes == [FoundChunk(hash: MoveBench.chunk.hash, bytes: MoveBench.chunk.bytes)])
      // Versions and references go on; what was deleted does not begin anew.
      #expect(try await bench.commit(zone, [Sample.delete("a")], as: "tablet", 9).accepted == [7])
      #expect(try await bench.routed.fetch(["d"], in: zone).map(\.isDeleted) == [true])
      #expect(try await bench.commit(Sample.zone("dead"), [Sample.save("n")], as: "tablet", 10).accepted == [3])
      #expect(try await bench.other.fetch(["r"], in: Sample.zone(of: "bob")).isEmpty, "bob stays where he is")
    }
  }

  @Test("CK-100: what is left behind is removed, chunks after their grace, and the rest stays", arguments: kinds)
  func removal(kind: StoreKind) async throws {
    try await MoveBench.with(kind) { bench in
      try await Self.fill(bench)
      try await bench.move(to: "other")
      try await bench.collectAll()
      let grace = StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(1)
      bench.clock.advance(by: grace)
      try await bench.collectAll()
      let (here, there) = (try await bench.main.status(), try await bench.other.status())
      #expect(here.chunks == 0 && there.chunks == 1)
      // Bob's record, and where ada is.
      #expect(here.records == 2 && there.records == 6, "\(here) \(there)")
    }
  }

  @Test("CK-100: a partition has one log, wherever its users are: each commit once, in order", arguments: kinds)
  func log(kind: StoreKind) async throws {
    try await MoveBench.with(kind) { bench in
      let zone = try Sample.zone()
      var number: UInt64 = 0
      for name in ["other", "main", "other"] {
        for _ in 0..<3 {
          number += 1
          _ = try await bench.commit(zone, [Sample.save("r\(number)")], as: "phone", number)
        }
        try await bench.move(to: name)
      }
      number += 1
      _ = try await bench.commit(zone, [Sample.save("r\(number)")], as: "phone", number)
      _ = try await bench.commit(Sample.zone("new"), [Sample.save("n")], as: "phone", number + 1)
      _ = try await bench.routed.deleteZone(Sample.zone("new"), writer: "phone")
      try await eventually("the log has it all") { try await bench.log().count >= Int(number) + 2 }
      let log = try await bench.log()
      #expect(log.map(\.position) == Array(1...number + 2))
      #expect(log.filter { $0.zone == zone }.map(\.high) == Array(1...number))
      let life = try await bench.page(ChangeQuery(zone: zone)).page.next?.incarnation
      #expect(Set(log.filter { $0.zone == zone }.map(\.incarnation)) == [life], "followers see one life of the zone")
      #expect(log.suffix(2).map(\.isDeletion) == [false, true] && log.suffix(2).allSatisfy { $0.zone.name == "new" })
      let heard = bench.listener.changes.map(\.log).filter { $0.zone.database.owner == MoveBench.ada }
      #expect(heard == log, "who listens hears of it as of any commit")
    }
  }

  @Test("CK-100: writers that go on while their user moves lose nothing, and write nothing twice", arguments: kinds)
  func load(kind: StoreKind) async throws {
    try await MoveBench.with(kind) { bench in
      let isOver = Latch()
      let counts = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
        for writer in 0..<2 {
          group.addTask { (writer, try await Self.write(bench, writer) { isOver.isOpen }) }
        }
        for turn in 0..<2 { try await bench.move(to: turn.isMultiple(of: 2) ? "other" : "main") }
        isOver.open()
        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      let zone = try Sample.zone()
      let entries = try await bench.page(ChangeQuery(zone: zone, maxRecords: 4_096)).entries
      let total = counts.values.reduce(0, +)
      #expect(total > 4 && entries.count == total)
      for (writer, count) in counts { #expect(entries.count { $0.name.hasPrefix("w\(writer).") } == count) }
      try await eventually("the log has it all") {
        try await bench.log().last { $0.zone == zone }?.high == UInt64(total)
      }
      let log = try await bench.log().filter { $0.zone == zone }
      #expect(zip(log, log.dropFirst()).allSatisfy { $0.high == $1.low }, "no commit is missing or there twice")
    }
  }

  /// Each row once; every op is sent twice, as after a lost answer.
  /// - Returns: how many rows.
  private static func write(_ bench: MoveBench, _ writer: Int, until isOver: @Sendable () -> Bool) async throws -> Int {
    var number = 0
    while !isOver(), number < 400 {
      number += 1
      var results: [CommitResult] = []
      while results.count < 2 {
        do {
          let row = Sample.save("w\(writer).\(number)", base: .absent)
          results.append(try await bench.commit(Sample.zone(), [row], as: "w\(writer)", UInt64(number)))
        } catch {
          guard let error = error as? CaravanError, error.code == .serverBusy else { throw error }
          await Task.yield()
        }
      }
      #expect(results[0] == results[1] && results[0].accepted.count == 1)
    }
    return number
  }

  /// Holds the write of a user's arrival, and then the first transaction that only reads.
  private final class Standstill: StatementTap, CommitObserver {
    let hasArrived = Latch()
    let isReading = Latch()
    private let (writer, reader) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

    func letWrite() { writer.signal() }
    func letRead() { reader.signal() }

    func committed(_ group: [CommittedChange]) {
      // After the move's begin.
      guard group.contains(where: { $0.log.zone.name == "placements" && $0.log.high == 2 }) else { return }
      hasArrived.open()
      writer.wait()
    }

    func fate(of sql: String) -> StatementFate {
      if sql == "BEGIN DEFERRED", hasArrived.isOpen, !isReading.isOpen {
        isReading.open()
        reader.wait()
      }
      return .runs
    }
  }

  @Test(
    "CK-22, CK-100: a read whose turn comes when its user has left, and all that was there, reads where the user is",
    arguments: ["fetch", "changes", "zones", "account"])
  func lateRead(of kind: String) async throws {
    try await withTemporaryDirectory { directory in
      let still = Standstill()
      try await MoveBench.with(MoveBench(.files, in: directory, observer: still, statements: still)) { bench in
        let (zone, store) = (try Sample.zone(), bench.routed)
        _ = try await bench.commit(zone, [Sample.save("a"), Sample.save("b")], as: "phone", 1)
        let token = try await bench.page(ChangeQuery(zone: zone, maxRecords: 1)).page.next
        let read: @Sendable () async throws -> String = {
          switch kind {
          case "fetch": return "\(try await store.fetch(["a", "b"], in: zone))"
          case "changes":
            let (page, entries) = try await bench.page(ChangeQuery(zone: zone, position: token))
            return "\(page.resetRequired) \(entries)"
          case "zones": return "\(try await store.zones(in: Partition(of: zone.database), .everything))"
          default: return "\(try await store.account(.user(MoveBench.ada, .development)))"
          }
        }
        let before = try await read()
        async let moved = bench.move(to: "other")
        await still.hasArrived.wait()
        async let late = read()
        await still.isReading.wait()
        still.letWrite()
        _ = try await moved
        try await bench.collectAll()
        still.letRead()
        let answer = try await late
        #expect(answer == before)
      }
    }
  }

  @Test("CK-100: while an open group waits for its parts the move waits too, and writes go on")
  func openGroup() async throws {
    try await MoveBench.with(.memory) { bench in
      let zone = try Sample.zone()
      let op = OpID(writer: "phone", epoch: 1, number: 1)
      _ = try await bench.routed.beginGroup(op, floor: 0, in: zone)
      _ = try await bench.mover.move(MoveBench.ada, to: "other")
      try await eventually("it was tried") { try await bench.mover.move(MoveBench.ada, to: nil).attempts == 1 }
      try await eventually("writes go on") {
        (try? await bench.commit(zone, [Sample.save("a")], as: "phone", 2).accepted) == [1]
      }
      try await eventually("it is said why") {
        try await bench.mover.move(MoveBench.ada, to: nil).problem.contains("group")
      }
      try await bench.routed.removeGroup(op, in: zone)
      #expect(try await bench.move(to: "other").records == 1)
    }
  }

  @Test("CK-100: a move to a store that is not there is refused, and so is a start without a store that users are in")
  func refusals() async throws {
    try await withTemporaryDirectory { directory in
      let bench = try await MoveBench(.files, in: directory)
      try await MoveBench.with(bench) { bench in
        await #expect(throws: CaravanError.self) { _ = try await bench.mover.move(MoveBench.ada, to: "nowhere") }
        _ = try await bench.commit(Sample.zone(), [Sample.save("a")], as: "phone", 1)
        try await bench.move(to: "other")
      }
      let main = try await StoreSQLite(StoreOptions(.directory("\(directory)/main")), host: bench.host)
      let error = await #expect(throws: CaravanError.self) {
        _ = try await RoutedStore(home: main, [], host: bench.host)
      }
      #expect(error?.message.contains("start with --store other=") == true)
      await main.close()
    }
  }

  /// Ends before change n of the files of both stores.
  fileprivate final class EndingDisk: DiskTap {
    fileprivate let left: Atomic<Int>
    let seen = Atomic<Int>(0)

    init(after changes: Int) { left = Atomic(changes) }

    func allows(_ change: DiskChange, of path: String) -> Bool {
      seen.add(1, ordering: .relaxed)
      return left.wrappingSubtract(1, ordering: .relaxed).oldValue > 0
    }
  }

  @Test("CK-100: wherever a move is cut off, the next life ends it, and nothing is lost or there twice")
  func crashes() async throws {
    try await withTemporaryDirectory { directory in
      let whole = EndingDisk(after: .max)
      let expected = try await Self.moving("\(directory)/whole", whole)
      let changes = whole.seen.load(ordering: .relaxed)
      #expect(changes > 20)
      for number in stride(from: 1, to: changes, by: max(1, changes / 16)) {
        let found = try await Self.moving("\(directory)/\(number)", EndingDisk(after: number))
        #expect(found == expected, "cut off before change \(number) of \(changes)")
      }
    }
  }

  /// - Returns: what there is at the end.
  private static func moving(_ directory: String, _ disk: EndingDisk) async throws -> [String] {
    try await MoveBench.with(MoveBench(.files, in: directory)) { try await fill($0) }
    let bench = try? await MoveBench(.files, in: directory, tap: disk)
    if let bench {
      await withDiscardingTaskGroup { group in
        group.addTask { await bench.mover.run() }
        _ = try? await bench.mover.move(MoveBench.ada, to: "other")
        // Until it is done, or was tried in vain.
        try? await eventually("it has come to an end") {
          let reply = try await bench.mover.move(MoveBench.ada, to: nil)
          return reply.to.isEmpty && reply.leaving.isEmpty || !reply.problem.isEmpty || disk.hasEnded
        }
        group.cancelAll()
      }
      bench.main.crash()
      (bench.other as? StoreSQLite)?.crash()
    }
    var lines: [String] = []
    try await MoveBench.with(MoveBench(.files, in: directory)) { bench in
      try await bench.move(to: "other")
      try await bench.collectAll()
      lines = try await view(bench).map { Self.withoutIncarnations($0) }
      lines.append("\(try await bench.other.status().records)")
    }
    return lines
  }

  /// Each directory draws its own.
  private static func withoutIncarnations(_ line: String) -> String {
    line.replacing(#/incarnation: \d+/#, with: "incarnation")
  }
}

extension MoveTests.EndingDisk {
  fileprivate var hasEnded: Bool { left.load(ordering: .relaxed) <= 0 }
}

/// What is left to do follows from the placement alone (CK-100).
@Suite struct PlacementTests {
  @Test("CK-100: whatever happens between two steps, the next step is the same; only a whole copy is a new truth")
  func steps() throws {
    let begun = try Placement().moving(to: "b")
    #expect(begun.next == .copy(to: "b") && begun.store == "main" && Placement().next == .rest)
    let arrived = begun.arrived
    #expect(arrived.store == "b" && arrived.next == .clear("main") && arrived.cleared.next == .rest)
    #expect(begun.givenUp.store == "main" && begun.givenUp.next == .clear("b") && begun.givenUp.cleared.isDefault)
    // Back, while what was left behind is still there: that goes first.
    let back = try arrived.moving(to: "main")
    #expect(back.next == .clear("main") && back.cleared.next == .copy(to: "main"))
    #expect(back.cleared.arrived.cleared.isDefault || back.cleared.arrived.next == .clear("b"))
    #expect(throws: CaravanError.self) { try begun.moving(to: "c") }
    #expect(try begun.moving(to: "b") == begun && arrived.cleared.moving(to: "b") == arrived.cleared)
    for placement in [begun, arrived, back, begun.givenUp] { #expect(try Placement(placement.fields) == placement) }
    #expect(throws: CaravanError.self) { try Placement(RecordFields()) }
    for name in ["", "B", "a/b", String(repeating: "a", count: 33)] {
      #expect(throws: CaravanError.self) { try Placement.check(name: name) }
    }
  }
}
