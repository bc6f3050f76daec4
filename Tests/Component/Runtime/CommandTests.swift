import CaravanModel
import Testing

@testable import CaravanRuntime

@Suite("Command lines")
struct CommandTests {
  static let files = Flag<Int>("files", "N", "database files", default: 4, in: 1...64)
  static let period = Flag<Duration>("period", "TIME", "how often", default: .seconds(10))
  static let verbose = Flag<Bool>("verbose", "say more")
  static let label = Flag<String?>("label", "TEXT", "what to call it")

  let command = Command(
    "caravan-test", "Does nothing.", operands: .init("[FILE]", 0...1),
    flags: [files, period, verbose, label, .nats, .data, .logLevel])

  func parse(_ line: String, _ environment: [String: String] = ["CARAVAN_DATA": "/d"]) throws(CommandLineStop)
    -> Options
  {
    try command.parse(line.split(separator: " ").map(String.init), environment: environment)
  }

  @Test("a list may be given one by one, and a number may be negative")
  func listsAndNumbers() throws {
    #expect(try parse("--nats nats://a:1 --nats nats://b:2")[.nats] == ["nats://a:1", "nats://b:2"])
    #expect(try parse("-5").operands == ["-5"])
    #expect(throws: CommandLineStop.self) { try parse("-x") }
  }

  @Test("defaults hold, environment stands in, and the command line wins")
  func precedence() throws {
    let defaults = try parse("")
    #expect(defaults[Self.files] == 4)
    #expect(defaults[Self.period] == .seconds(10))
    #expect(!defaults[Self.verbose])
    #expect(defaults[Self.label] == nil)
    #expect(defaults[.nats] == ["nats://127.0.0.1:4222"])
    #expect(defaults[.data] == "/d")
    let given = try parse(
      "--files=8 --period 250ms --verbose file --label x --nats a,b --log-level debug",
      ["CARAVAN_DATA": "/d", "CARAVAN_NATS": "c", "CARAVAN_LOG_LEVEL": "error"])
    #expect(given[Self.files] == 8)
    #expect(given[Self.period] == .milliseconds(250))
    #expect(given[Self.verbose])
    #expect(given[Self.label] == "x")
    #expect(given[.nats] == ["a", "b"])
    #expect(given[.logLevel] == .debug)
    #expect(given.operands == ["file"])
    #expect(try parse("", ["CARAVAN_DATA": "/d", "CARAVAN_NATS": "c,d"])[.nats] == ["c", "d"])
    #expect(try parse("-- --files").operands == ["--files"])
    #expect(try !parse("--verbose=no")[Self.verbose])
  }

  @Test(
    "what is wrong is said in one line",
    arguments: [
      ("--files", "--files needs a value"), ("--files=0", "--files: 0 is not within 1 to 64"),
      ("--files=x", "--files: 'x' is not a whole number"), ("--colour red", "there is no flag '--colour'"),
      ("-x", "there is no flag '-x'"), ("--files 1 --files 2", "--files is given twice"),
      ("a b", "'b' is one argument too many"),
      ("--period 10", "--period: '10' is not a time such as 250ms, 10s, 5m or 2h"),
      ("--log-level loud", "--log-level: 'loud' is not one of debug, info, warning, error"),
      ("--nats a,,b", "--nats: 'a,,b' is not text, or several with commas"),
    ])
  func complaints(line: String, problem: String) {
    #expect(throws: CommandLineStop.usage("caravan-test: \(problem); see caravan-test --help")) { try parse(line) }
  }

  @Test("a word that is not UTF-8 is refused by its place, whatever it would have been taken for")
  func notText() throws {
    let words = ["/usr/bin/caravan-test", "--label", "Jürgen", ""].map { Array($0.utf8) }
    #expect(try Program.texts(words) == ["--label", "Jürgen", ""])
    #expect(try Program.texts(Array(words.prefix(1))) == [])
    let latin: [UInt8] = [0x4A, 0xFC, 0x72]
    #expect(throws: CommandLineStop.usage("caravan-test: argument 2, 'J\u{FFFD}r', is not UTF-8")) {
      try Program.texts(Array(words.prefix(2)) + [latin])
    }
  }

  @Test("a variable that gives a setting and is not UTF-8 is refused by its name; others may be so")
  func variableIsNoText() throws {
    let words = [Array("/usr/bin/caravan-test".utf8)]
    let latin: [UInt8] = [0x4A, 0xFC, 0x72]
    func check(_ name: String, _ value: [UInt8]) throws(CommandLineStop) {
      try Program.check([Array("HOME=/root".utf8), Array("\(name)=".utf8) + value], for: words)
    }
    try check("CARAVAN_DATA", Array("Jürgen".utf8))
    try check("LESSOPEN", latin)
    for name in ["CARAVAN_DATA", "AWS_REGION"] {
      #expect(throws: CommandLineStop.usage("caravan-test: what \(name) says is not UTF-8")) { try check(name, latin) }
    }
  }

  @Test("a required flag may come from the environment, and is missed by both names")
  func required() {
    #expect(
      throws: CommandLineStop.usage("caravan-test: --data is required (or CARAVAN_DATA); see caravan-test --help")
    ) {
      try parse("", [:])
    }
    #expect(
      throws: CommandLineStop.usage(
        "caravan-test: CARAVAN_LOG_LEVEL: 'x' is not one of debug, info, warning, error; see caravan-test --help")
    ) {
      try parse("", ["CARAVAN_DATA": "/d", "CARAVAN_LOG_LEVEL": "x"])
    }
  }

  @Test("the help text comes from the declarations")
  func help() {
    let expected = """
      usage: caravan-test --data DIR [flags] [FILE]

      Does nothing.

        --files N          database files (default: 4)
        --period TIME      how often (default: 10s)
        --verbose          say more
        --label TEXT       what to call it
        --nats URL,…       servers of the bus (default: nats://127.0.0.1:4222; or CARAVAN_NATS)
        --data DIR         directory that keeps the data (required; or CARAVAN_DATA)
        --log-level LEVEL  least level that is logged: debug, info, warning, error (default: info; or CARAVAN_LOG_LEVEL)
        --help             this text
        --version          the release and its commit

      """
    #expect(throws: CommandLineStop.help(expected)) { try parse("--files 3 --help", [:]) }
    #expect(throws: CommandLineStop.help(expected)) { try parse("-h", [:]) }
    let release = "caravan-test \(Release.version) (commit "
    let stop = #expect(throws: CommandLineStop.self) { try parse("--version", [:]) }
    if case .help(let text)? = stop { #expect(text.hasPrefix(release) && text.hasSuffix(")\n")) }
  }

  @Test("subcommands: the longest name wins, unknown ones are named, help lists them")
  func subcommands() throws {
    let set = CommandSet(
      "caravan", "Sync.",
      [
        Command("caravan app", "One."), Command("caravan app shell", "Two.", operands: .init("NAME", 1...1)),
      ])
    let (command, rest) = try set.select(["app", "shell", "x"])
    #expect(command.name == "caravan app shell")
    #expect(rest == ["x"])
    #expect(try set.select(["app", "--help"]).0.name == "caravan app")
    #expect(throws: CommandLineStop.usage("caravan: there is no command 'up'; see caravan --help")) {
      try set.select(["up"])
    }
    let near = "caravan: there is no command 'ap'; did you mean 'app'? see caravan --help"
    #expect(throws: CommandLineStop.usage(near)) { try set.select(["ap"]) }
    #expect(throws: CommandLineStop.usage("caravan: a command is missing; see caravan --help")) { try set.select([]) }
    let help = #expect(throws: CommandLineStop.self) { try set.select(["--help"]) }
    guard case .help(let text) = help else {
      Issue.record("no help")
      return
    }
    #expect(text.contains("  caravan app shell  Two.\n"))
    #expect(throws: CommandLineStop.usage("caravan app shell: NAME is missing; see caravan app shell --help")) {
      try command.parse([])
    }
  }
}
