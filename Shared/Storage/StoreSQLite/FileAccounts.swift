internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// What the writer remembers of accounts: their quotas, and what those with a limit hold. Where nobody has a limit,
/// nothing is looked up.
struct KnownAccounts {
  private let defaults: DefaultQuotas
  /// Accounts with quotas of their own; nil: to be read.
  private var own: [String: Quota]?
  private var used: [Part: Usage] = [:]

  /// What lies in one partition: all but shards of default zones.
  private struct Part: Hashable {
    let account: Account
    let partition: Partition
  }

  init(_ defaults: DefaultQuotas) { self.defaults = defaults }

  mutating func forget() { (own, used) = (nil, [:]) }

  mutating func quota(
    of account: Account, _ db: Connection
  ) throws(CaravanError) -> (quota: Quota, isDefault: Bool) {
    let known: [String: Quota]
    if let own {
      known = own
    } else {
      let rows = try db.all("SELECT account, records, bytes FROM quotas", read: { ($0.text(0), Quota($0, from: 1)) })
      known = Dictionary(uniqueKeysWithValues: rows)
      own = known
    }
    guard !known.isEmpty, let quota = known[account.key] else { return (defaults[account], true) }
    return (quota, false)
  }

  /// - Parameter sum: what the file says it holds in the partition.
  mutating func used(
    by account: Account, in partition: Partition, sum: () throws(CaravanError) -> Usage
  ) throws(CaravanError) -> Usage {
    let part = Part(account: account, partition: partition)
    if let known = used[part] { return known }
    if used.count >= FileLimits.rememberedRows { used = [:] }
    let found = try sum()
    used[part] = found
    return found
  }

  mutating func grow(_ database: DatabaseID, by growth: Usage) {
    guard !used.isEmpty, let account = Account(of: database) else { return }
    used[Part(account: account, partition: Partition(of: database))]? += growth
  }
}

/// Who is charged for what, and how much each may have.
final class FileAccounts: FilePart {
  let context: FileContext
  private var known: KnownAccounts
  /// Nil: nobody has a limit.
  private let spread: SpreadAccounts?

  init(_ context: FileContext, _ defaults: DefaultQuotas, _ spread: SpreadAccounts?) {
    self.context = context
    self.spread = spread
    known = KnownAccounts(defaults)
  }

  func forget() { known.forget() }
  func grow(_ database: DatabaseID, by growth: Usage) { known.grow(database, by: growth) }

  /// Who is charged for the database; nil: there is no limit to keep to.
  func limited(of database: DatabaseID) throws(CaravanError) -> AccountState? {
    guard let account = Account(of: database) else { return nil }
    let (quota, isDefault) = try known.quota(of: account, db)
    guard quota != .unlimited else { return nil }
    let partition = Partition(of: database)
    let used = try known.used(by: account, in: partition) { () throws(CaravanError) in
      try reads.used(by: account, in: partition)
    }
    let elsewhere = spread?.elsewhere(of: account, but: partition) ?? Usage()
    return AccountState(account: account, used: used + elsewhere, quota: quota, isDefault: isDefault)
  }

  func setQuota(_ quota: Quota?, of account: Account) throws(CaravanError) {
    if let quota {
      try db.run(
        "INSERT OR REPLACE INTO quotas(account, records, bytes) VALUES (?, ?, ?)", account.key,
        quota.records.map { Int64(clamping: $0) }, quota.bytes.map { Int64(clamping: $0) })
    } else {
      try db.run("DELETE FROM quotas WHERE account = ?", account.key)
    }
    known.forget()
  }
}

extension FileReads {
  /// - Parameter partition: nil: all that the file has.
  func used(by account: Account, in partition: Partition? = nil) throws(CaravanError) -> Usage {
    let (owner, container) =
      switch account {
      case .user(let user, _): (user.text, "%")
      case .container(let container, _): ("", container.text)
      }
    let (first, last) = partition.map { ($0.number, $0.number) } ?? (0, Partition.count)
    // Shards have the owner's name, a `#` and their number; the character that follows `#` is `$`. Ids have neither %
    // nor _ in them.
    let zones = try db.first(
      """
      SELECT coalesce(sum(z.records), 0), coalesce(sum(z.bytes), 0)
      FROM databases d JOIN zones z ON z.database = d.id
      WHERE (d.owner = ? OR d.owner > ? AND d.owner < ?) AND d.container LIKE ? AND d.container <> ?
        AND d.environment = ? AND d.partition BETWEEN ? AND ?
      """, owner, "\(owner)#", "\(owner)$", container, ContainerID.system.text, account.environment.rawValue, first,
      last, read: { Usage(records: $0.integer(0), bytes: $0.integer(1)) })
    let chunks = try db.first(
      """
      SELECT coalesce(sum(chunk_bytes), 0) FROM databases
      WHERE (owner = ? OR owner > ? AND owner < ?) AND container LIKE ? AND container <> ?
        AND environment = ? AND partition BETWEEN ? AND ?
      """, owner, "\(owner)#", "\(owner)$", container, ContainerID.system.text, account.environment.rawValue, first,
      last, read: { Usage(bytes: $0.integer(0)) })
    let used = (zones ?? Usage()) + (chunks ?? Usage())
    guard case .container(let id, let environment) = account else { return used }
    return try used + StagerReads(reads: self).stagerCharges(of: id, in: environment, first...max(first, last))
  }

  /// By partition, those that the file has something of.
  func parts(of account: Account) throws(CaravanError) -> [Partition: Usage] {
    let (owner, container) =
      switch account {
      case .user(let user, _): (user.text, "%")
      case .container(let container, _): ("", container.text)
      }
    let numbers = try db.all(
      """
      SELECT DISTINCT partition FROM databases
      WHERE (owner = ? OR owner > ? AND owner < ?) AND container LIKE ? AND container <> ?
        AND environment = ?
      """, owner, "\(owner)#", "\(owner)$", container, ContainerID.system.text, account.environment.rawValue,
      read: { $0.integer(0) })
    var parts: [Partition: Usage] = [:]
    for number in numbers {
      let partition = try Partition(UInt32(number))
      parts[partition] = try used(by: account, in: partition)
    }
    return parts
  }

  func account(_ account: Account, _ defaults: DefaultQuotas) throws(CaravanError) -> AccountState {
    let own = try db.first(
      "SELECT records, bytes FROM quotas WHERE account = ?", account.key, read: { Quota($0, from: 0) })
    return AccountState(
      account: account, used: try used(by: account), quota: own ?? defaults[account], isDefault: own == nil)
  }
}

extension Quota {
  /// From columns records and bytes, beginning at `column`.
  init(_ row: Row, from column: Int32) {
    self.init(
      records: row.isNull(column) ? nil : row.unsigned(column),
      bytes: row.isNull(column + 1) ? nil : row.unsigned(column + 1))
  }
}
