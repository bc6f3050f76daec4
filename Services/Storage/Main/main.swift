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

/// What an account may hold that has no quota of its own (`caravan quota set`).
func quota(_ whose: String, _ what: String) -> Flag<Int?> {
  Flag(
    "quota-\(whose)-\(what)", "N", "\(what) that one \(whose) may have, unless given a quota of its own",
    environment: "CARAVAN_QUOTA_\(whose.uppercased())_\(what.uppercased())")
}
let (userRecords, userBytes) = (quota("user", "records"), quota("user", "bytes"))
let (containerRecords, containerBytes) = (quota("container", "records"), quota("container", "bytes"))

func quotas(_ options: Options) throws(CaravanError) -> DefaultQuotas {
  func limit(_ flag: Flag<Int?>) throws(CaravanError) -> UInt64? {
    guard let number = options[flag] else { return nil }
    guard number >= 0 else { throw CaravanError(.invalidData, "\(number) is no quota: give 0 or more, or nothing") }
    return UInt64(number)
  }
  return DefaultQuotas(
    user: Quota(records: try limit(userRecords), bytes: try limit(userBytes)),
    container: Quota(records: try limit(containerRecords), bytes: try limit(containerBytes)))
}

/// Where the truth lies: in files that this process owns, or in a PostgreSQL that many share.
func open(_ options: Options, _ host: Host, _ feed: ChangeFeed) async throws(CaravanError) -> any Store {
  if let address = options[Flag<String?>.postgres] {
    var database = PostgresOptions(try ConnectionString(address))
    database.quotas = try quotas(options)
    return try await StorePostgres(database, host: host, observer: feed)
  }
  guard let directory = options[data] else {
    throw CaravanError(.invalidData, "--data or --postgres is required (or CARAVAN_DATA, CARAVAN_POSTGRES)")
  }
  var layout = StoreOptions(.directory(directory))
  layout.files = options[files]
  layout.quotas = try quotas(options)
  return try await StoreSQLite(layout, host: host, observer: feed)
}

Command(
  "caravan-storage", "Caravan's truth: zones, records, chunks and their history, on SQLite or on PostgreSQL.",
  flags: .bus + [data, Flag<String?>.postgres, Flag<String>.ticketKey, files]
    + [userRecords, userBytes, containerRecords, containerBytes]
).serve { options, host, bus in
  let key = try TicketKey.reading(options[Flag<String>.ticketKey])
  let feed = ChangeFeed()
  let store = try await open(options, host, feed)
  return [StorageService(store: store, feed: feed, bus: bus, host: host, ticketKey: key)]
}
