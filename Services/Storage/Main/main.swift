import Bus
import Crypto
import Launch
import Model
import PostgreSQL
import Runtime
import StorageDriver
import Store
import StorePostgres
import StoreSQLite

let data = Flag<String?>(
  "data", "DIR", "directory that keeps the data, unless PostgreSQL does", environment: "CARAVAN_DATA")
let files = Flag<Int>(
  "files", "N", "database files; a directory keeps the number it was made with", default: 2, in: 1...64)

/// Where the truth lies: in files that this process owns, or in a PostgreSQL that many share.
func open(_ options: Options, _ host: Host, _ feed: ChangeFeed) async throws(CaravanError) -> any Store {
  if let address = options[Flag<String?>.postgres] {
    return try await StorePostgres(PostgresOptions(ConnectionString(address)), host: host, observer: feed)
  }
  guard let directory = options[data] else {
    throw CaravanError(.invalidData, "--data or --postgres is required (or CARAVAN_DATA, CARAVAN_POSTGRES)")
  }
  var layout = StoreOptions(.directory(directory))
  layout.files = options[files]
  return try await StoreSQLite(layout, host: host, observer: feed)
}

Command(
  "caravan-storage", "Caravan's truth: zones, records, chunks and their history, on SQLite or on PostgreSQL.",
  flags: .bus + [data, Flag<String?>.postgres, Flag<String>.ticketKey, files]
).serve { options, host, bus in
  let key = try TicketKey.reading(options[Flag<String>.ticketKey])
  let feed = ChangeFeed()
  let store = try await open(options, host, feed)
  return [StorageService(store: store, feed: feed, bus: bus, host: host, ticketKey: key)]
}
