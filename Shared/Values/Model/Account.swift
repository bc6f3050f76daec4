/// Who is charged for what databases hold (CK-102): a user for all private ones of theirs, in every container; a
/// container for its public one; in each environment by itself. All that one account is charged for lies in one
/// partition, shards of default zones apart (CK-10): stores hold the account to its quota in each of their partitions
/// at once, and over all of them within seconds.
public enum Account: Sendable, Hashable, CustomStringConvertible {
  case user(UserID, Environment)
  case container(ContainerID, Environment)

  /// nil: Caravan's own records are nobody's.
  public init?(of database: DatabaseID) {
    guard database.container != .system else { return nil }
    let environment = database.environment
    self = database.owner.map { .user($0, environment) } ?? .container(database.container, environment)
  }

  /// nil: the text is not what `key` makes.
  public init?(key: String) {
    let parts = key.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 || parts == Array(parts.prefix(2)) + [Environment.production.rawValue], !parts[1].isEmpty
    else { return nil }
    let environment: Environment = parts.count == 2 ? .development : .production
    switch parts[0] {
    case "user": self = .user(UserID(unchecked: parts[1]), environment)
    case "container": self = .container(ContainerID(unchecked: parts[1]), environment)
    default: return nil
    }
  }

  /// Development and production are charged separately; this says which of them the account is of.
  public var environment: Environment {
    switch self {
    case .user(_, let environment), .container(_, let environment): environment
    }
  }

  /// Where stores count what the account holds: in the partition of its owner, shards of default zones apart.
  public var partition: Partition {
    switch self {
    case .user(let user, _): Partition(of: .system(user))
    case .container(let container, let environment):
      Partition(of: DatabaseID(container: container, environment: environment, owner: nil))
    }
  }

  /// As stores keep it; stable for ever. Development's is that of the time when there was no other.
  public var key: String {
    let name =
      switch self {
      case .user(let user, _): "user/\(user)"
      case .container(let container, _): "container/\(container)"
      }
    return environment == .development ? name : "\(name)/\(environment.rawValue)"
  }

  /// For messages: `user 'ada'`, with the environment where it is not development.
  public var description: String {
    let name =
      switch self {
      case .user(let user, _): "user '\(user)'"
      case .container(let container, _): "container '\(container)'"
      }
    return environment == .development ? name : "\(name) in \(environment.rawValue)"
  }
}

/// What an account may hold; nil: as much as there is room for.
public struct Quota: Sendable, Hashable {
  /// Live records; nil: no limit.
  public var records: UInt64?
  /// Bytes as `Usage.bytes` counts them; nil: no limit.
  public var bytes: UInt64?

  /// Both limits hold at once; what is left out is unlimited.
  public init(records: UInt64? = nil, bytes: UInt64? = nil) {
    self.records = records
    self.bytes = bytes
  }

  /// What an account has where neither storage nor its operator says otherwise.
  public static let unlimited = Quota()
}

/// What an account holds, or by how much that changes.
public struct Usage: Sendable, Hashable {
  /// Live ones.
  public var records: Int64
  /// Names, bodies and field versions of live records, and chunks, each once a database.
  public var bytes: Int64

  /// Negative numbers take away: a deletion is a usage of -1 records.
  public init(records: Int64 = 0, bytes: Int64 = 0) {
    self.records = records
    self.bytes = bytes
  }

  /// What a mutation changes is added to what the account held.
  public static func + (a: Usage, b: Usage) -> Usage {
    Usage(records: a.records + b.records, bytes: a.bytes + b.bytes)
  }
  public static func += (a: inout Usage, b: Usage) { a = a + b }
}

/// An account as it stands.
public struct AccountState: Sendable, Hashable {
  /// Whose state it is.
  public var account: Account
  /// What it holds now, counted by the store.
  public var used: Usage
  /// What it may hold.
  public var quota: Quota
  /// The quota is what storage was started with, not one of its own.
  public var isDefault: Bool

  public init(account: Account, used: Usage = Usage(), quota: Quota = .unlimited, isDefault: Bool = true) {
    self.account = account
    self.used = used
    self.quota = quota
    self.isDefault = isDefault
  }

  /// Whether it may grow so much. What does not grow is always welcome, however much there is (deletes, and saves that
  /// make a record smaller).
  /// - Returns: nil: it may; otherwise what to say.
  public func refusal(of growth: Usage) -> CaravanError? {
    let isWithin =
      Self.fits(used.records, growth.records, quota.records) && Self.fits(used.bytes, growth.bytes, quota.bytes)
    guard !isWithin else { return nil }
    return CaravanError(
      .quotaExceeded,
      "\(account) uses \(Self.text(used.records, quota.records)) records and \(Self.text(used.bytes, quota.bytes)) "
        + "bytes: this would go beyond; delete something or ask for more, it goes by itself then")
  }

  private static func fits(_ used: Int64, _ growth: Int64, _ limit: UInt64?) -> Bool {
    guard let limit, growth > 0 else { return true }
    return UInt64(max(0, used + growth)) <= limit
  }

  private static func text(_ used: Int64, _ limit: UInt64?) -> String {
    limit.map { "\(used) of \($0)" } ?? "\(used)"
  }
}
