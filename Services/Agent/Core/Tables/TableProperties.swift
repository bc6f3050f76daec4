public import CaravanModel

/// How an open write changes an object that is there (UNI-17).
public enum StoreMode: UInt8, Sendable, Hashable, CaseIterable {
  /// New bytes lie beside the old ones until the write is closed: a torn row cannot be.
  case copyOnWrite = 1
  /// New bytes take the place of those that the cloud has as well. Less is written, and a write that is cut off leaves
  /// a torn row: what it lost comes back from the cloud. What the cloud does not have is never overwritten (E8).
  case inPlace = 2
}

/// What apps see of a zone while it changes (UNI-13).
public enum Consistency: UInt8, Sendable, Hashable, CaseIterable {
  /// Each row as soon as it is here.
  case row = 1
  /// The zone as it once was, with all of what was changed together or nothing of it; and what the device itself has
  /// changed, as soon as it has.
  case snapshot = 2
}

/// When an object column's bytes come to the device.
public enum FetchPolicy: UInt8, Sendable, Hashable, CaseIterable {
  /// With its row, which is not seen without them (SIM-67).
  case eager = 0
  /// When somebody reads them.
  case lazy = 1
  /// Never.
  case none = 2
}

/// Of a table that keeps the cloud's most recent rows only; at least one bound is set.
public struct RecentWindow: Sendable, Hashable {
  /// Rows that changed last; nil: any number.
  public var rows: UInt64?
  /// Since their creation; nil: of any age.
  public var milliseconds: UInt64?

  public init(rows: UInt64? = nil, milliseconds: UInt64? = nil) {
    self.rows = rows
    self.milliseconds = milliseconds
  }
}

/// Of a table that keeps what a query asks for: a selection over the table's columns, and the values of its `?`.
public struct RowQuery: Sendable, Hashable {
  public var template: String
  public var parameters: [Value]

  public init(_ template: String, _ parameters: [Value] = []) {
    self.template = template
    self.parameters = parameters
  }
}

/// What of the cloud's rows is kept on the device (UNI-15).
public enum Replication: Sendable, Hashable {
  case full
  case recent(RecentWindow)
  case query(RowQuery)
  case localOnly
}

/// What is done with a table, apart from its schema (SIM-11).
public struct TableProperties: Sendable, Hashable {
  public var replication: Replication
  public var mode: StoreMode
  /// By column, in lower case; those that are not named are eager.
  public var fetch: [String: FetchPolicy]
  public var consistency: Consistency

  public init(
    replication: Replication = .full, mode: StoreMode = .copyOnWrite, fetch: [String: FetchPolicy] = [:],
    consistency: Consistency = .row
  ) {
    self.replication = replication
    self.mode = mode
    self.fetch = fetch
    self.consistency = consistency
  }

  public var isLocalOnly: Bool { replication == .localOnly }

  public var window: RecentWindow? {
    if case .recent(let window) = replication { window } else { nil }
  }

  public var query: RowQuery? {
    if case .query(let query) = replication { query } else { nil }
  }

  /// Rows are left to the cloud.
  public var isPartial: Bool { window != nil || query != nil }

  public func policy(of column: String) -> FetchPolicy { fetch[column.lowercased()] ?? .eager }

  /// With what `change` says, and otherwise as they are.
  public func applying(_ change: TableChange) -> TableProperties {
    var properties = self
    if let replication = change.replication { properties.replication = replication }
    if let mode = change.mode { properties.mode = mode }
    if let consistency = change.consistency { properties.consistency = consistency }
    for (column, policy) in change.fetch {
      properties.fetch[column.lowercased()] = policy == .eager ? nil : policy
    }
    return properties
  }
}

/// Properties that are to change.
public struct TableChange: Sendable, Hashable {
  public var replication: Replication?
  public var mode: StoreMode?
  /// By column.
  public var fetch: [String: FetchPolicy]
  public var consistency: Consistency?

  public init(
    replication: Replication? = nil, mode: StoreMode? = nil, fetch: [String: FetchPolicy] = [:],
    consistency: Consistency? = nil
  ) {
    self.replication = replication
    self.mode = mode
    self.fetch = fetch
    self.consistency = consistency
  }
}
