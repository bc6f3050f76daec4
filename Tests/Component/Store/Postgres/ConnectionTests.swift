import CaravanModel
import CaravanPostgreSQL
import CaravanTestKit
import Foundation
import Testing

/// Goal: the room of libpq keeps what it says. Method: a real server, and impostors where one is wanted.
@Suite(.timeLimit(.minutes(2))) struct PostgresConnectionTests {
  private func server() throws -> PostgresServer { try PostgresServer.shared.get() }

  @Test("values come back as they went, also none, empty and many")
  func values() throws {
    let db = try server().connect()
    let hash = Sample.hash(7)
    let row = try #require(
      try db.run(
        "SELECT $1, $2, $3, $4, $5, $6, $7, $8", Int32(-5), Int64.min, UInt64.max, true, "ä\u{0}ß", hash, Bytes([]),
        Int64?.none
      ).first)
    #expect(row.integer(0) == -5 && row.integer(1) == .min && row.unsigned(2) == .max && row.flag(3))
    #expect(row.text(4) == "ä\u{0}ß" && row.bytes(5) == hash.bytes && row.bytes(6) == [] && !row.isNull(6))
    #expect(row.isNull(7) && row.integer(7) == 0)
    let lists = try db.run(
      "SELECT * FROM unnest($1, $2, $3)", [Int64(1), -2, 3], ["a", nil, ""], [true, false, true])
    #expect(lists.map { $0.integer(0) } == [1, -2, 3] && lists.map { $0.text(1) } == ["a", "", ""])
    #expect(lists.map { $0.isNull(1) } == [false, true, false] && lists.map { $0.flag(2) } == [true, false, true])
    #expect(try db.run("SELECT count(*) FROM unnest($1)", [Int64]()).first?.integer(0) == 0)
  }

  @Test("a failure ends its pipeline, undoes its transaction and spares the connection")
  func failure() throws {
    let db = try server().connect()
    try db.execute("CREATE TEMPORARY TABLE t(a bigint PRIMARY KEY, b bigint CHECK (b > 0))")
    func insert(_ a: Int, _ b: Int) throws(PostgresError) {
      var pipeline = Pipeline()
      pipeline.add("BEGIN")
      pipeline.add("INSERT INTO t VALUES ($1, $2)", a, b)
      pipeline.add("SELECT a FROM t")
      pipeline.add("COMMIT")
      let answers = try db.run(pipeline)
      #expect(answers.count == 4 && answers[3].tag == "COMMIT" && answers[1].changed == 1)
    }
    try insert(1, 1)
    #expect(#expect(throws: PostgresError.self) { try insert(1, 1) }?.kind == .duplicate)
    #expect(#expect(throws: PostgresError.self) { try insert(2, 0) }?.kind == .constraint)
    try insert(2, 1)
    #expect(try db.run("SELECT a FROM t ORDER BY a").map { $0.integer(0) } == [1, 2])
    #expect(#expect(throws: PostgresError.self) { try db.run("SELECT * FROM nowhere") }?.kind == .noSuchTable)
    #expect(#expect(throws: PostgresError.self) { try db.run("SELECT * FROM nowhere") }?.kind == .noSuchTable)
    try db.execute("BEGIN")
    #expect(#expect(throws: PostgresError.self) { try db.execute("SELECT 1 / 0") }?.kind == .other)
    #expect(try db.run("SELECT 1").count == 1)
  }

  @Test("megabytes go both ways at once")
  func volume() throws {
    let db = try server().connect()
    let body = Bytes([UInt8](repeating: 7, count: 1 << 20))
    var pipeline = Pipeline()
    for _ in 0..<24 { pipeline.add("SELECT $1", body) }
    #expect(try db.run(pipeline).allSatisfy { $0.first?.byteCount(0) == 1 << 20 })
  }

  @Test("a session that the server ends, and one it leaves without an answer, are lost")
  func losses() throws {
    let server = try server()
    let db = try server.connect()
    let pid = try #require(try db.run("SELECT pg_backend_pid()").first).integer(0)
    try server.execute("SELECT pg_terminate_backend(\(pid))")
    #expect(#expect(throws: PostgresError.self) { try db.run("SELECT 1") }?.kind == .lost)
    #expect(#expect(throws: PostgresError.self) { try db.run("SELECT 1") }?.kind == .lost)

    var options = CaravanPostgreSQL.ConnectionOptions(try ConnectionString(server.address()))
    options.replyMilliseconds = 100
    let impatient = try CaravanPostgreSQL.Connection(options)
    let silence = #expect(throws: PostgresError.self) { try impatient.run("SELECT 1 FROM pg_sleep(2)") }
    #expect(silence?.kind == .lost && silence?.message.contains("100 ms") == true)
  }

  @Test("a server that is slow is asked whether it is there, and waited for")
  func slowness() throws {
    var options = CaravanPostgreSQL.ConnectionOptions(try ConnectionString(try server().address()))
    options.silenceMilliseconds = 50
    let db = try CaravanPostgreSQL.Connection(options)
    #expect(try db.run("SELECT 1 FROM pg_sleep(1)").count == 1)
    try db.execute("SELECT pg_sleep(1)")
  }

  @Test("a server that hangs is not waited for, whatever it was asked")
  func hanging() throws {
    let server = try PostgresServer(durable: false)
    let asked = try [server.connect(), server.connect()]
    server.signalAll(SIGSTOP)
    // Who waits for good hears an answer in the end, and the test ends.
    let rescue = DispatchWorkItem { server.signalAll(SIGCONT) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 20, execute: rescue)
    defer {
      rescue.cancel()
      server.signalAll(SIGCONT)
    }
    let silences = [
      #expect(throws: PostgresError.self) { try asked[0].run("SELECT 1") },
      #expect(throws: PostgresError.self) { try asked[1].execute("SELECT 1") },
    ]
    for silence in silences { #expect(silence?.kind == .lost && silence?.message.contains("hangs") == true) }
  }

  @Test("session settings hold; those a server does not know are left out")
  func settings() throws {
    var options = CaravanPostgreSQL.ConnectionOptions(try ConnectionString(try server().address()))
    options.preamble = ["SET no_such_setting = 1", "SET statement_timeout = '100ms'"]
    let db = try CaravanPostgreSQL.Connection(options)
    #expect(#expect(throws: PostgresError.self) { try db.run("SELECT 1 FROM pg_sleep(3)") }?.kind == .busy)
    #expect(try db.run("SELECT 1").count == 1)
  }

  // MARK: Who is not let in

  @Test(
    "an address that is none is refused without a word of its password",
    arguments: [
      "", "postgres://ada:s3cret@host:80x@/x?y", "host=h password=my s3cret", "pasword=s3cret",
      "postgres://ada:s3cret@[::1/x", "host='s3cret",
    ])
  func addresses(text: String) {
    let error = #expect(throws: CaravanError.self) { try ConnectionString(text) }
    #expect(error?.code == .invalidData && error?.message.contains("s3cret") == false)
    #expect(error?.message.contains("\n") == false && error?.message.contains("PostgreSQL") == true)
  }

  @Test("an address shows where it leads, without its password")
  func description() throws {
    let address = try ConnectionString("postgres://ada:s3cret@db.example:5433/caravan?sslmode=require")
    #expect("\(address)" == "db.example:5433, database caravan, as ada")
  }

  private func refusal(_ text: String) throws -> PostgresError? {
    #expect(throws: PostgresError.self) { try server().connect(text) }
  }

  @Test("a wrong password and a missing database are refusals; nobody there is a loss")
  func entry() throws {
    let server = try server()
    try? server.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
    #expect(try server.connect(server.address(user: "locked", rest: "password=right")).run("SELECT 1").count == 1)
    let wrong = try refusal(server.address(user: "locked", rest: "password=wrong"))
    #expect(wrong?.kind == .refused && wrong?.message.contains("password authentication failed") == true)
    #expect(try refusal(server.address(database: "nothing"))?.kind == .refused)
    let unread = try refusal("postgres://ada:s3cret@127.0.0.1:port/x")
    #expect(unread?.kind == .refused && unread?.message.contains("invalid integer value") == true)
    let nobody = try refusal("host=127.0.0.1 port=\(try PostgresServer.freePort()) user=x dbname=y")
    #expect(nobody?.kind == .lost && nobody?.message.contains("refused") == true)
    #expect(nobody?.message.contains("\n") == false)
  }

  @Test("a server too old is refused by its version")
  func tooOld() throws {
    let impostor = try Impostor(version: "9.6.24")
    let error = try refusal("host=127.0.0.1 port=\(impostor.port) user=x dbname=y sslmode=disable gssencmode=disable")
    #expect(error?.kind == .refused && error?.message.contains("9.6.24") == true)
    #expect(error?.message.contains("11 or newer") == true)
  }
}

/// Greets one client as a PostgreSQL of some version, and says nothing more.
final class Impostor {
  let port: Int

  init(version: String) throws {
    let listener = try Listening()
    port = listener.port
    // AuthenticationOk, ParameterStatus, ReadyForQuery
    // (https://www.postgresql.org/docs/15/protocol-message-formats.html).
    func message(_ tag: String, _ body: [UInt8]) -> [UInt8] {
      Array(tag.utf8) + [0, 0, 0, UInt8(4 + body.count)] + body
    }
    func status(_ name: String, _ value: String) -> [UInt8] {
      message("S", Array(name.utf8) + [0] + Array(value.utf8) + [0])
    }
    let greeting =
      message("R", [0, 0, 0, 0]) + status("server_version", version) + status("client_encoding", "UTF8")
      + status("default_transaction_read_only", "off") + status("in_hot_standby", "off")
      + message("Z", Array("I".utf8))
    Thread.detachNewThread {
      let client = accept(listener.descriptor, nil, nil)
      var buffer = [UInt8](repeating: 0, count: 1_024)
      _ = recv(client, &buffer, buffer.count, 0)
      _ = send(client, greeting, greeting.count, Int32(MSG_NOSIGNAL))
      while recv(client, &buffer, buffer.count, 0) > 0 {}
      close(client)
      close(listener.descriptor)
    }
  }
}
