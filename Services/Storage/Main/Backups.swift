import Backup
import Launch
import Model
import PostgreSQL
import Runtime
import Store
import StorePostgres
import StoreSQLite

/// `caravan-storage backup`, `verify` and `restore`: what is done to a store as a whole, without the bus.
enum Backups {
  private static let out = Flag<String>("out", "FILE", "where the backup goes; not there yet")
  private static let data = Flag<String?>("data", "DIR", "storage's directory", environment: "CARAVAN_DATA")
  private static let files = Flag<Int>("files", "N", "database files of the new directory", default: 2, in: 1...64)
  private static let place: FlagList = [data, Flag<String?>.postgres]

  private static let backup = Command(
    "caravan-storage backup", "Writes all that a store holds into one file, while it goes on working.",
    flags: place + [out])
  private static let verify = Command(
    "caravan-storage verify", "Says whether a backup is whole.", operands: .init("FILE", 1...1))
  private static let restore = Command(
    "caravan-storage restore", "Fills a new directory, or a new PostgreSQL database, from a backup of either.",
    operands: .init("FILE", 1...1), flags: place + [files])

  /// - Parameter arguments: without the executable's name.
  /// - Returns: the exit code; nil: the arguments are the service's.
  static func run(_ arguments: [String]) -> Int32? {
    let word = arguments.first ?? ""
    guard let command = [backup, verify, restore].first(where: { $0.name.hasSuffix(" \(word)") }) else { return nil }
    let options: Options
    do throws(CommandLineStop) {
      options = try command.parse(Array(arguments.dropFirst()), environment: Command.environment)
    } catch { return error.report() }
    do throws(CaravanError) {
      Standard.put(try perform(command.name, options) + "\n")
      return ExitCode.success
    } catch {
      Standard.complain("\(command.name): \(error.message)")
      return ExitCode.failure
    }
  }

  private static func perform(_ name: String, _ options: Options) throws(CaravanError) -> String {
    let host = Host.live(logLevel: .error)
    switch name {
    case backup.name:
      let file = options[out]
      return text(of: try BackupFile.write(source(options), to: file, at: host.clock.wallTime), file)
    case restore.name:
      let file = options.operands[0]
      let summary = try BackupFile.restore(file, at: host.clock.wallTime) { () throws(CaravanError) in
        try sink(options, host)
      } checking: { () throws(CaravanError) in
        try source(options)
      }
      return text(of: summary, file)
    default: return text(of: try BackupFile.read(options.operands[0]), options.operands[0])
    }
  }

  private static func source(_ options: Options) throws(CaravanError) -> any ArchiveSource {
    if let address = options[Flag<String?>.postgres] { return try PostgresSnapshot(ConnectionString(address)) }
    return try SQLiteSnapshot(directory(options))
  }

  private static func sink(_ options: Options, _ host: Host) throws(CaravanError) -> any ArchiveSink {
    if let address = options[Flag<String?>.postgres] {
      return try PostgresRestore(ConnectionString(address), host: host)
    }
    var layout = StoreOptions(.directory(try directory(options)))
    layout.files = options[files]
    return try SQLiteRestore(layout, host: host)
  }

  private static func directory(_ options: Options) throws(CaravanError) -> String {
    guard let directory = options[data] else {
      throw CaravanError(.invalidData, "--data or --postgres is required: where is the store?")
    }
    return directory
  }

  private static func text(of summary: ArchiveSummary, _ file: String) -> String {
    let bytes = summary.databases.reduce(0) { $0 + $1.bytes }
    return
      "\(file): \(summary.zones.count) zones, \(summary.records) records, \(summary.chunks) chunks of \(bytes) bytes"
  }
}
