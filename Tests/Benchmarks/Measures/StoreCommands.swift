internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanStorePostgres
internal import CaravanStoreSQLite

/// `caravan-bench weigh` and `floor`: what a store takes, and what its engine does without it. Figures are one JSON
/// object.
enum StoreCommands {
  private static let data = Flag<String?>("data", "DIR", "storage's directory", environment: "CARAVAN_DATA")
  private static let settled = Flag<Bool>(
    "settled", "after PostgreSQL has vacuumed and counted, as it does in its own time")
  private static let batch = Flag<Int>("batch", "N", "rows of a transaction", default: 1, in: 1...100_000)
  private static let bytes = Flag<Int>("row-bytes", "N", "of a row's body", default: 250, in: 0...10_000_000)
  private static let clients = Flag<Int>("clients", "N", "PostgreSQL's, each on its own", default: 1, in: 1...1_000)
  private static let among = Flag<Int>(
    "among", "N", "write so many rows again and again; 0: new ones", default: 0, in: 0...1_000_000_000)
  private static let seconds = Flag<Double>("seconds", "S", "how long", default: 1)
  private static let place: FlagList = [data, Flag<String?>.postgres]

  static let commands: [Command] = [
    Command("caravan-bench weigh", "What a store takes, and for what.", flags: place + [settled]),
    Command(
      "caravan-bench floor", "Rows a second that the engine of a store makes durable with nobody above it.",
      flags: place + [batch, bytes, clients, among, seconds]),
  ]

  static func weigh(_ options: Options) throws(CaravanError) -> JSON {
    let weight =
      switch try RowPlace(options, data) {
      case .directory(let path): try StoreSQLite.weigh(path)
      case .postgres(let address): try StorePostgres.weigh(address, isSettled: options[settled])
      }
    return JSON.object([
      "table_bytes": .int(weight.tables), "record_bytes": .int(weight.records), "log_bytes": .int(weight.log),
      "writer_bytes": .int(weight.writers), "writer_name_bytes": .int(weight.writerNames),
      "superseded_rows": .int(weight.supersededRows), "superseded_bytes": .int(weight.superseded),
    ])
  }

  static func floor(_ options: Options, _ host: Host) async throws(CaravanError) -> JSON {
    let floor = EngineBaseline(
      place: try RowPlace(options, data), host: host, batch: options[batch], rowBytes: options[bytes],
      clients: options[clients], among: options[among], seconds: options[seconds])
    return JSON.object(["rows_per_s": .double(try await floor.rowsPerSecond())])
  }
}

/// Where rows are kept: in files, or in PostgreSQL.
enum RowPlace {
  case directory(String)
  case postgres(ConnectionString)

  init(_ options: Options, _ data: Flag<String?>) throws(CaravanError) {
    if let address = options[Flag<String?>.postgres] {
      self = .postgres(try ConnectionString(address))
    } else if let directory = options[data] {
      self = .directory(directory)
    } else {
      throw CaravanError(.invalidData, "--data or --postgres is required: where is the store?")
    }
  }
}
