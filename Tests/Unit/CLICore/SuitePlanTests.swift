import CaravanCLICore
import CaravanEncoding
import CaravanModel
import Testing

@Suite("What caravan up decides")
struct SuitePlanTests {
  @Test("every service once, in the order in which they need each other, and more of those that scale")
  func processes() throws {
    let one = SuiteProcess.all(try SuiteScale())
    #expect(one.map(\.name) == ["storage", "schema", "push", "notify", "query", "sync", "gateway"])
    let many = SuiteProcess.all(try SuiteScale(["sync=3", "query=2"]))
    #expect(many.map(\.name).filter { $0.hasPrefix("sync") } == ["sync", "sync-2", "sync-3"])
    #expect(Set(many.map(\.name)).count == many.count)
  }

  @Test(
    "what cannot be scaled is refused",
    arguments: ["sync", "sync=", "sync=0", "sync=99", "sync=x", "storage=2", "gateway=2", "nats=2", "=2", "sync=1=2"])
  func badScale(text: String) {
    let error = #expect(throws: CaravanError.self) { try SuiteScale([text]) }
    #expect(error?.code == .invalidData)
  }

  @Test("on PostgreSQL storage scales too, and has no directory of its own")
  func postgres() throws {
    let processes = SuiteProcess.all(try SuiteScale(["storage=3"], onPostgres: true))
    #expect(processes.filter { $0.service == .storage }.map(\.name) == ["storage", "storage-2", "storage-3"])
    let directory = SuiteDirectory("/d")
    let line = directory.arguments(of: processes[0], bus: [], http: [], opensContainers: false, onPostgres: true)
    #expect(line == ["--creds", "/d/keys/creds/storage.creds", "--ticket-key", "/d/keys/ticket.key"])
    let error = #expect(throws: CaravanError.self) { try SuiteScale(["storage=3"]) }
    #expect(error?.message.hasSuffix("it cannot be scaled here without --postgres") == true)
  }

  @Test("instances of query share no directory, and each process gets its own credentials")
  func arguments() throws {
    let directory = SuiteDirectory("/d")
    let processes = SuiteProcess.all(try SuiteScale(["query=2"]))
    let lines = processes.map {
      directory.arguments(of: $0, bus: ["--nats", "n"], http: ["--http", "h:1"], opensContainers: true).joined(
        separator: " ")
    }
    for (process, line) in zip(processes, lines) {
      #expect(line.hasPrefix("--nats n --creds /d/keys/creds/\(process.service.rawValue).creds"))
    }
    #expect(lines.filter { $0.contains("--data /d/query ") || $0.hasSuffix("--data /d/query") }.count == 1)
    #expect(lines.filter { $0.hasSuffix("--data /d/query-2") }.count == 1)
    // Who seals or opens has the ring (TRU-09): tickets sync and storage, change tokens sync and notify.
    func holders(_ file: String) -> [String] {
      zip(processes, lines).filter { $1.contains(file) }.map(\.0.name).sorted()
    }
    #expect(holders("ticket.key") == ["storage", "sync"])
    #expect(holders("token.key") == ["notify", "sync"])
    #expect(holders("webhook.key") == ["push"] && holders("vapid.key") == ["push"])
    #expect(lines.filter { $0.contains("device-signing.nk") }.count == 1)
    #expect(lines.filter { $0.hasSuffix("--open-containers") }.count == 1, "only the registry opens containers")
    #expect(lines.filter { $0.contains("--alias-key /d/keys/alias.key") }.count == 1, "TRU-09: sync's alone")
  }

  @Test("a process that dies once comes back at once; one that keeps dying more and more slowly, up to a limit")
  func restarts() {
    var policy = RestartPolicy()
    let short: Duration = .seconds(1)
    #expect(policy.died(after: short) == .zero)
    let waits = (0..<12).map { _ in policy.died(after: short) }
    #expect(waits.first == RestartPolicy.first)
    #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(waits.last == RestartPolicy.longest)
    #expect(policy.died(after: RestartPolicy.recovery) == .zero)
  }

  @Test("the run file is read as it was written")
  func runFile() throws {
    var run = RunFile(
      http: "http://127.0.0.1:1", nats: "tls://127.0.0.1:2", authority: "/d/ca.pem", directory: "/d", version: "0.1.0",
      process: 9)
    run.processes = [("nats", 10), ("storage", 11)]
    #expect(try RunFile(JSON.parse(run.json.encoded())) == run)
    run.httpAuthority = "/d/ca.pem"
    run.client = RunFile.ClientFiles(certificate: "/d/c.pem", key: "/d/k.pem")
    #expect(try RunFile(JSON.parse(run.json.encoded())) == run)
    run.authority = nil
    #expect(try RunFile(JSON.parse(run.json.encoded())) == run)
    #expect(throws: CaravanError.self) { try RunFile(["http": "x"]) }
  }

  @Test("flags of caravan app may stand before its word")
  func wordFirst() {
    let table: [(String, String)] = [
      ("--socket P --app A write T name=x", "write --socket P --app A T name=x"),
      ("--socket=P --json status", "status --socket=P --json"), ("write T", "write T"), ("--help", "--help"),
      ("", ""), ("--socket", "--socket"),
    ]
    for (typed, expected) in table {
      let words = typed.split(separator: " ").map(String.init)
      let result = AppArguments.wordFirst(words, valued: ["socket", "app"])
      #expect(result.joined(separator: " ") == expected)
    }
  }
}

@Suite("What the command line shows")
struct OutputTests {
  @Test("columns are as wide as what they hold, numbers to the right, control characters harmless")
  func table() {
    var table = TextTable(["NAME", ">ROWS"])
    table.add(["photos", "7"])
    table.add(["a\nb", "1000"])
    #expect(table.text == "NAME    ROWS\nphotos     7\na·b     1000")
    var long = TextTable(["A"])
    long.add([String(repeating: "x", count: 500)])
    #expect(long.text.count < 80)
  }

  @Test("sizes are short")
  func sizes() {
    let table: [(UInt64, String)] = [
      (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_575, "1.0 MiB"),
      (12 << 20, "12.0 MiB"), (.max, "16777216.0 TiB"),
    ]
    for (bytes, text) in table { #expect(Size.text(bytes) == text) }
  }

  @Test("values as JSON")
  func json() {
    #expect(Value.data([1, 2]).json == "AQI=")
    #expect(Value.null.json == .null)
    #expect(Value.real(1.5).json == .double(1.5))
  }
}
