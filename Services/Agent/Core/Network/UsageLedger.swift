public import CaravanModel

/// What each link has carried today, for whom, and how much of its budget is left (MOB-47, UNI-21).
///
/// A message on a link with a budget is reserved with the answer it may bring, and so is the right to reserve: `grants`
/// are written down before they are used, and a life that ends without a word has spent all it was granted. So a budget
/// holds across crashes.
public struct UsageLedger: Sendable {
  /// Whose bytes: a table's, or, with nil, the device's own.
  public struct Account: Sendable, Hashable, Comparable {
    public var link: LinkClass
    public var table: TableID?

    public init(link: LinkClass, table: TableID?) {
      self.link = link
      self.table = table
    }

    public static func < (a: Self, b: Self) -> Bool {
      (a.link, a.table?.description ?? "") < (b.link, b.table?.description ?? "")
    }
  }

  public struct Bytes: Sendable, Hashable {
    public var up: UInt64
    public var down: UInt64

    public init(up: UInt64 = 0, down: UInt64 = 0) {
      self.up = up
      self.down = down
    }

    public static func += (a: inout Self, b: Self) {
      a.up += b.up
      a.down += b.down
    }
  }

  /// A message on its way, and what it may take of a budget.
  public struct Reservation: Sendable, Hashable {
    public let link: LinkClass
    let bytes: UInt64
  }

  public enum Answer: Sendable, Hashable {
    case granted(Reservation)
    /// Write this down first, then ask again.
    case needsGrant(LinkClass, day: Int64, bytes: UInt64)
    /// It fits once what is on its way turns out to take less than is set apart for it.
    case occupied
    case refused(left: UInt64)
  }

  public private(set) var budgets: [LinkClass: UInt64]
  /// Days since 1970. Does not go back, so that a clock put back a little gives no budget twice.
  public private(set) var day: Int64
  public private(set) var spent: [LinkClass: UInt64]
  /// What is on its way at midnight counts for the new day.
  private var inFlight: [LinkClass: UInt64] = [:]
  private var grants: [LinkClass: UInt64]
  public private(set) var accounts: [Account: Bytes]
  /// Of the day, and not written down.
  private var unsaved: [Account: Bytes] = [:]
  /// What each table has carried since it was made, whatever the link, and what of that is not written down.
  public private(set) var totals: [TableID: Bytes]
  private var unsavedTotals: [TableID: Bytes] = [:]
  /// What the device itself has carried since the agent began.
  public private(set) var deviceTotal = Bytes()

  /// - Parameters:
  ///   - grants: what has been granted on `day`; it counts as spent.
  ///   - accounts: what is written down of that day.
  public init(
    budgets: [LinkClass: UInt64] = [:], day: Int64 = 0, grants: [LinkClass: UInt64] = [:],
    accounts: [Account: Bytes] = [:], totals: [TableID: Bytes] = [:]
  ) {
    self.totals = totals
    self.budgets = budgets
    self.day = day
    self.grants = grants
    self.accounts = accounts
    spent = [:]
    for (account, bytes) in accounts { spent[account.link, default: 0] += bytes.up + bytes.down }
    for (link, bytes) in grants { spent[link] = max(spent[link] ?? 0, bytes) }
  }

  public static let dayMilliseconds: Int64 = 86_400_000

  // MARK: Days

  /// A new day gives new budgets. After a clock that was days ahead, what it let be spent counts for today.
  public mutating func look(at wallMilliseconds: Int64) {
    let today = wallMilliseconds / Self.dayMilliseconds
    if today < day - 1 { day = today }
    guard today > day else { return }
    day = today
    (spent, grants, accounts, unsaved) = ([:], [:], [:], [:])
  }

  /// Milliseconds until the budgets are new.
  public func untilTomorrow(from wallMilliseconds: Int64) -> Int64 {
    max(1, (day + 1) * Self.dayMilliseconds - wallMilliseconds)
  }

  // MARK: Budgets

  public mutating func setBudgets(_ budgets: [LinkClass: UInt64]) {
    self.budgets = budgets
    // What was spent without a budget counts from now on.
    for link in budgets.keys { grants[link] = min(grants[link] ?? 0, spent[link] ?? 0) }
  }

  /// Nil: as much as anybody likes.
  public func left(of link: LinkClass) -> UInt64? {
    unspent(of: link).map { $0 - min($0, inFlight[link] ?? 0) }
  }

  /// The same, with what is set apart for messages on their way.
  public func unspent(of link: LinkClass) -> UInt64? {
    budgets[link].map { $0 - min($0, spent[link] ?? 0) }
  }

  /// Before a message is sent.
  /// - Parameter bytes: it and the largest answer that is expected.
  public mutating func reserve(_ bytes: UInt64, on link: LinkClass, at wallMilliseconds: Int64) -> Answer {
    look(at: wallMilliseconds)
    guard let budget = budgets[link], let left = left(of: link), let unspent = unspent(of: link) else {
      return .granted(Reservation(link: link, bytes: 0))
    }
    guard bytes <= unspent else { return .refused(left: left) }
    guard bytes <= left else { return .occupied }
    let needed = budget - left + bytes
    guard needed <= grants[link] ?? 0 else {
      return .needsGrant(link, day: day, bytes: min(budget, needed + EngineLimits.budgetGrantBytes))
    }
    inFlight[link, default: 0] += bytes
    assert(
      bytes == 0 || (spent[link] ?? 0) + (inFlight[link] ?? 0) <= budget,
      "what is on its way over \(link.name) exceeds its budget")
    assert(needed <= budget, "\(needed) bytes were granted of a budget of \(budget)")
    return .granted(Reservation(link: link, bytes: bytes))
  }

  /// The grant is written down.
  public mutating func grant(_ bytes: UInt64, on link: LinkClass, day: Int64) {
    if day == self.day { grants[link] = max(grants[link] ?? 0, bytes) }
  }

  /// The message has its answer, or will have none.
  /// - Parameter shares: whose it was, by weight; none: the device's.
  public mutating func settle(_ reservation: Reservation, _ bytes: Bytes, shares: Shares = Shares()) {
    let others = inFlight[reservation.link] ?? 0
    assert(reservation.bytes <= others, "a message was settled that is not on its way")
    inFlight[reservation.link] = others - reservation.bytes
    record(bytes, on: reservation.link, shares: shares)
  }

  /// Whose a message and its answer are, by weight.
  public struct Shares: Sendable, Hashable {
    public var tables: [TableID: Bytes]
    /// The device's own.
    public var device: Bytes

    public init(tables: [TableID: Bytes] = [:], device: Bytes = Bytes()) {
      self.tables = tables
      self.device = device
    }

    /// All of it is one table's.
    public static func whole(_ table: TableID) -> Shares { Shares(tables: [table: Bytes(up: 1, down: 1)]) }
  }

  /// Bytes that nobody could ask for beforehand: a notification.
  public mutating func record(_ bytes: Bytes, on link: LinkClass, shares: Shares = Shares()) {
    spent[link, default: 0] += bytes.up + bytes.down
    var rest = bytes
    let weights = shares.tables.values.reduce(into: shares.device) { $0 += $1 }
    for (table, share) in shares.tables.sorted(by: { $0.key < $1.key }) {
      let part = Bytes(
        up: Self.part(share.up, of: weights.up, in: bytes.up),
        down: Self.part(share.down, of: weights.down, in: bytes.down))
      assert(part.up <= rest.up && part.down <= rest.down, "tables are charged more than was carried")
      rest.up -= part.up
      rest.down -= part.down
      add(part, to: Account(link: link, table: table))
    }
    add(rest, to: Account(link: link, table: nil))
    checkInvariants(of: link)
  }

  /// Every byte of a link is somebody's.
  private func checkInvariants(of link: LinkClass) {
    assert(
      accounts.reduce(0) { $1.key.link == link ? $0 + $1.value.up + $1.value.down : $0 } <= spent[link] ?? 0,
      "accounts of \(link.name) have more than it has carried")
  }

  private static func part(_ share: UInt64, of weights: UInt64, in bytes: UInt64) -> UInt64 {
    assert(share <= weights, "a part is more than the whole")
    return weights == 0 ? 0 : weights.dividingFullWidth(share.multipliedFullWidth(by: bytes)).quotient
  }

  private mutating func add(_ bytes: Bytes, to account: Account) {
    guard bytes.up > 0 || bytes.down > 0 else { return }
    accounts[account, default: Bytes()] += bytes
    unsaved[account, default: Bytes()] += bytes
    guard let table = account.table else { return deviceTotal += bytes }
    totals[table, default: Bytes()] += bytes
    unsavedTotals[table, default: Bytes()] += bytes
  }

  /// The table is gone; another one of its name begins anew.
  public mutating func forget(_ table: TableID) { (totals[table], unsavedTotals[table]) = (nil, nil) }

  // MARK: What is written down

  /// What has come to be known and is not written down.
  public struct Unsaved: Sendable, Hashable {
    /// The day of the accounts.
    public var day: Int64
    public var accounts: [Account: Bytes]
    public var totals: [TableID: Bytes]

    public init(day: Int64, accounts: [Account: Bytes] = [:], totals: [TableID: Bytes] = [:]) {
      self.day = day
      self.accounts = accounts
      self.totals = totals
    }

    public var isEmpty: Bool { accounts.isEmpty && totals.isEmpty }
  }

  public var hasUnsaved: Bool { !unsaved.isEmpty || !unsavedTotals.isEmpty }

  /// What has come since the last call.
  public mutating func takeUnsaved() -> Unsaved {
    defer { (unsaved, unsavedTotals) = ([:], [:]) }
    return Unsaved(day: day, accounts: unsaved, totals: unsavedTotals)
  }

  /// It could not be written down.
  public mutating func putBack(_ taken: Unsaved) {
    for (table, bytes) in taken.totals { unsavedTotals[table, default: Bytes()] += bytes }
    guard taken.day == day else { return }
    for (account, bytes) in taken.accounts { unsaved[account, default: Bytes()] += bytes }
  }

  /// What is really spent, for an orderly end.
  public var exactGrants: (day: Int64, bytes: [LinkClass: UInt64]) {
    (day, Dictionary(uniqueKeysWithValues: budgets.keys.map { ($0, spent[$0] ?? 0) }))
  }
}
