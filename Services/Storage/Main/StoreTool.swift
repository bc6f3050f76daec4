import CaravanLaunch
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime

/// What `caravan-storage` does to a store as a whole, without the bus.
struct StoreTool: Sendable {
  typealias Work = @Sendable (Options, Host) async throws(CaravanError) -> String

  let command: Command
  /// - Returns: what it has to say.
  let work: Work

  init(_ command: Command, _ work: @escaping Work) {
    self.command = command
    self.work = work
  }

  static let all = Backups.tools

  /// As people know it: `caravan backup` becomes this program and keeps its own name.
  static let program: String = {
    let name = CommandLine.arguments.first ?? ""
    return ["caravan", "caravan backup"].contains(name) ? name : "caravan-storage"
  }()

  /// - Parameter word: the first behind the executable's name.
  /// - Returns: only if the command line is the service's, and not a tool's.
  static func run(_ word: String?) {
    guard let tool = all.first(where: { $0.command.name.hasSuffix(" \(word ?? "")") }) else { return }
    Program.run { await tool.run(Array($0.dropFirst())) }
  }

  private func run(_ arguments: [String]) async -> Int32 {
    let options: Options
    do throws(CommandLineStop) {
      options = try command.parse(arguments, environment: Command.environment)
    } catch { return error.report() }
    do throws(CaravanError) {
      Standard.put(try await work(options, Host.live(logLevel: .error)) + "\n")
      return ExitCode.success
    } catch {
      Standard.complain("\(command.name): \(error.message)")
      return ExitCode.failure
    }
  }
}

/// Where a store is.
enum StorePlace {
  case directory(String)
  case postgres(ConnectionString)

  private static let data = Flag<String?>("data", "DIR", "storage's directory", environment: "CARAVAN_DATA")
  static let flags: FlagList = [data, Flag<String?>.postgres]
  static let unaccompanied = CaravanError(
    .invalidData, "--store is for a main store in files of its own: use --data, not --postgres")

  init(_ options: Options) throws(CaravanError) {
    if let address = options[Flag<String?>.postgres] {
      guard !options.isGiven(Self.data) else {
        throw CaravanError(
          .invalidData, "--data and --postgres (CARAVAN_POSTGRES) are different stores: say which, leave the other out")
      }
      self = .postgres(try ConnectionString(address))
    } else if let directory = options[Self.data] {
      self = .directory(directory)
    } else {
      throw CaravanError(.invalidData, "--data or --postgres is required: where is the store?")
    }
  }

  /// `NAME=DIR` or `NAME=URL`
  static func named(_ text: String) throws(CaravanError) -> (name: String, place: StorePlace) {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else {
      throw CaravanError(.invalidData, "--store '\(text.prefix(80))': write NAME=PLACE")
    }
    let isAddress = parts[1].hasPrefix("postgres://") || parts[1].hasPrefix("postgresql://")
    return (parts[0], isAddress ? .postgres(try ConnectionString(parts[1])) : .directory(parts[1]))
  }
}
