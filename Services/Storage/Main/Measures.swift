import CaravanEncoding
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite

/// `caravan-storage weigh` and `floor`, for `caravan bench`: what a store takes, and what its engine does without it.
/// Figures are one JSON object.
enum Measures {
  private static let settled = Flag<Bool>(
    "settled", "after PostgreSQL has vacuumed and counted, as it does in its own time")
  private static let batch = Flag<Int>("batch", "N", "rows of a transaction", default: 1, in: 1...100_000)
  private static let bytes = Flag<Int>("row-bytes", "N", "of a row's body", default: 250, in: 0...10_000_000)
  private static let clients = Flag<Int>("clients", "N", "PostgreSQL's, each on its own", default: 1, in: 1...1_000)
  private static let among = Flag<Int>(
    "among", "N", "write so many rows again and again; 0: new ones", default: 0, in: 0...1_000_000_000)
  private static let seconds = Flag<Double>("seconds", "S", "how long", default: 1)

  static let tools = [
    StoreTool(
      Command("caravan-storage weigh", "What a store takes, and for what.", flags: StorePlace.flags + [settled])
    ) { (options, _) throws(CaravanError) in
      let weight =
        switch try StorePlace(options) {
        case .directory(let path): try StoreSQLite.weigh(path)
        case .postgres(let address): try StorePostgres.weigh(address, isSettled: options[settled])
        }
      return JSON.object([
        "table_bytes": .int(weight.tables), "record_bytes": .int(weight.records), "log_bytes": .int(weight.log),
        "writer_bytes": .int(weight.writers), "writer_name_bytes": .int(weight.writerNames),
        "superseded_rows": .int(weight.supersededRows), "superseded_bytes": .int(weight.superseded),
      ]).encoded()
    },
    StoreTool(
      Command(
        "caravan-storage floor", "Rows a second that the engine of a store makes durable with nobody above it.",
        flags: StorePlace.flags + [batch, bytes, clients, among, seconds])
    ) { (options, host) throws(CaravanError) in
      let floor = Floor(
        place: try StorePlace(options), host: host, batch: options[batch], rowBytes: options[bytes],
        clients: options[clients], among: options[among], seconds: options[seconds])
      return JSON.object(["rows_per_s": .double(try await floor.rowsPerSecond())]).encoded()
    },
  ]
}
