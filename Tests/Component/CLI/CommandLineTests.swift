import CaravanCLICore
import CaravanEncoding
import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanTestKit
import Foundation
import Testing

@testable import CaravanCLIDriver

/// Goal: the contract of the command line. Method: whole command lines, in this process.
@Suite("Command lines of caravan", .timeLimit(.minutes(1)))
struct CommandLineTests {
  func run(_ line: String, environment: [String: String] = [:]) async -> Int32 {
    let terminal = Terminal(host: .live()) { _ in }
    return await Caravan.run(line.split(separator: " ").map(String.init), environment: environment, terminal)
  }

  @Test("every command of the contract is there, under its name, with help")
  func contract() async {
    let names = [
      "up", "keys init", "device add", "device revoke", "device list", "query", "objects", "doctor",
      "quota show", "quota set", "quota reset", "backup", "backup verify", "restore",
      "agent apps", "agent allow", "agent forget", "container create", "container list", "container show",
      "container allow-developer", "container remove-developer",
    ]
    let words = [
      "create-table", "update-table", "drop-table", "reset", "write", "read", "update", "delete", "register-write",
      "register-read", "unregister-write", "unregister-read", "sync", "watch", "conflicts", "resolve", "status",
      "reset-device", "set-link", "policy",
    ]
    let known = Set(Caravan.tools.map(\.command.name))
    for name in names + words.map({ "app \($0)" }) {
      #expect(known.contains("caravan \(name)"))
      #expect(await run("\(name) --help") == 0, "\(name)")
    }
    #expect(await run("--help") == 0)
    #expect(await run("app --help") == 0)
    #expect(await run("app --socket s write --help") == 0)
  }

  @Test("a restore goes to one place, a backup comes from one; who names two is asked which")
  func places() throws {
    func options(_ line: String, _ environment: [String: String] = [:]) throws -> Options {
      try Command("x", "", flags: BackupCommands.place).parse(
        line.split(separator: " ").map(String.init), environment: environment)
    }
    func places(_ options: Options, _ suiteMayHavePostgres: Bool) throws -> [String] {
      try BackupCommands.whereabouts(options, suiteMayHavePostgres: suiteMayHavePostgres)
    }
    let (url, variable) = ("postgres://h/d", ["CARAVAN_POSTGRES": "postgres://h/d"])
    for mayHave in [true, false] {
      for line in ["--data a --dir b", "--data a --postgres \(url)"] {
        let error = #expect(throws: CaravanError.self) { try places(options(line), mayHave) }
        #expect(error?.message.contains("different stores") == true, "\(line)")
      }
      #expect(try places(options("--data a"), mayHave) == ["--data", "a"])
      #expect(try places(options("--dir /b", ["CARAVAN_DIR": "/c"]), mayHave) == ["--data", "/b/storage"])
      #expect(try places(options("--postgres \(url)", ["CARAVAN_DIR": "c"]), mayHave) == [])
      #expect(try places(options("", variable), mayHave) == [])
    }
    #expect(try places(options("--dir b", variable), true) == [], "the suite of b runs on it")
    let error = #expect(throws: CaravanError.self) { try places(options("--dir b", variable), false) }
    #expect(error?.message.hasPrefix("--dir and --postgres (CARAVAN_POSTGRES) are different stores") == true)
  }

  @Test("of a suite: on PostgreSQL a backup asks where that is; device add names its broker's authority")
  func suites() async throws {
    try await withTemporaryDirectory { path in
      func write(_ authority: String?) throws {
        let run = RunFile(
          http: "http://h:1", nats: "nats://h:2", authority: authority, directory: path, version: "1", process: 1)
        try? FileManager.default.removeItem(atPath: "\(path)/run.json")
        try TextFile.writeSecret(run.json.encoded(), to: "\(path)/run.json")
      }
      func options(_ flags: FlagList, _ more: [String] = []) throws -> Options {
        try Command("x", "", flags: flags).parse(["--dir", path] + more, environment: [:])
      }
      func demand(_ more: String...) throws -> String {
        let options = try options(Deployment.gatewayFlags, more)
        return try DeviceCommands.demand(of: Deployment(options: options, host: CaravanRuntime.Host.live()))
      }
      try write(nil)
      let error = #expect(throws: CaravanError.self) {
        try BackupCommands.whereabouts(options(BackupCommands.place), suiteMayHavePostgres: true)
      }
      #expect(error?.message.contains("keeps its data in PostgreSQL: say where that is") == true)
      #expect(try demand() == "")
      try write("\(path)/keys/tls/ca.pem")
      #expect(try demand() == "; it needs \(path)/keys/tls/ca.pem as tls-ca")
      #expect(try demand("--gateway", "http://h:1") == "", "another's broker is not known")
    }
  }

  @Test("what shows nothing is refused, and no help has a default that is none")
  func oddities() async throws {
    #expect(await run("query --container c --type t --limit 0 --dir /nonexistent") == 1)
    let query = try #require(Caravan.tools.first { $0.command.name == "caravan query" })
    for limit in ["0", "-1"] {
      let options = try query.command.parse([
        "--container", "c", "--type", "t", "--limit", limit, "--dir", "/nonexistent",
      ])
      let error = await #expect(throws: CaravanError.self) {
        try await query.work(options, Terminal(host: .live()) { _ in })
      }
      #expect(error?.message == "--limit \(limit) would show nothing: give 1 or more")
    }
    let flag = Flag<String>("secret", "S", "a secret", environment: "SECRET", default: "")
    #expect(Command("x", "", flags: [flag]).help.contains("a secret (or SECRET)"))
  }

  @Test("a lost answer leaves open whether it happened, but only where something could have")
  func lostAnswers() throws {
    let lost = CaravanError(.timedOut, "no answer within 3000 ms: ask again")
    func complaint(_ name: String, _ error: CaravanError) throws -> String {
      try #require(Caravan.tools.first { $0.command.name == "caravan \(name)" }).complaint(error)
    }
    for name in ["query", "quota show", "schema list", "deletion list", "objects", "device list"] {
      #expect(try complaint(name, lost) == "caravan \(name): no answer within 3000 ms: ask again")
    }
    for name in ["quota set", "quota reset", "schema set", "deletion add", "move", "device revoke"] {
      #expect(try complaint(name, lost).hasSuffix("ask again (it may or may not have happened)"))
      #expect(try complaint(name, CaravanError(.unavailable, "gone")) == "caravan \(name): gone")
    }
  }

  @Test(
    "a command line that is not understood is 2",
    arguments: [
      "", "nope", "up --nope", "up --http nonsense", "device add --user a", "device revoke", "query --container c",
      "app", "app write", "app --socket s --app a write", "app --socket s --app a read", "app nope",
      "app --socket s --app a register-write T --period x", "keys init",
    ])
  func usage(line: String) async { #expect(await run(line) == 2) }

  @Test(
    "what is understood and cannot be done is 1",
    arguments: [
      "device list --dir /nowhere/at/all", "device add --user A! --name n --out /tmp/x --dir /nowhere",
      "query --dir /nowhere --user u --container c --type t", "app --socket /nowhere.sock --app a status",
      "app --socket /nowhere.sock --app A! status", "device list --gateway ftp://x --admin-token /dev/null",
      "device list --gateway http://127.0.0.1:1", "up --dir /proc/nowhere", "objects --dir /nowhere",
    ])
  func refused(line: String) async { #expect(await run(line) == 1) }

  @Test("caravan up refuses addresses it cannot serve, and a second suite in one directory")
  func addresses() async throws {
    try await withTemporaryDirectory { path in
      #expect(await run("up --dir \(path) --nats example.org:1") == 1)
      #expect(await run("up --dir \(path) --http 127.0.0.1:9 --nats 127.0.0.1:9") == 1)
      #expect(await run("up --dir \(path) --scale storage=2") == 1)
      let lock = try DirectoryLock(path)
      defer { lock.release() }
      #expect(await run("up --dir \(path)") == 1)
    }
  }

  @Test("a list of JSON is one document, whatever its length")
  func jsonList() {
    let said = Collector()
    let terminal = Terminal(host: .live()) { said.add($0) }
    var empty = JSONList(terminal)
    empty.finish()
    var two = JSONList(terminal)
    two.add(1)
    two.add(["a": 2])
    two.finish()
    #expect(said.lines == ["[]", "[", "1,", #"{"a":2}"#, "]"])
  }

  @Test("TRU-07: a gateway on another machine is asked over TLS, unless told --insecure")
  func gatewayAddresses() {
    func refusal(_ url: String, allowsClear: Bool = false) -> CaravanError? {
      do throws(CaravanError) {
        _ = try GatewayClient(url: url, adminToken: "x", allowsClear: allowsClear, host: .live())
        return nil
      } catch {
        return error
      }
    }
    for url in [
      "http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:8080/", "https://h.example", "https://10.0.0.1:8443",
    ] {
      #expect(refusal(url) == nil, "\(url)")
    }
    for url in ["http://10.0.0.1:8080", "http://gateway:8080", "http://127.0.0.1.example.org:80", "http://127.evil:80"]
    {
      #expect(refusal(url)?.message.contains("--insecure") == true, "\(url)")
      #expect(refusal(url, allowsClear: true) == nil, "\(url)")
    }
    for url in ["", "h:1", "ftp://h:1", "http://h", "https://h/path", "https://user@h:1", "http://a b:1"] {
      #expect(refusal(url, allowsClear: true)?.message.contains("write https://") == true, "\(url)")
    }
  }

  @Test("seconds, with and without a unit")
  func seconds() {
    let table: [(String, Duration?)] = [
      ("0", .zero), ("600", .seconds(600)), ("0.25", .milliseconds(250)), ("10m", .seconds(600)), ("-1", nil),
      ("x", nil), ("", nil), ("inf", nil),
    ]
    for (text, duration) in table { #expect(Seconds(flagText: text)?.duration == duration, "\(text)") }
  }
}
