internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanRuntime
internal import CaravanSQLite
internal import Glibc

/// What an engine does by itself: rows of one table that have a number and a body, written by clients that wait until
/// each transaction is durable. The table is its own, and goes away.
struct EngineBaseline: Sendable {
  let place: RowPlace
  let host: Host
  /// Rows of a transaction.
  let batch: Int
  let rowBytes: Int
  /// SQLite has one writer, so it is given one.
  let clients: Int
  /// How many rows there are, written again and again; 0: each is new, under numbers that ascend.
  let among: Int
  let seconds: Double

  func rowsPerSecond() async throws(CaravanError) -> Double {
    switch place {
    case .directory(let path):
      let file = "\(path)/floor.db"
      func remove() { for suffix in ["", "-wal", "-shm"] { unsafe unlink(file + suffix) } }
      remove()
      defer { remove() }
      return try await measure([BaselineClient(host) { () throws(CaravanError) in try SQLiteRows(file) }])
    case .postgres(let address):
      let clients = (0..<clients).map { _ in
        BaselineClient(host) { () throws(CaravanError) in try PostgresRows(address) }
      }
      try await clients[0].prepare("DROP TABLE IF EXISTS caravan_floor")
      try await clients[0].prepare("CREATE TABLE caravan_floor(key bigint PRIMARY KEY, body bytea NOT NULL)")
      let rate = try await measure(clients)
      try await clients[0].prepare("DROP TABLE caravan_floor")
      return rate
    }
  }

  private func measure(_ clients: [BaselineClient]) async throws(CaravanError) -> Double {
    // Connected before the time runs.
    for client in clients { try await client.prepare("SELECT 1") }
    let start = host.clock.now
    do {
      let rows = try await withThrowingTaskGroup(of: Int.self) { group in
        for (number, client) in clients.enumerated() {
          group.addTask { try await client.write(self, number: number, until: start + .seconds(seconds)) }
        }
        return try await group.reduce(0, +)
      }
      return Double(rows) / (host.clock.now - start).seconds
    } catch { throw (error as? CaravanError) ?? CaravanError(.internalError, "\(error)") }
  }

  fileprivate func keys(of client: Int, after written: Int) -> [Int64] {
    guard among > 0 else { return (1...batch).map { Int64(client) << 40 | Int64(written + $0) } }
    // In order, so that two clients never wait for each other.
    return Set((0..<batch).map { _ in Int64(host.random.below(UInt64(among))) }).sorted()
  }
}

/// One connection, on a thread of its own.
private actor BaselineClient {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  private let open: @Sendable () throws(CaravanError) -> any BaselineRows
  private var opened: (any BaselineRows)?

  init(_ host: Host, _ open: @escaping @Sendable () throws(CaravanError) -> any BaselineRows) {
    executor = host.executors.makeSerial("floor")
    self.open = open
  }

  private func rows() throws(CaravanError) -> any BaselineRows {
    if let opened { return opened }
    let rows = try open()
    opened = rows
    return rows
  }

  func prepare(_ sql: String) throws(CaravanError) { try rows().execute(sql) }

  /// - Returns: how many rows.
  func write(_ floor: EngineBaseline, number: Int, until end: Instant) throws(CaravanError) -> Int {
    let rows = try rows()
    var body = floor.host.random.bytes(floor.rowBytes)
    var written = 0
    while floor.host.clock.now < end {
      let keys = floor.keys(of: number, after: written)
      // Another each time: SQLite does not write what a row has already.
      if !body.isEmpty { body[0] &+= 1 }
      try rows.write(keys, body)
      written += keys.count
    }
    return written
  }
}

private protocol BaselineRows {
  func execute(_ sql: String) throws(CaravanError)
  /// In one transaction, durably.
  func write(_ keys: [Int64], _ body: [UInt8]) throws(CaravanError)
}

private struct SQLiteRows: BaselineRows {
  private let db: CaravanSQLite.Connection

  init(_ file: String) throws(CaravanError) {
    db = try CaravanSQLite.Connection(.file(file))
    try db.execute("CREATE TABLE rows(key INTEGER PRIMARY KEY, body BLOB NOT NULL)")
  }

  func execute(_ sql: String) throws(CaravanError) { try db.execute(sql) }

  func write(_ keys: [Int64], _ body: [UInt8]) throws(CaravanError) {
    try db.transaction { () throws(CaravanError) in
      for key in keys {
        try db.run(
          "INSERT INTO rows(key, body) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET body = excluded.body", key, body)
      }
    }
  }
}

private struct PostgresRows: BaselineRows {
  private let db: CaravanPostgreSQL.Connection

  init(_ address: ConnectionString) throws(CaravanError) {
    do throws(PostgresError) {
      db = try CaravanPostgreSQL.Connection(CaravanPostgreSQL.ConnectionOptions(address))
    } catch {
      throw CaravanError(.unavailable, "\(address): \(error)")
    }
  }

  func execute(_ sql: String) throws(CaravanError) {
    try run { () throws(PostgresError) in try db.execute(sql) }
  }

  func write(_ keys: [Int64], _ body: [UInt8]) throws(CaravanError) {
    try run { () throws(PostgresError) in
      try db.run(
        """
        INSERT INTO caravan_floor(key, body) SELECT w.key, w.body FROM unnest($1, $2) AS w(key, body)
        ON CONFLICT (key) DO UPDATE SET body = excluded.body
        """, keys, keys.map { _ in Bytes(body) })
    }
  }

  private func run(_ body: () throws(PostgresError) -> Void) throws(CaravanError) {
    do throws(PostgresError) { try body() } catch { throw CaravanError(.internalError, "PostgreSQL: \(error)") }
  }
}
