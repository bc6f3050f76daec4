import Model
import PostgreSQL
import Runtime
import Store
import StorePostgres
import TestKit
import Testing

/// Goal: whichever message of a conversation with PostgreSQL is lost, and whether the server got it or not, the call
/// says so or has its answer, and asking again gives the same (I1, I7, R4). Method: the connection is cut at message n,
/// before the server has it or before its answer is heard, for all n, of every deed.
@Suite(.timeLimit(.minutes(5))) struct PostgresMessageFaultTests {
  @Test(
    "I1, I7: message n of a deed is lost, or its answer, for all n", arguments: [Proxy.Fate.loseMessage, .loseAnswer])
  func everyMessage(fate: Proxy.Fate) async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { address in
      let proxy = try Proxy(to: server.port)
      defer { proxy.stop() }
      let detour = address.replacing("port=\(server.port)", with: "port=\(proxy.port)")
      var options = PostgresOptions(try ConnectionString("\(detour) application_name=faults"))
      (options.writers, options.readers) = (1, 1)
      let bench = StoreBench(.postgres(options))
      try await bench.open()
      var faults = 0
      for deed in Deed.all { faults += try await Self.enumerate(deed, fate, bench.store, proxy) }
      #expect(faults >= 2 * Deed.all.count, "connections were cut")
      await bench.close()
      let admin = try server.connect()
      try await eventually("no session is left, with a transaction or without", within: .seconds(30)) {
        let rows = try admin.run("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'faults'")
        return rows.first?.integer(0) == 0
      }
    }
  }

  /// - Returns: messages that were lost.
  private static func enumerate(
    _ deed: Deed, _ fate: Proxy.Fate, _ store: any Store, _ proxy: Proxy
  ) async throws -> Int {
    let ideal = try await Ideal(deed, Deed.Place(store, "ideal-\(deed.id)"))
    for message in 0..<100 {
      let place = try Deed.Place(store, "m\(message)-\(deed.id)")
      try await deed.prepare(place)
      proxy.cut(after: message, fate)
      var answer = await Result.of { () throws(CaravanError) in try await deed.act(place) }
      guard proxy.wasCut() else {
        try await ideal.expect(answer, at: place, "\(deed), without a fault")
        return message
      }
      let context = "\(deed), message \(message), \(fate)"
      if case .failure(let error) = answer {
        #expect(error.isTransient, "\(context): \(error)")
        let state = try await place.state()
        #expect(state == ideal.before || state == ideal.after, "\(context): half of it is there")
        answer = await Result.of { () throws(CaravanError) in try await deed.act(place) }
      }
      if deed.isRepeatable { #expect(answer == .success(ideal.answer), "\(context)") }
      let state = try await place.state()
      #expect(state == ideal.after, "\(context)")
      try await place.commit(77, [Sample.save("after")])
    }
    Issue.record("\(deed) has no end")
    return 0
  }
}

extension Deed {
  /// A part of user names.
  fileprivate var id: String { String(name.utf8.reduce(UInt32(7)) { $0 &* 31 &+ UInt32($1) }, radix: 36) }
}
