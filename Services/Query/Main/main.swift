import CaravanLaunch
import CaravanModel
import CaravanPostgreSQL
import CaravanQueryDriver
import CaravanRuntime
import Glibc

// Where there is too much to do, who saves comes before the index: a query takes in what waits.
_ = nice(5)

let data = Flag<String?>(
  "data", "DIR", "where this instance keeps its index; no other may use it", environment: "CARAVAN_DATA")
/// It may hold a password, so it is better given as a variable: others see command lines.
let postgres = Flag<String?>(
  "index-postgres", "URL",
  "PostgreSQL that keeps the index of all instances, in place of --data: postgres://USER@HOST:PORT/DATABASE, or "
    + "'host=… dbname=…'", environment: "CARAVAN_INDEX_POSTGRES")

func place(_ options: Options) throws(CaravanError) -> QueryPlace {
  if let address = options[postgres] { return .postgres(try ConnectionString(address)) }
  guard let directory = options[data] else {
    throw CaravanError(
      .invalidData, "--data or --index-postgres is required (or CARAVAN_DATA, CARAVAN_INDEX_POSTGRES)")
  }
  return .directory(directory)
}

Command(
  "caravan-query", "Answers queries over Caravan's records, from indexes that follow the change stream.",
  flags: .bus + [data, postgres]
).serve { options, host, bus in
  [try QueryService(bus: bus, host: host, place: place(options))]
}
