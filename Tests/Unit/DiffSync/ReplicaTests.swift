import CaravanModel
import CaravanTestKit
import Testing

@testable import CaravanDiffSync

/// Goal: a client keeps everything in order from SYNC_BEGIN to step 9, whatever answer comes or does not come. Method:
/// replicas and a model server, one message at a time.
@Suite struct ReplicaTests {
  /// Asks until nothing is pending.
  private func sync(_ replica: inout Replica, _ server: inout ModelServer, as client: String, now: UInt64) -> Step {
    for _ in 0..<100 {
      let step = ask(&replica, &server, as: client, now: now)
      guard step == .again else { return step }
    }
    return .again
  }

  private func ask(_ replica: inout Replica, _ server: inout ModelServer, as client: String, now: UInt64) -> Step {
    let question = replica.question
    if case .continue(let attempt) = question {
      return replica.hear(server.continue(attempt, of: client, now: now))
    }
    return replica.hear(server.begin(question, of: client, now: now), at: Int64(now))
  }

  @Test("DIF-08: the worked example: C2's delete gets height 3, and the object is deleted everywhere")
  func workedExample() throws {
    var (c1, c2, server) = (Replica(), Replica(), ModelServer())
    try c1.create("aaa", "note", ["n": .integer(1)], at: 1)
    _ = sync(&c1, &server, as: "c1", now: 1)
    #expect(c1.standing.height == 1)
    _ = sync(&c2, &server, as: "c2", now: 1)
    #expect(c2.objects.bare["aaa"] == object(["n": 1]) && c2.standing.height == 1)
    try c2.delete("aaa", at: 2)
    try c1.update("aaa", "n", .integer(2), at: 3)
    _ = sync(&c1, &server, as: "c1", now: 4)
    #expect(c1.standing.height == 2)
    _ = sync(&c2, &server, as: "c2", now: 5)
    #expect(c2.standing.height == 3 && server.objects["aaa"]?.version == 3)
    _ = sync(&c1, &server, as: "c1", now: 6)
    #expect(c1.objects.isEmpty && c2.objects.isEmpty && server.state.isEmpty)
  }

  @Test(
    "DIF-06, DIF-07: each change is logged with its time and no height; heights follow the order of syncs, not times")
  func logged() throws {
    var (c1, c2, server) = (Replica(), Replica(), ModelServer())
    try c1.create("a", "note", ["n": .integer(1)], at: 1)
    #expect(c1.log.map(\.height) == [nil] && c1.log.map(\.timestamp) == [HybridStamp(milliseconds: 1)])
    _ = sync(&c1, &server, as: "c1", now: 1)
    _ = sync(&c2, &server, as: "c2", now: 1)
    try c2.update("a", "n", .integer(2), at: 2)
    try c1.update("a", "m", .integer(3), at: 3)
    _ = sync(&c1, &server, as: "c1", now: 4)
    _ = sync(&c2, &server, as: "c2", now: 4)
    let news = server.objects["a"]?.diffs(after: 1) ?? []
    #expect(news.map(\.height) == [2, 3] && news.map(\.timestamp.rawValue) == [3 << 16, 2 << 16])
  }

  @Test("DIF-28: nothing to send: no SYNC_CONTINUE, the height moves on, and a turn that was taken is given back")
  func nothingToSend() throws {
    var (c1, c2, server) = (Replica(), Replica(), ModelServer())
    try c1.create("a", "note", [:], at: 1)
    #expect(sync(&c1, &server, as: "c1", now: 1) == .finished(release: []))
    #expect(sync(&c2, &server, as: "c2", now: 2) == .finished(release: []) && c2.standing.height == 1)
    try c1.delete("a", at: 3)
    _ = sync(&c1, &server, as: "c1", now: 3)
    try c2.update("a", "n", .integer(1), at: 4)
    guard case .finished(let token) = sync(&c2, &server, as: "c2", now: 4) else {
      Issue.record("a sync with nothing left to send did not finish")
      return
    }
    #expect(!token.isEmpty && c2.standing.height == 2 && c2.log.isEmpty && c2.objects.isEmpty)
  }

  @Test(
    "DIF-28: a refusal rolls D back and leaves L and height as they were",
    arguments: ContinueStatus.allCases.dropFirst())
  func rollBack(_ status: ContinueStatus) throws {
    var (other, replica, server) = (Replica(), Replica(), ModelServer())
    try other.create("theirs", "note", [:], at: 1)
    _ = sync(&other, &server, as: "other", now: 1)
    try replica.create("mine", "note", [:], at: 2)
    let before = replica
    #expect(ask(&replica, &server, as: "c", now: 2) == .again)
    guard case .continue(let attempt) = replica.question else { throw Missing("SYNC_CONTINUE to be sent") }
    #expect(attempt.diffs.map(\.height) == [2])
    let step = replica.hear(.refused(Refusal(status, uuid: "another", "no")))
    #expect(replica.objects == before.objects && replica.log == before.log && replica.standing.height == 0)
    switch status {
    case .ok, .noSuchObject, .objectExists, .invalidSyncToken: #expect(step == .again)
    case .invalidData, .malformedUpdate, .malformedUpdateUUID:
      #expect(step == .failed(Refusal(status, uuid: "another", "no")))
    }
    #expect(sync(&replica, &server, as: "c", now: 3) == .finished(release: []))
    #expect(replica.objects.keys.sorted() == ["mine", "theirs"] && replica.standing.nextOp == 3)
  }

  @Test("DIF-28, DIF-30: a lost answer is asked for again under the same op, and nothing happens twice")
  func lostAnswer() throws {
    var (replica, server) = (Replica(), ModelServer())
    try replica.create("a", "note", ["n": .integer(1)], at: 1)
    _ = ask(&replica, &server, as: "c", now: 1)
    guard case .continue(let attempt) = replica.question else { throw Missing("SYNC_CONTINUE to be sent") }
    _ = server.continue(attempt, of: "c", now: 1)
    // The client dies, and its file says that the answer is missing.
    var reborn = Replica(log: replica.log, standing: replica.standing)
    reborn.objects = replica.objects
    try reborn.update("a", "n", .integer(2), at: 5)
    #expect(reborn.question == .continue(attempt))
    #expect(sync(&reborn, &server, as: "c", now: 6) == .finished(release: []))
    #expect(
      server.seq == 2 && server.state == ["a": ["n": .integer(2)]] && reborn.objects.bare == ["a": object(["n": 2])])
  }

  @Test("DIF-28, I4: an answer that comes without a height hides no delete that the server has forgotten meanwhile")
  func lostKey() throws {
    var (other, replica, server) = (Replica(), Replica(), ModelServer())
    try other.create("gone", "note", [:], at: 1)
    _ = sync(&other, &server, as: "other", now: 1)
    _ = sync(&replica, &server, as: "c", now: 1)
    try replica.create("mine", "note", [:], at: 2)
    _ = ask(&replica, &server, as: "c", now: 2)
    guard case .continue(let attempt) = replica.question else { throw Missing("SYNC_CONTINUE to be sent") }
    // Its answer is lost, and with the key of tokens what the server knew of the height.
    _ = server.continue(attempt, of: "c", now: 2)
    try other.delete("gone", at: 3)
    _ = sync(&other, &server, as: "other", now: 3)
    server.purge()
    server.loseKey()
    _ = sync(&replica, &server, as: "c", now: 4)
    #expect(replica.standing.height == 1, "what the page had shown")
    _ = sync(&replica, &server, as: "c", now: 5)
    #expect(replica.objects.bare == ["mine": object()] && server.state == replica.objects.mapValues(\.fields))
  }

  @Test("DIF-03, DIF-28: what the app does between SYNC_BEGIN and its end is kept, compared and sent")
  func editsMeanwhile() throws {
    var (other, replica, server) = (Replica(), Replica(), ModelServer())
    try replica.create("a", "note", ["n": .integer(1)], at: 1)
    try replica.create("b", "note", [:], at: 1)
    _ = sync(&replica, &server, as: "c", now: 1)
    _ = sync(&other, &server, as: "other", now: 1)
    try other.delete("b", at: 2)
    try other.update("a", "m", .integer(5), at: 2)
    _ = sync(&other, &server, as: "other", now: 2)
    try replica.update("a", "n", .integer(3), at: 3)
    _ = ask(&replica, &server, as: "c", now: 3)
    try replica.update("a", "n", .integer(4), at: 4)
    try replica.update("b", "n", .integer(4), at: 4)
    try replica.create("d", "note", [:], at: 4)
    #expect(sync(&replica, &server, as: "c", now: 5) == .finished(release: []))
    #expect(replica.objects.bare == ["a": object(["n": 4, "m": 5]), "d": object()])
    #expect(server.state == replica.objects.mapValues(\.fields))
  }

  @Test("DIF-11: an invalid height begins again at 0 with everything pending; what is gone at the server goes")
  func restart() throws {
    var (other, replica, server) = (Replica(), Replica(), ModelServer())
    for uuid in ["a", "b", "c", "d", "e"] { try other.create(uuid, "note", ["n": .integer(1)], at: 1) }
    _ = sync(&other, &server, as: "other", now: 1)
    _ = sync(&replica, &server, as: "c", now: 1)
    try other.delete("a", at: 2)
    try other.delete("b", at: 2)
    try other.update("c", "n", .integer(9), at: 9)
    _ = sync(&other, &server, as: "other", now: 9)
    server.purge()
    try replica.update("b", "n", .integer(2), at: 3)
    try replica.update("c", "n", .integer(2), at: 3)
    try replica.update("d", "n", .integer(2), at: 3)
    try replica.delete("a", at: 3)
    try replica.create("mine", "note", [:], at: 3)
    #expect(sync(&replica, &server, as: "c", now: 10) == .finished(release: []))
    #expect(
      replica.objects.bare == [
        "c": object(["n": 9]), "d": object(["n": 2]), "e": object(["n": 1]), "mine": object(),
      ])
    #expect(server.state == replica.objects.mapValues(\.fields))
  }

  @Test("TRU-19: a client that is back after a purge keeps what it had not sent, of what is gone there, too")
  func purged() throws {
    var (other, replica, server) = (Replica(), Replica(), ModelServer())
    for uuid in ["a", "b", "c", "d"] { try other.create(uuid, "note", ["n": .integer(1), "m": .integer(1)], at: 1) }
    _ = sync(&other, &server, as: "other", now: 1)
    _ = sync(&replica, &server, as: "c", now: 1)
    for uuid in ["a", "b"] { try other.delete(uuid, at: 2) }
    _ = sync(&other, &server, as: "other", now: 2)
    server.purge()
    try replica.update("a", "n", .integer(2), at: 3)
    try replica.update("a", "m", .null, at: 3)
    try replica.update("c", "n", .integer(2), at: 3)
    try replica.create("mine", "note", [:], at: 3)
    for _ in 0..<10 where replica.standing.attempt == nil { _ = ask(&replica, &server, as: "c", now: 4) }
    guard case .continue = replica.question else { throw Missing("SYNC_CONTINUE to be sent") }
    _ = replica.hear(.refused(Refusal(.invalidSyncToken, "too late")))
    #expect(replica.aside.isEmpty && replica.log.count == 4, "nothing has happened")
    #expect(sync(&replica, &server, as: "c", now: 5) == .finished(release: []))
    #expect(replica.aside == ["a": UnsentObject(objtype: "note", fields: ["n": .integer(2)], edited: ["n", "m"])])
    #expect(replica.objects["c"]?.fields["n"] == .integer(2) && replica.objects.keys.sorted() == ["c", "d", "mine"])
    #expect(server.state == replica.objects.mapValues(\.fields), "what was deleted stays deleted")
  }

  @Test("DIF-12: more than one SYNC_CONTINUE takes goes up in parts, whole objects each")
  func parts() throws {
    var (replica, server) = (Replica(), ModelServer())
    server.pageRecords = 10_000
    for number in 0..<900 { try replica.create("o\(number)", "note", [:], at: 1) }
    _ = ask(&replica, &server, as: "c", now: 1)
    guard case .continue(let attempt) = replica.question else { throw Missing("SYNC_CONTINUE to be sent") }
    #expect(attempt.diffs.count == DiffLimits.objectsPerContinue)
    #expect(sync(&replica, &server, as: "c", now: 2) == .finished(release: []))
    #expect(server.state.count == 900 && replica.log.isEmpty)
  }

  @Test(
    "DIF-05, E4: names beyond 40, 128 and 128 bytes are refused, as are values that are no int, float, string or list")
  func limits() throws {
    var replica = Replica()
    func long(_ count: Int) -> String { String(repeating: "x", count: count) }
    try replica.create(long(128), long(40), [long(128): .real(1.5)], at: 1)
    #expect(throws: CaravanError.self) { try replica.create("a", long(41), [:], at: 1) }
    #expect(throws: CaravanError.self) { try replica.create(long(129), "note", [:], at: 1) }
    #expect(throws: CaravanError.self) { try replica.create("", "note", [:], at: 1) }
    #expect(throws: CaravanError.self) { try replica.update(long(128), long(129), .integer(1), at: 1) }
    let refused: [Value] = [
      .data([1]), .list([.list([])]), .list([.integer(1), .text("a")]), .reference(Reference(to: "a")),
    ]
    for value in refused {
      #expect(throws: CaravanError.self) { try replica.update(long(128), "f", value, at: 1) }
    }
    try replica.update(long(128), "f", .list([.text("a"), .text("b")]), at: 1)
    #expect(replica.log.count == 2)
  }

  @Test("DIF-05, DIF-12: a uuid is given once, cannot change, and must be known to be updated or deleted")
  func uuids() throws {
    var replica = Replica()
    try replica.create("a", "note", [:], at: 1)
    let exists = #expect(throws: CaravanError.self) { try replica.create("a", "note", [:], at: 1) }
    #expect(exists?.code == .objectExists)
    #expect(throws: CaravanError.self) { try replica.update("a", "uuid", .text("b"), at: 1) }
    try replica.delete("a", at: 2)
    #expect(throws: CaravanError.self) { try replica.create("a", "note", [:], at: 3) }
    let unknown = #expect(throws: CaravanError.self) { try replica.delete("a", at: 3) }
    #expect(unknown?.code == .noSuchObject)
  }

  @Test("DIF-31: a client's stamps follow what it has seen, and a clock that was ahead is put right by the next sync")
  func stamps() throws {
    var clock = StampClock()
    let first = clock.stamp(at: 5)
    #expect(first == HybridStamp(milliseconds: 5) && clock.stamp(at: 5) > first && clock.stamp(at: 3) > first)
    _ = clock.stamp(at: 90_000)
    clock.hear(serverTime: 100, at: 90_001)
    #expect(clock.stamp(at: 90_002) == HybridStamp(milliseconds: 101))
    clock.see([update("a", "n", 1, at: HybridStamp(milliseconds: 200).rawValue)])
    #expect(clock.stamp(at: 90_003) > HybridStamp(milliseconds: 200))
  }
}
