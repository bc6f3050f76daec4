internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Who is charged for databases of one partition, and how much each may have.
struct PartitionAccounts {
  private let partition: Partition
  private let quotas: DefaultQuotas
  private let spread: SpreadAccounts
  /// Those that have a row, as they are now.
  private var known: [Account: AccountState] = [:]
  /// What the group adds to them.
  private(set) var growth: [Account: Usage] = [:]
  private(set) var newQuotas: Set<Account> = []

  init(_ partition: Partition, quotas: DefaultQuotas, spread: SpreadAccounts) {
    self.partition = partition
    self.quotas = quotas
    self.spread = spread
  }

  func account(_ account: Account) -> AccountState {
    known[account] ?? AccountState(account: account, quota: quotas[account])
  }

  /// Who is charged for the database; nil: there is no limit to keep to.
  func limited(of database: DatabaseID) -> AccountState? {
    guard var state = Account(of: database).map(account), state.quota != .unlimited else { return nil }
    state.used += spread.elsewhere(of: state.account, but: partition)
    return state
  }

  mutating func grow(_ database: DatabaseID, by more: Usage) {
    guard more != Usage(), let account = Account(of: database) else { return }
    growth[account, default: Usage()] += more
    var state = self.account(account)
    state.used += more
    known[account] = state
  }

  /// - Parameter quota: nil: the default.
  mutating func setQuota(_ quota: Quota?, of account: Account) {
    var state = self.account(account)
    (state.quota, state.isDefault) = (quota ?? quotas[account], quota == nil)
    known[account] = state
    newQuotas.insert(account)
  }

  /// From columns -, records, bytes, own, max_records, max_bytes.
  mutating func read(_ account: Account, _ row: CaravanPostgreSQL.Row) {
    known[account] = AccountState(account: account, row, quotas)
  }

  /// From the account's row at home.
  mutating func read(quotaOf account: Account, _ row: CaravanPostgreSQL.Row) {
    let home = AccountState(account: account, row, quotas)
    var state = self.account(account)
    (state.quota, state.isDefault) = (home.quota, home.isDefault)
    known[account] = state
  }
}
