import CaravanBackup
import CaravanLaunch
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStorageDriver
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite

/// `caravan-storage backup`, `verify` and `restore`.
enum Backups {
  private static let out = Flag<String>("out", "FILE", "where the backup goes; not there yet")
  private static let files = Flag<Int>("files", "N", "database files of the new directory", default: 2, in: 1...64)

  static let tools = [
    StoreTool(
      Command(
        "\(StoreTool.program) backup",
        "Writes all that a store holds, and those beside it, into one file, while they go on working.",
        flags: StorePlace.flags + [Flag<[String]>.stores, out])
    ) { (options, host) throws(CaravanError) in
      let (file, source) = (options[out], try await source(options, host))
      return text(of: try BackupFile.write(source, to: file, at: host.clock.wallTime), file)
    },
    StoreTool(
      Command("\(StoreTool.program) verify", "Says whether a backup is whole.", operands: .init("FILE", 1...1))
    ) { (options, _) throws(CaravanError) in
      text(of: try BackupFile.read(options.operands[0]), options.operands[0])
    },
    StoreTool(
      Command(
        "\(StoreTool.program) restore", "Fills a new directory, or a new PostgreSQL database, from a backup of either.",
        operands: .init("FILE", 1...1), flags: StorePlace.flags + [files])
    ) { (options, host) throws(CaravanError) in
      let (file, place) = (options.operands[0], try StorePlace(options))
      let summary = try BackupFile.restore(file, at: host.clock.wallTime) { () throws(CaravanError) in
        try place.sink(files: options[files], host)
      } checking: { () throws(CaravanError) in
        try place.source
      }
      return text(of: summary, file)
    },
  ]

  private static func source(_ options: Options, _ host: Host) async throws(CaravanError) -> any ArchiveSource {
    guard case .directory(let path) = try StorePlace(options) else {
      guard options[Flag<[String]>.stores].isEmpty else { throw StorePlace.unaccompanied }
      return try StorePlace(options).source
    }
    var others: [String: StorePlace] = [:]
    for text in options[Flag<[String]>.stores] {
      let (name, place) = try StorePlace.named(text)
      others[name] = place
    }
    return try await RoutedArchive.open(
      home: { () throws(CaravanError) in try SQLiteSnapshot(path) }, others,
      neighbour: { place throws(CaravanError) in try place.source }, clock: host.clock)
  }

  private static func text(of summary: ArchiveSummary, _ file: String) -> String {
    let bytes = summary.databases.reduce(0) { $0 + $1.bytes }
    let whole =
      "\(file): \(summary.zones.count) zones, \(summary.records) records, \(summary.chunks) chunks of \(bytes) bytes"
    var lines = [whole]
    if !summary.damaged.isEmpty {
      lines[0] += "; \(summary.damaged.count) chunks are damaged and not in it, of these records:"
      lines += summary.damagedRecords.map { "  \($0.zone)/\($0.name)" }
    }
    if summary.damagedBodyCount > 0 {
      lines.append("\(summary.damagedBodyCount) records are damaged, and will be where it is restored:")
      lines += summary.damagedBodies.map { "  \($0.zone)/\($0.name)" }
    }
    return lines.joined(separator: "\n")
  }
}

extension StorePlace {
  fileprivate var source: any ArchiveSource {
    get throws(CaravanError) {
      switch self {
      case .directory(let path): try SQLiteSnapshot(path)
      case .postgres(let address): try PostgresSnapshot(address)
      }
    }
  }

  fileprivate func sink(files: Int, _ host: Host) throws(CaravanError) -> any ArchiveSink {
    switch self {
    case .directory(let path):
      var layout = StoreOptions(.directory(path))
      layout.files = files
      return try SQLiteRestore(layout, host: host)
    case .postgres(let address): return try PostgresRestore(address, host: host)
    }
  }
}
