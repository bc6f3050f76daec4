import Crypto
import Launch
import Runtime
import StorageDriver
import StoreSQLite

let files = Flag<Int>(
  "files", "N", "database files; a directory keeps the number it was made with", default: 2, in: 1...64)

await Command(
  "caravan-storage", "Caravan's truth: zones, records, chunks and their history, on SQLite.",
  flags: .bus + [Flag<String>.data, Flag<String>.ticketKey, files]
).serve { options, host, bus in
  let key = try TicketKey.reading(options[Flag<String>.ticketKey])
  let feed = ChangeFeed()
  var layout = StoreOptions(.directory(options[Flag<String>.data]))
  layout.files = options[files]
  let store = try await StoreSQLite(layout, host: host, observer: feed)
  return [StorageService(store: store, feed: feed, bus: bus, host: host, ticketKey: key)]
}
