import CaravanBus
import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanObjects
import CaravanObjectsS3
import CaravanPostgreSQL
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageCore
import CaravanStorageDriver
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import Glibc

let data = Flag<String?>(
  "data", "DIR", "directory that keeps the data, unless PostgreSQL does", environment: "CARAVAN_DATA")
let files = Flag<Int>(
  "files", "N", "database files; a directory keeps the number it was made with", default: 2, in: 1...64)
let objects = Flag<String?>(
  "objects", "DIR|s3://BUCKET/PREFIX", "object store that gets a copy of every object (default: none)",
  environment: "CARAVAN_OBJECTS")
let endpoint = Flag<String?>(
  "objects-endpoint", "URL", "where the object store speaks S3 (default: Amazon's of the region)",
  environment: "CARAVAN_OBJECTS_ENDPOINT")
let region = Flag<String>(
  "objects-region", "NAME", "region of the bucket", environment: "AWS_REGION", default: "us-east-1")
let keyID = Flag<String>(
  "objects-key-id", "ID", "access key of the object store", environment: "AWS_ACCESS_KEY_ID", default: "")
let secret = Flag<String>(
  "objects-secret", "SECRET", "its secret: better in the environment, where nobody sees it",
  environment: "AWS_SECRET_ACCESS_KEY", default: "")
let sessionToken = Flag<String?>(
  "objects-session-token", "TOKEN", "what goes with credentials that last for a while",
  environment: "AWS_SESSION_TOKEN")
let spool = Flag<String>(
  "objects-spool", "DIR", "where an object lies on its way to a bucket", environment: "CARAVAN_OBJECTS_SPOOL",
  default: "/tmp")

let others = Flag<[String]>.stores

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

/// Where the truth lies: in files that this process owns, and other stores beside them; or in a PostgreSQL that many
/// share.
func open(
  _ options: Options, _ host: Host, _ feed: ChangeFeed
) async throws(CaravanError) -> (store: any Store, moves: OwnerMover?) {
  let queuesObjects = options[objects] != nil
  if let address = options[Flag<String?>.postgres] {
    guard options[others].isEmpty else {
      throw StorePlace.unaccompanied
    }
    var database = PostgresOptions(try ConnectionString(address))
    database.quotas = try quotas(options)
    database.queuesObjects = queuesObjects
    return (try await StorePostgres(database, host: host, observer: feed), nil)
  }
  guard let directory = options[data] else {
    throw CaravanError(.invalidData, "--data or --postgres is required (or CARAVAN_DATA, CARAVAN_POSTGRES)")
  }
  var layout = StoreOptions(.directory(directory))
  layout.files = options[files]
  layout.quotas = try quotas(options)
  layout.queuesObjects = queuesObjects
  let main = try await StoreSQLite(layout, host: host, observer: feed)
  guard options[others].isEmpty || !queuesObjects else {
    throw CaravanError(.invalidData, "--store and --objects do not go together: an object store is not moved")
  }
  var neighbours: [Neighbour] = []
  for text in options[others] { neighbours.append(try await neighbour(text, layout, host)) }
  let routed = try await RoutedStore(home: main, neighbours, host: host)
  return routed.isPlain ? (main, nil) : (routed, OwnerMover(routed, host: host))
}

func neighbour(_ text: String, _ main: StoreOptions, _ host: Host) async throws(CaravanError) -> Neighbour {
  let (name, place) = try StorePlace.named(text)
  let bell = CommitBell()
  switch place {
  case .postgres(let address):
    var database = PostgresOptions(address)
    database.quotas = main.quotas
    return Neighbour(name, try await StorePostgres(database, host: host, observer: bell), observer: bell)
  case .directory(let path):
    var layout = main
    layout.location = .directory(path)
    return Neighbour(name, try await StoreSQLite(layout, host: host, observer: bell), observer: bell)
  }
}

/// PostgreSQL has a clock of its own, which `serverTime` asks.
func trustedClock(_ options: Options, _ host: Host) -> TrustedClock? {
  guard options[Flag<String?>.postgres] == nil, let directory = options[data] else { return nil }
  return TrustedClock(host.clock, LiveMachineTime(), file: "\(directory)/store-clock.json", log: host.log)
}

/// The clock of PostgreSQL's server, held against this machine's; nil: the store keeps this machine's time.
func serverTime(of store: any Store) -> ServerTime? {
  guard let database = store as? StorePostgres else { return nil }
  return ServerTime(LiveMachineTime()) { () async throws(CaravanError) in try await database.serverTime() }
}

/// The ways to the object store; none where there is no object store.
func lanes(_ options: Options, _ host: Host) throws(CaravanError) -> [any ObjectLane] {
  guard let place = options[objects] else { return [] }
  var lanes: [any ObjectLane] = []
  for number in 0..<StorageLimits.objectLanes {
    guard try S3Options.isPlace(place) else {
      lanes.append(FileLane(place, number: number, host: host))
      continue
    }
    let regionName = options[region]
    let bucket = try S3Options(
      place, endpoint: options[endpoint] ?? "https://s3.\(regionName).amazonaws.com", region: regionName,
      keyID: options[keyID], secret: options[secret], sessionToken: options[sessionToken])
    lanes.append(try S3Lane(bucket, spool: options[spool], number: number, host: host))
  }
  return lanes
}

StoreTool.run(CommandLine.arguments.dropFirst().first)

Command(
  "caravan-storage", "Caravan's truth: zones, records, chunks and their history, on SQLite or on PostgreSQL.",
  flags: .bus + [data, Flag<String?>.postgres, Flag<String>.ticketKey, files, others]
    + [userRecords, userBytes, containerRecords, containerBytes]
    + [objects, endpoint, region, keyID, secret, sessionToken, spool, Flag<String>.faults] + RateFlags.all
).serve { options, host, bus in
  let keys = try RingFile(options[Flag<String>.ticketKey], host: host)
  let faults = try FaultSwitch(options[Flag<String>.faults])
  let feed = ChangeFeed()
  let own = trustedClock(options, host)
  let host = own.map { host.with(clock: $0) } ?? host
  let (store, moves) = try await open(options, host, feed)
  let server = serverTime(of: store)
  let clock = own ?? server.map { TrustedClock(host.clock, $0, of: "PostgreSQL's server", log: host.log) }
  let ways = try lanes(options, host)
  let mover =
    ways.isEmpty
    ? nil
    : ObjectMover(
      store: store, lanes: ways, schema: SchemaClient(bus: bus, clock: host.clock), host: host, faults: faults)
  let companions = Companions(
    sharing: try await store.sharedName(),
    advice: "stop it, or give both the same PostgreSQL (--postgres); a store of its own needs a broker of its own")
  return [
    keys,
    StorageService(
      store: store, feed: feed, bus: bus, host: host, ticketKey: keys, rates: RateFlags.limits(options), objects: mover,
      moves: moves, clock: clock, server: server, companions: companions),
  ]
}
