import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

/// Goal: every flag may come from a file, and what is wrong with the file is said with its line. Method: real files.
@Suite("Configuration files")
struct SettingsFileTests {
  static let label = Flag<String?>("label", "TEXT", "what to call it")
  static let verbose = Flag<Bool>("verbose", "say more")
  static let flags: FlagList = [
    Flag<Int>("files", "N", "database files", default: 4, in: 1...64), label, verbose, .nats, .data, .logLevel,
    .configuration,
  ]

  func parse(
    _ text: String, _ arguments: [String] = [], _ environment: [String: String] = [:], others: FlagList = []
  ) throws -> Options {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let path = "\(directory.path)/agent.conf"
    try TextFile.writeSecret(text, to: path)
    let command = Command("caravan-test", "Does nothing.", flags: Self.flags, readingSettingsOf: others)
    do {
      return try command.parse(["--config", path] + arguments, environment: environment)
    } catch CommandLineStop.usage(let line) {
      throw CommandLineStop.usage(line.replacing(path, with: "FILE"))
    }
  }

  @Test("comments, blank lines and white space say nothing; a list may be given line by line")
  func syntax() throws {
    let options = try parse(
      """
      # a comment = no setting
      data = /d   # where the data is

        nats=tls://a:4222/#fragment
      nats = tls://b:4222, tls://c:4222
      \tverbose = yes\r
      label = a b = c
      """.replacing(", ", with: ","))
    #expect(options[.data] == "/d")
    #expect(options[.nats] == ["tls://a:4222/#fragment", "tls://b:4222", "tls://c:4222"])
    #expect(options[Self.verbose])
    #expect(options[Self.label] == "a b = c")
    #expect(options[.logLevel] == .info, "what the file leaves out has its default")
  }

  @Test("the command line wins over the environment, and the environment over the file")
  func precedence() throws {
    let text = "data = /file\nnats = file\nlog-level = error"
    #expect(try parse(text)[.data] == "/file")
    #expect(try parse(text, [], ["CARAVAN_DATA": "/variable"])[.data] == "/variable")
    let all = try parse(text, ["--nats", "flag"], ["CARAVAN_DATA": "/variable", "CARAVAN_NATS": "variable"])
    #expect(all[.nats] == ["flag"] && all[.data] == "/variable" && all[.logLevel] == .error)
  }

  @Test(
    "what is wrong is said, all of it, in one line with the numbers",
    arguments: [
      ("data = /d\n\nnatz = x", "FILE, line 3: there is no setting 'natz'"),
      ("data = /d\nconfig = x", "FILE, line 2: there is no setting 'config'"),
      ("data = /d\nfiles = 0", "FILE, line 2: files: 0 is not within 1 to 64"),
      ("log-level = loud", "FILE, line 1: log-level: 'loud' is not one of debug, info, warning, error"),
      ("data = /d\ndata = /e", "FILE, line 2: 'data' is set already in line 1"),
      ("data /d", "FILE, line 1: 'data /d' is not 'key = value'"),
      ("label =  # later", "FILE, line 1: 'label' has no value: give one, or put '#' before the line"),
      ("files = 2", "--data is required (or CARAVAN_DATA)"),
      (
        "natz = x\ndata = /d\ndata /e\nfiles = 0",
        "FILE, line 1: there is no setting 'natz'; line 3: 'data /e' is not 'key = value'; "
          + "line 4: files: 0 is not within 1 to 64"
      ),
    ])
  func complaints(text: String, problem: String) {
    #expect(throws: CommandLineStop.usage("caravan-test: \(problem); see caravan-test --help")) { try parse(text) }
  }

  @Test("a file may be named by a variable; one that is not there is said; help needs none")
  func naming() throws {
    let command = Command("caravan-test", "Does nothing.", flags: Self.flags)
    let missing = CommandLineStop.usage(
      "caravan-test: cannot read '/nowhere/f': No such file or directory; see caravan-test --help")
    #expect(throws: missing) { try command.parse(["--data", "/d"], environment: ["CARAVAN_CONFIG": "/nowhere/f"]) }
    #expect(throws: missing) { try command.parse(["--data", "/d", "--config", "/nowhere/f"]) }
    #expect(throws: CommandLineStop.help(command.help)) { try command.parse(["--config", "/nowhere/f", "--help"]) }
    #expect(try command.parse(["--data", "/d"], environment: ["CARAVAN_CONFIG": ""])[.data] == "/d")
  }

  @Test("what says nothing without another setting is refused, in the file and beside it, also in another's file")
  func company() throws {
    let others: FlagList = [
      Flag<String?>("link", "CLASS", "which", environment: "X_LINK"),
      Flag<String?>("map", "A=B", "of what").only(with: "link", "auto"),
      Flag<Bool>("metered", "it costs").only(with: "link", "auto"),
    ]
    let problem = "says nothing without --link auto: give both, or neither; see caravan-test --help"
    for text in ["map = a", "link = wifi\nmap = a"] {
      #expect(throws: CommandLineStop.usage("caravan-test: --map \(problem)")) {
        try parse("data = /d\n\(text)", others: others)
      }
    }
    #expect(try parse("data = /d\nmap = a\nlink = auto\nmetered = no", others: others)[.data] == "/d")
    let command = Command("caravan-test", "Does nothing.", flags: others)
    #expect(throws: CommandLineStop.usage("caravan-test: --metered \(problem)")) { try command.parse(["--metered"]) }
    _ = try command.parse(["--metered"], environment: ["X_LINK": "auto"])
  }

  @Test("a command that reads another's file passes over what only that one knows, and over nothing else")
  func othersSettings() throws {
    let others: FlagList = [Flag<Int>("doors", "N", "how many"), .data]
    #expect(try parse("doors = 2\ndata = /d", others: others)[.data] == "/d")
    for wrong in ["files = x", "doors = many", "windows = 2"] {
      #expect(throws: CommandLineStop.self) { try parse("data = /d\n\(wrong)", others: others) }
    }
  }
}
