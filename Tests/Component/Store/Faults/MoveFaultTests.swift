import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanSQLite
import CaravanStorageDriver
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: whichever statement of a move fails, and whichever message to PostgreSQL is lost on the way, the user arrives,
/// with all that was there, once (CK-100, I1, I7). Method: users move one after the other, there and back; statement n
/// fails, or message n cuts its connection, for all n, or every few of them unless the run is a long one.
@Suite(.timeLimit(.minutes(5))) struct MoveFaultTests {
  /// Which way.
  enum Way: String, Sendable, CaseIterable {
    case there, back
  }

  @Test("CK-100, I1, I7: statement n of a move fails, for all n", arguments: Way.allCases)
  func everyStatement(way: Way) async throws {
    let tap = FaultySteps()
    try await MoveBench.with(MoveBench(.memory, in: "", statements: tap)) { bench in
      let steps = try await Self.enumerate(way, bench, every: StatementFaultTests.isLong ? 1 : 41) { step in
        tap.arm(step, step.isMultiple(of: 2) ? .fails : .failsAndRollsBack, twice: step % 4 < 2)
      } failed: {
        tap.disarm()
      }
      #expect(steps > 100, "the tap was asked")
    }
  }

  @Test(
    "CK-100, I1, I7: message n of a move to or from PostgreSQL is lost, or its answer, for all n",
    arguments: [Proxy.Fate.loseMessage, .loseAnswer], Way.allCases)
  func everyMessage(fate: Proxy.Fate, way: Way) async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      let proxy = try Proxy(to: server.port)
      defer { proxy.stop() }
      let detour = address.replacing("port=\(server.port)", with: "port=\(proxy.port)")
      try await MoveBench.with(MoveBench(.postgres, in: detour)) { bench in
        let messages = try await Self.enumerate(way, bench, every: StatementFaultTests.isLong ? 1 : 41) { message in
          proxy.cut(after: message, fate)
        } failed: {
          proxy.wasCut() ? "a message" : nil
        }
        #expect(messages > 10, "connections were cut")
      }
    }
  }

  @Test(
    "CK-100, I1, I7: change n of a move to or from PostgreSQL meets another transaction, for all n",
    arguments: Hindrance.State.allCases, Way.allCases)
  func everyChange(state: Hindrance.State, way: Way) async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      try await MoveBench.with(MoveBench(.postgres, in: address)) { bench in
        let admin = try server.connect(address)
        let hindrance = try Hindrance(admin)
        let changes = try await Self.enumerate(way, bench, every: StatementFaultTests.isLong ? 1 : 11) { step in
          #expect(throws: Never.self) { try hindrance.arm(at: step + 1, times: 1 + step % 3, state) }
        } failed: {
          (try? hindrance.disarm()) == true ? "a change" : nil
        }
        #expect(changes > 10, "the changes were counted")
        admin.close()
      }
    }
  }

  /// - Parameters:
  ///   - fail: at step n of what follows.
  ///   - failed: says what did, and ends it; nil: there were not so many.
  /// - Returns: steps of one move.
  private static func enumerate(
    _ way: Way, _ bench: MoveBench, every stride: Int, fail: (Int) -> Void, failed: () -> String?
  ) async throws -> Int {
    var users = [UserID(unchecked: "ideal")]
    let (ideal, _) = try await move(users[0], way, bench, fail: {}, failed: { nil })
    var step = way == .there ? 0 : stride / 2
    while step < 10_000 {
      users.append(UserID(unchecked: "u\(step)"))
      let (state, what) = try await move(users[users.count - 1], way, bench, fail: { fail(step) }, failed: failed)
      #expect(state == ideal, "step \(step), '\(what ?? "none")'")
      if what == nil { break }
      step += stride
    }
    try await bench.collectAll()
    let left = try await (way == .there ? bench.main : bench.other).status().records
    #expect(left == (way == .there ? users.count : 0), "what was left behind is gone, but for where users are")
    return step
  }

  /// Gives a user something, and lets them move.
  /// - Returns: what there is then, with what they do next, and what failed on the way.
  private static func move(
    _ user: UserID, _ way: Way, _ bench: MoveBench, fail: () -> Void, failed: () -> String?
  ) async throws -> ([String], String?) {
    let zone = try Sample.zone(of: user.text)
    try await bench.routed.stage([MoveBench.chunk], in: zone.database)
    let rows = [Sample.save("a"), Sample.save("b", chunks: [MoveBench.chunk.hash]), Sample.save("c")]
    let first = try await bench.commit(zone, rows, as: user.text, 1)
    _ = try await bench.commit(zone, [Sample.delete("c"), Sample.save("a", body: [9])], as: user.text, 2)
    _ = try await bench.routed.lock(
      "lock/\(zone.database)", .take(ttl: .seconds(1 << 30)), holder: "phone", in: Partition(of: zone.database))
    if way == .back { try await arrive(user, in: MoveBench.name, bench) }
    fail()
    try await arrive(user, in: way == .there ? MoveBench.name : "main", bench)
    let what = failed()

    let (page, entries) = try await bench.page(ChangeQuery(zone: zone))
    var lines = entries.map { "\($0.name)@\($0.version) of \($0.created) \($0.deleted) \($0.body)" }
    lines.append("to \(page.next?.seq ?? 0) of \(page.head)")
    lines.append("\(try await bench.routed.chunks([MoveBench.chunk.hash], in: zone.database, maxBytes: 9))")
    lines.append("\(try await bench.routed.account(.user(user, .development)).used)")
    #expect(try await bench.commit(zone, rows, as: user.text, 1) == first, "UNI-07: its ops are known")
    let held = await #expect(throws: CaravanError.self) {
      _ = try await bench.routed.lock(
        "lock/\(zone.database)", .take(ttl: .seconds(1)), holder: "tablet", in: Partition(of: zone.database))
    }
    lines.append("\(held?.code == .lockAlreadyHeld)")
    lines.append("\(try await bench.commit(zone, [Sample.save("a", body: [7])], as: user.text, 3).accepted)")
    try await passing(bench, until: "the log has it all") {
      try await bench.log(of: user).last { $0.zone == zone }?.high == 6
    }
    lines += try await bench.log(of: user).filter { $0.zone == zone }.map { "(\($0.low), \($0.high)]" }
    return (lines, what)
  }

  /// Asks until it is taken up, and waits until it is done: what failed once or twice is tried again, not given up.
  private static func arrive(_ user: UserID, in store: String, _ bench: MoveBench) async throws {
    var isTakenUp = false
    try await passing(bench, until: "\(user) is in \(store)") {
      let reply: MoveReply
      do throws(CaravanError) { reply = try await bench.mover.move(user, to: isTakenUp ? nil : store) } catch {
        guard error.isTransient else { throw error }
        return false
      }
      isTakenUp = true
      guard reply.store == store || reply.to == store else {
        throw CaravanError(.internalError, "the move of \(user) was given up: \(reply.problem)")
      }
      return reply.store == store && reply.to.isEmpty && reply.leaving.isEmpty
    }
  }

  /// Whoever waits after a failure goes on.
  private static func passing(
    _ bench: MoveBench, until what: String, _ condition: () async throws -> Bool
  ) async throws {
    try await eventually(what) {
      if try await condition() { return true }
      bench.clock.advance(by: .milliseconds(200))
      return false
    }
  }
}
