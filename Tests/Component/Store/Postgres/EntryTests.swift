import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanTestKit
import Testing

/// Goal: whoever gives a wrong address, or a server that cannot be used, is told so in one clear line. Method: one
/// wrong thing at a time.
@Suite(.timeLimit(.minutes(1))) struct PostgresEntryTests {
  private func refusal(_ address: String) async throws -> CaravanError {
    let host = Host.live(logLevel: .error)
    var options = PostgresOptions(try ConnectionString(address))
    options.patience = .milliseconds(300)
    let error = await #expect(throws: CaravanError.self) {
      await (try StorePostgres(options, host: host)).close()
    }
    let refusal = try #require(error)
    #expect(!refusal.message.contains("\n") && !refusal.message.contains("s3cret"), "\(refusal)")
    return refusal
  }

  @Test("a wrong password, a missing database, nobody there, an old server")
  func strangers() async throws {
    let server = try PostgresServer.shared.get()
    try? server.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
    let wrong = try await refusal(server.address(user: "locked", rest: "password=s3cret"))
    #expect(wrong.message.contains("password authentication failed for user \"locked\""))
    #expect(wrong.message.hasPrefix("127.0.0.1:\(server.port), database postgres, as locked: "))
    #expect(try await refusal(server.address(database: "nothing")).message.contains("\"nothing\" does not exist"))
    let nobody = try await refusal("postgres://ada:s3cret@127.0.0.1:\(try PostgresServer.freePort())/caravan")
    #expect(nobody.code == .unavailable && nobody.message.contains("Connection refused"))
    let old = try Impostor(version: "9.6.24")
    let refused = try await refusal(
      "host=127.0.0.1 port=\(old.port) user=x dbname=y sslmode=disable gssencmode=disable")
    #expect(refused.message.contains("the server is PostgreSQL 9.6.24: 11 or newer is needed"))
  }

  @Test("a role that may not make tables, or not use those there are")
  func privileges() async throws {
    let server = try PostgresServer.shared.get()
    try? server.execute("CREATE ROLE guest LOGIN")
    try await server.withSchema { address in
      let name = try #require(address.split(separator: "=").last?.dropLast())
      let guest = server.address(user: "guest", rest: "options='-c search_path=\(name)'")
      try server.execute("GRANT USAGE ON SCHEMA \(name) TO guest")
      let making = try await refusal(guest)
      #expect(making.message.contains("permission denied for schema") && making.message.contains("GRANT CREATE"))
      await (try StorePostgres(PostgresOptions(ConnectionString(address)), host: .live(logLevel: .error))).close()
      #expect(try await refusal(guest).message.contains("permission denied for table caravan_layout"))
      try server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA \(name) TO guest")
      let using = try await refusal(guest)
      #expect(using.message.contains("the role lacks DELETE on caravan_accounts and "), "\(using)")
      try server.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(name) TO guest")
      await (try StorePostgres(PostgresOptions(ConnectionString(guest)), host: .live(logLevel: .error))).close()
      try server.execute("UPDATE \(name).caravan_layout SET version = 9")
      #expect(try await refusal(address).message.contains("layout 9, of a newer release: this one knows 6"))
    }
  }
}
