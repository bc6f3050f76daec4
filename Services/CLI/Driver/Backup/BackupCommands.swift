internal import CaravanCLICore
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// `caravan backup`, `caravan backup verify`, `caravan restore`: storage's program does it, which knows the engines.
/// The command line of a device needs no client of PostgreSQL.
enum BackupCommands {
  private static let out = Flag<String>("out", "FILE", "where the backup goes; not there yet")
  private static let data = Flag<String?>("data", "DIR", "storage's directory, where there is no --dir")
  private static let files = Flag<Int>("files", "N", "database files of the new directory", default: 2, in: 1...64)
  static let place: FlagList = [Flag<String?>.suiteDirectory, data, Flag<String?>.postgres]

  static let tools = [
    Tool(
      Command(
        "caravan backup", "Writes all that storage holds into one file, while it goes on working.",
        flags: place + [Flag<[String]>.stores, out])
    ) { options, _ in
      try hand(
        ["backup", "--out", options[out]] + whereabouts(options, suiteMayHavePostgres: true), options,
        stores: options[Flag<[String]>.stores], as: "caravan")
    },
    Tool(
      Command("caravan backup verify", "Says whether a backup is whole.", operands: .init("FILE", 1...1))
    ) { options, _ in try hand(["verify", "--"] + options.operands, nil, as: "caravan backup") },
    Tool(
      Command(
        "caravan restore", "Fills a new directory, or a new PostgreSQL database, from a backup of either.",
        operands: .init("FILE", 1...1), flags: place + [files])
    ) { options, _ in
      let files = ["--files", "\(options[files])"]
      let place = try whereabouts(options, suiteMayHavePostgres: false)
      try hand(["restore"] + files + place + ["--"] + options.operands, options, as: "caravan")
    },
  ]

  /// - Parameter suiteMayHavePostgres: whether `--dir` beside a PostgreSQL is the suite that runs on it. A restore
  ///   fills the one or the other, and does not guess.
  static func whereabouts(_ options: Options, suiteMayHavePostgres: Bool) throws(CaravanError) -> [String] {
    let hasPostgres = options[Flag<String?>.postgres] != nil
    var places: [String] = []
    if options.isGiven(Flag<String?>.suiteDirectory), !(hasPostgres && suiteMayHavePostgres) { places.append("--dir") }
    if options[data] != nil { places.append("--data") }
    if hasPostgres {
      places.append(options.isGiven(Flag<String?>.postgres) ? "--postgres" : "--postgres (CARAVAN_POSTGRES)")
    }
    guard places.count < 2 else {
      throw CaravanError(
        .invalidData, "\(places.joined(separator: " and ")) are different stores: say which, and leave the other out")
    }
    guard !hasPostgres else { return [] }
    if let directory = options[data] { return ["--data", directory] }
    let suite = try SuiteDirectory(options[Flag<String?>.suiteDirectory])
    let store = "\(suite.path)/storage"
    if suiteMayHavePostgres, unsafe access(store, F_OK) != 0, try suite.lastRun() != nil {
      throw CaravanError(
        .invalidData,
        "the suite in '\(suite.path)' keeps its data in PostgreSQL: say where that is (--postgres, CARAVAN_POSTGRES)")
    }
    return ["--data", store]
  }

  /// Becomes storage's program.
  /// - Parameter name: before its command's word, where it complains.
  private static func hand(
    _ arguments: [String], _ options: Options?, stores: [String]? = nil, as name: String
  ) throws(CaravanError) {
    let directory = try Suite.programs()
    // As a variable: others see command lines.
    if let address = options?[Flag<String?>.postgres] { unsafe setenv("CARAVAN_POSTGRES", address, 1) }
    if let stores { unsafe setenv("CARAVAN_STORES", stores.joined(separator: ","), 1) }
    throw Program.become("\(directory)/\(SuiteService.storage.executable)", arguments, as: name)
  }
}
