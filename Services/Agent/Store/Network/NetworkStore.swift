internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanSQLite

/// The user's policy, what the links have carried, day by day, and whether the broker refuses the device.
enum NetworkTables {
  static func install(in database: Connection) throws(CaravanError) {
    try database.execute(
      """
      -- Link 0 has the dearest link allowed (0: none), the others their budget of a day.
      CREATE TABLE IF NOT EXISTS network_policy (link INTEGER PRIMARY KEY, value INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS network_grants (
        link INTEGER PRIMARY KEY, day INTEGER NOT NULL, bytes INTEGER NOT NULL);
      -- A name of '' is the device itself.
      CREATE TABLE IF NOT EXISTS network_usage (
        day INTEGER NOT NULL, link INTEGER NOT NULL, app TEXT NOT NULL, name TEXT NOT NULL, up INTEGER NOT NULL,
        down INTEGER NOT NULL, PRIMARY KEY (day, link, app, name)) WITHOUT ROWID;
      -- At most one: the device has one token at a time.
      CREATE TABLE IF NOT EXISTS refused_credentials (digest TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
      """)
  }
}

/// What is kept of the network: the user's policy, what may be spent, what was carried, and whether the broker refuses
/// the device.
struct NetworkStore: StorePart {
  let context: StoreContext

  func record() throws(CaravanError) -> NetworkRecord {
    var record = NetworkRecord()
    let policy = try database.all("SELECT link, value FROM network_policy") { row in (row.integer(0), row.unsigned(1)) }
    for (link, value) in policy {
      if link == 0 {
        record.policy.maximumLink = LinkClass(rawValue: UInt8(truncatingIfNeeded: value))
      } else if let link = LinkClass(rawValue: UInt8(truncatingIfNeeded: link)) {
        record.policy.dailyBytes[link] = value
      }
    }
    record.day =
      try database.first(
        "SELECT max(day) FROM (SELECT day FROM network_grants UNION ALL SELECT day FROM network_usage)"
      ) { row in row.integer(0) } ?? 0
    let grants = try database.all("SELECT link, bytes FROM network_grants WHERE day = ?", record.day) { row in
      (row.integer(0), row.unsigned(1))
    }
    for (link, bytes) in grants {
      if let link = LinkClass(rawValue: UInt8(truncatingIfNeeded: link)) { record.grants[link] = bytes }
    }
    let usage = try database.all("SELECT link, app, name, up, down FROM network_usage WHERE day = ?", record.day) {
      row in
      (row.integer(0), row.text(1), row.text(2), UsageLedger.Bytes(up: row.unsigned(3), down: row.unsigned(4)))
    }
    for (link, app, name, bytes) in usage {
      guard let link = LinkClass(rawValue: UInt8(truncatingIfNeeded: link)) else { continue }
      let table = name.isEmpty ? nil : TableID(app: ContainerID(unchecked: app), name: name)
      record.accounts[UsageLedger.Account(link: link, table: table)] = bytes
    }
    let totals = try database.all("SELECT app, name, bytes_up, bytes_down FROM tables") { row in
      (
        TableID(app: ContainerID(unchecked: row.text(0)), name: row.text(1)),
        UsageLedger.Bytes(up: row.unsigned(2), down: row.unsigned(3))
      )
    }
    record.totals = Dictionary(totals) { first, _ in first }
    record.refusal = try database.first("SELECT digest, since FROM refused_credentials") { row in
      Admission.Refusal(credentials: row.text(0), since: row.integer(1))
    }
    return record
  }

  func save(_ refusal: Admission.Refusal?) throws(CaravanError) {
    try database.transaction { () throws(CaravanError) in
      try database.run("DELETE FROM refused_credentials")
      guard let refusal else { return }
      try database.run("INSERT INTO refused_credentials VALUES (?, ?)", refusal.credentials, refusal.since)
    }
  }

  func save(_ policy: NetworkPolicy) throws(CaravanError) {
    try database.transaction { () throws(CaravanError) in
      try database.execute("DELETE FROM network_policy")
      try database.run("INSERT INTO network_policy VALUES (0, ?)", Int64(policy.maximumLink?.rawValue ?? 0))
      for (link, bytes) in policy.dailyBytes.sorted(by: { $0.key < $1.key }) {
        try database.run("INSERT INTO network_policy VALUES (?, ?)", Int64(link.rawValue), bytes)
      }
    }
  }

  func save(grant bytes: UInt64, over link: LinkClass, on day: Int64) throws(CaravanError) {
    try database.transaction { () throws(CaravanError) in
      try database.run("INSERT OR REPLACE INTO network_grants VALUES (?, ?, ?)", Int64(link.rawValue), day, bytes)
    }
  }

  func save(_ usage: UsageLedger.Unsaved) throws(CaravanError) {
    let day = usage.day
    try database.transaction { () throws(CaravanError) in
      for (table, bytes) in usage.totals.sorted(by: { $0.key < $1.key }) {
        try database.run(
          "UPDATE tables SET bytes_up = bytes_up + ?, bytes_down = bytes_down + ? WHERE app = ? AND name = ?", bytes.up,
          bytes.down, table.app.text, table.name)
      }
      for (account, bytes) in usage.accounts.sorted(by: { $0.key < $1.key }) {
        try database.run(
          """
          INSERT INTO network_usage VALUES (?, ?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET up = up + excluded.up, down = down + excluded.down
          """, day, Int64(account.link.rawValue), account.table?.app.text ?? "", account.table?.name ?? "", bytes.up,
          bytes.down)
      }
      // Days to come are a wrong clock's.
      try database.run("DELETE FROM network_usage WHERE day <= ? OR day > ?", day - EngineLimits.usageDays, day)
    }
  }
}
