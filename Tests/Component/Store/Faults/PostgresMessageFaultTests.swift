import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanTestKit
import Testing

/// Goal: whichever message of a conversation with PostgreSQL is lost, and whether the server got it or not, the call
/// says so or has its answer, and asking again gives the same (I1, I7, R4). Method: the connection is cut at message n,
/// before the server has it or before its answer is heard, for all n, of every operation.
@Suite(.timeLimit(.minutes(5))) struct PostgresMessageFaultTests {
  /// Maintenance works for all at once: each such operation has tables of its own.
  static let places = [StoreOperation.all] + StoreOperation.maintenance.map { [$0] }

  @Test(
    "I1, I7: message n of an operation is lost, or its answer, for all n",
    arguments: [Proxy.Fate.loseMessage, .loseAnswer], places)
  func everyMessage(fate: Proxy.Fate, operations: [StoreOperation]) async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      let proxy = try Proxy(to: server.port)
      defer { proxy.stop() }
      let detour = address.replacing("port=\(server.port)", with: "port=\(proxy.port)")
      let name = "\(fate)-\(operations[0].id)"
      var options = PostgresOptions(try ConnectionString("\(detour) application_name=\(name)"))
      options.isWhole = Sample.isWhole
      (options.writers, options.readers) = (1, 1)
      let bench = StoreBench(.postgres(options))
      try await bench.open()
      var faults = 0
      for operation in operations { faults += try await Self.enumerate(operation, fate, bench, proxy) }
      #expect(faults >= 2 * operations.count, "connections were cut")
      await bench.close()
      let admin = try server.connect()
      try await eventually("no session is left, with a transaction or without", within: .seconds(30)) {
        try admin.run("SELECT 1 FROM pg_stat_activity WHERE application_name = convert_from($1, 'UTF8')", name).isEmpty
      }
    }
  }

  /// - Returns: messages that were lost.
  private static func enumerate(
    _ operation: StoreOperation, _ fate: Proxy.Fate, _ bench: StoreBench, _ proxy: Proxy
  ) async throws -> Int {
    let ideal = try await Ideal(operation, StoreOperation.Place(bench.store, "ideal-\(operation.id)", bench.clock))
    for message in 0..<100 {
      let place = try StoreOperation.Place(bench.store, "m\(message)-\(operation.id)", bench.clock)
      try await operation.prepare(place)
      proxy.cut(after: message, fate)
      var answer = await Result.of { () throws(CaravanError) in try await operation.act(place) }
      guard proxy.wasCut() else {
        try await ideal.expect(answer, at: place, "\(operation), without a fault")
        try await ideal.expectProof(at: place, "\(operation), without a fault")
        return message
      }
      let context = "\(operation), message \(message), \(fate)"
      if case .failure(let error) = answer {
        #expect(error.isTransient, "\(context): \(error)")
        let state = try await place.state()
        #expect(state == ideal.before || state == ideal.after, "\(context): half of it is there")
        answer = await Result.of { () throws(CaravanError) in try await operation.act(place) }
      }
      if operation.isRepeatable { #expect(answer == .success(ideal.answer), "\(context)") }
      let state = try await place.state()
      #expect(state == ideal.after, "\(context)")
      try await ideal.expectProof(at: place, context)
      try await place.commit(77, [Sample.save("after")])
    }
    Issue.record("\(operation) has no end")
    return 0
  }
}
