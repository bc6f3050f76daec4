import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanTestKit
import Testing

/// Goal: transactions that meet others, as PostgreSQL and engines like it say by 40001 and 40P01, are tried again
/// within bounds, and nothing is lost or doubled (I1, I7). Method: change n of an operation, or of its commit, meets
/// another, for all n; real deadlocks with a session of the test's; clients while every few changes meet others.
@Suite(.timeLimit(.minutes(5))) struct PostgresConflictTests {
  private static func with(
    _ body: (StoreBench, Hindrance, String) async throws -> Void
  ) async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      var options = PostgresOptions(try ConnectionString("\(address) application_name=conflicts"))
      options.isWhole = Sample.isWhole
      (options.writers, options.readers) = (1, 1)
      let bench = StoreBench(.postgres(options))
      try await bench.open()
      let admin = try server.connect(address)
      try await body(bench, Hindrance(admin), address)
      admin.close()
      await bench.close()
    }
  }

  @Test(
    "I1, I7: change n of an operation meets another transaction, or its commit does, for all n: it is tried again",
    arguments: PostgresMessageFaultTests.places)
  func everyChange(operations: [StoreOperation]) async throws {
    try await Self.with { bench, hindrance, _ in
      for operation in operations {
        let ideal = try await Ideal(operation, StoreOperation.Place(bench.store, "ideal-\(operation.id)", bench.clock))
        var step = 1
        while true {
          let place = try StoreOperation.Place(bench.store, "c\(step)-\(operation.id)", bench.clock)
          try await operation.prepare(place)
          try hindrance.arm(at: step, times: 1 + step % 3, Hindrance.State.allCases[step % 2])
          var answer = await Result.of { () throws(CaravanError) in try await operation.act(place) }
          let isMet = try hindrance.disarm()
          let context = "\(operation), step \(step)"
          if isMet, operations.count == 1, case .failure(let error) = answer {
            // Maintenance comes again by itself, a reader by snapshots asks again.
            #expect(error.isTransient, "\(context): \(error)")
            answer = await Result.of { () throws(CaravanError) in try await operation.act(place) }
          }
          if operation.isRepeatable || operations.count > 1 { try await ideal.expect(answer, at: place, context) }
          try await ideal.expectProof(at: place, context)
          try await place.commit(77, [Sample.save("after")])
          guard isMet else { break }
          step += 1
        }
        #expect(step < 200, "\(operation) has an end")
      }
    }
  }

  @Test("I1: reads that meet other transactions are tried again, for as long as a call waits")
  func reads() async throws {
    try await Self.with { bench, hindrance, _ in
      var ideals: [(ideal: Ideal, place: StoreOperation.Place)] = []
      for operation in StoreOperation.reads {
        let place = try StoreOperation.Place(bench.store, operation.id, bench.clock)
        ideals.append((try await Ideal(operation, place), place))
      }
      try hindrance.beginReads()
      let clock = Host.live().clock
      for (ideal, place) in ideals {
        let start = clock.now
        try hindrance.hinderReads(for: .milliseconds(100))
        let answer = await Result.of { () throws(CaravanError) in try await ideal.operation.act(place) }
        #expect(answer == .success(ideal.answer), "\(ideal.operation)")
        #expect(clock.now - start >= .milliseconds(100), "\(ideal.operation) met none")
        try hindrance.hinderReads(for: .seconds(3_600))
        let refusal = await Result.of { () throws(CaravanError) in try await ideal.operation.act(place) }
        guard case .failure(let error) = refusal else {
          Issue.record("\(ideal.operation) met none")
          continue
        }
        #expect(error.code == .serverBusy && error.isTransient)
      }
      // Its own statements, at the end, shall be undisturbed.
      try hindrance.hinderReads(for: .zero)
    }
  }

  @Test("who meets others again and again is told in time to come back, and then all goes on as ever")
  func endless() async throws {
    try await Self.with { bench, hindrance, _ in
      let clock = Host.live().clock
      for operation in StoreOperation.commits.prefix(2) + StoreOperation.objects.prefix(1)
        + StoreOperation.groups.prefix(3)
      {
        let ideal = try await Ideal(operation, StoreOperation.Place(bench.store, "ideal-\(operation.id)", bench.clock))
        let place = try StoreOperation.Place(bench.store, operation.id, bench.clock)
        try await operation.prepare(place)
        try hindrance.arm(at: 1, times: 1 << 40, .serializationFailure)
        let start = clock.now
        let refusal = await #expect(throws: CaravanError.self) { _ = try await operation.act(place) }
        let wait = clock.now - start
        #expect(try hindrance.disarm())
        #expect(refusal?.code == .serverBusy && refusal?.isTransient == true, "\(operation)")
        #expect(wait > .milliseconds(500) && wait < .seconds(10), "\(operation) was tried for \(wait)")
        #expect(try await place.state() == ideal.before, "\(operation) did something")
        let answer = await Result.of { () throws(CaravanError) in try await operation.act(place) }
        try await ideal.expect(answer, at: place, "\(operation)")
      }
      let met = bench.host.metrics.counter(
        CounterName(
          "caravan_storage_transaction_conflicts_total", "Transactions tried again because they met others."))
      #expect(met.value >= 6 * 15, "it was tried again and again")
    }
  }

  /// What an operation changes late in its transaction, when it has the row of its partition already.
  private struct Knot: Sendable, CustomTestStringConvertible {
    let operation: StoreOperation
    let table: String
    var testDescription: String { operation.name }
  }

  private static let knots = [
    Knot(operation: StoreOperation.commits[1], table: "caravan_zones"),
    Knot(operation: StoreOperation.commits[2], table: "caravan_chunks"),
    Knot(operation: StoreOperation.objects[0], table: "caravan_chunks"),
    Knot(operation: StoreOperation.groups[1], table: "caravan_chunks"),
  ]

  @Test("I1, I7: a real deadlock: the store's transaction is the one undone, and is tried again", arguments: knots)
  private func deadlock(knot: Knot) async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      // Whoever looks first whether there is a deadlock is undone.
      let early = address.replacing("options='", with: "options='-c deadlock_timeout=200ms ")
      var options = PostgresOptions(try ConnectionString("\(early) application_name=\(knot.operation.id)"))
      options.isWhole = Sample.isWhole
      (options.writers, options.readers) = (1, 1)
      let bench = StoreBench(.postgres(options))
      try await bench.open()
      let operation = knot.operation
      let ideal = try await Ideal(operation, StoreOperation.Place(bench.store, "ideal", bench.clock))
      let place = try StoreOperation.Place(bench.store, "ada", bench.clock)
      try await operation.prepare(place)
      let other = try server.connect(
        address.replacing("options='", with: "options='-c deadlock_timeout=30s "))
      let admin = try server.connect()
      try other.execute("BEGIN")
      try other.execute("SELECT 1 FROM \(knot.table) FOR UPDATE")
      async let acting = Result.of { () throws(CaravanError) in try await operation.act(place) }
      try await eventually("the store waits for the other", within: .seconds(10)) {
        try !admin.run(
          """
          SELECT 1 FROM pg_stat_activity
          WHERE application_name = convert_from($1, 'UTF8') AND wait_event_type = 'Lock'
          """, operation.id
        ).isEmpty
      }
      try other.execute("SELECT 1 FROM caravan_partitions FOR UPDATE")
      try other.execute("COMMIT")
      try await ideal.expect(await acting, at: place, "after a deadlock")
      let met = bench.host.metrics.counter(
        CounterName(
          "caravan_storage_transaction_conflicts_total", "Transactions tried again because they met others."))
      #expect(met.value >= 1, "there was none")
      other.close()
      admin.close()
      await bench.close()
    }
  }

  @Test("I1, I7: clients of a store whose transactions meet others all the time", arguments: Hindrance.State.allCases)
  func storm(state: Hindrance.State) async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      let storm = try await Storm(address, clients: 12)
      let hindrance = try Hindrance(server.connect(address))
      try hindrance.arm(every: 23, state)
      try await storm.run(until: 400) { _ in }
      #expect(try hindrance.disarm())
      try await storm.check()
      await storm.store.close()
    }
  }
}
