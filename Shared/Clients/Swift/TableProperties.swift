public import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// What is done with a table, apart from its schema; what is nil stays as it is (SIM-11).
public struct TableProperties: Sendable, Hashable {
  /// What of the cloud's rows is kept on the device (UNI-15).
  public enum Replication: Sendable, Hashable {
    case full
    /// The rows that changed last, those that were made last, or what is both. At least one bound is needed.
    case recent(rows: UInt64? = nil, age: Duration? = nil)
    /// The rows that a selection over the table's columns finds at the cloud, with values for its `?`. Rows that
    /// comparisons of columns with values rule out do not travel.
    case query(String, [Value] = [])
    case localOnly
  }

  /// How an open write changes an object that is there (UNI-17).
  public enum StoreMode: String, Sendable, Hashable, CaseIterable {
    case copyOnWrite = "copy-on-write"
    /// Less is written; a write that is cut off costs the row until the cloud has sent what was overwritten.
    case inPlace = "in-place"
  }

  /// What apps see of the cloud's rows while they change (UNI-13).
  public enum Consistency: String, Sendable, Hashable, CaseIterable {
    /// Each row as soon as it is here.
    case row
    /// All rows as they once were together, and at once what was changed here. Only of a table that keeps all rows.
    case snapshot
  }

  /// When an object column's bytes come to the device.
  public enum Fetch: String, Sendable, Hashable, CaseIterable {
    /// With their row.
    case eager
    /// When they are read.
    case lazy
    case never
  }

  /// Which of the zone's rows are kept here; nil: as it is.
  public var replication: Replication?
  /// How objects are written; nil: as it is.
  public var mode: StoreMode?
  /// By column.
  public var fetch: [String: Fetch]
  /// When rows of the cloud show; nil: as it is.
  public var consistency: Consistency?

  /// Properties of which those that are nil, and columns that are not named, stay as they are.
  public init(
    replication: Replication? = nil, mode: StoreMode? = nil, fetch: [String: Fetch] = [:],
    consistency: Consistency? = nil
  ) {
    self.replication = replication
    self.mode = mode
    self.fetch = fetch
    self.consistency = consistency
  }

  func wire() throws(CaravanError) -> CaravanWire.TableProperties {
    let mode: CaravanWire.StoreMode =
      switch self.mode {
      case nil: .unspecified
      case .copyOnWrite: .copyOnWrite
      case .inPlace: .inPlace
      }
    return CaravanWire.TableProperties(
      replication: try replication?.wire(), mode: mode,
      fetch: fetch.sorted { $0.key < $1.key }.map { ObjectFetch(column: $0.key, policy: $0.value.wire) },
      consistency: consistency?.wire ?? .unspecified)
  }

  init(_ properties: CaravanWire.TableProperties) {
    let mode: StoreMode? =
      switch properties.mode {
      case .unspecified: nil
      case .copyOnWrite: .copyOnWrite
      case .inPlace: .inPlace
      }
    self.init(
      replication: properties.replication.map { Replication($0) }, mode: mode,
      fetch: Dictionary(properties.fetch.map { ($0.column, Fetch($0.policy)) }, uniquingKeysWith: { $1 }),
      consistency: Consistency(properties.consistency))
  }
}

extension TableProperties.Replication {
  fileprivate func wire() throws(CaravanError) -> CaravanWire.Replication {
    switch self {
    case .full: return CaravanWire.Replication(sync: .full)
    case .localOnly: return CaravanWire.Replication(sync: .localOnly)
    case .recent(let rows, let age):
      return CaravanWire.Replication(
        sync: .recent, recentRows: rows ?? 0,
        recentMilliseconds: age.map { UInt64(clamping: $0.wholeMilliseconds) } ?? 0)
    case .query(let template, let parameters):
      return CaravanWire.Replication(sync: .query, query: try Table.Selection(template, parameters).wire())
    }
  }

  fileprivate init(_ replication: CaravanWire.Replication) {
    switch replication.sync {
    case .full: self = .full
    case .localOnly: self = .localOnly
    case .recent:
      let age = replication.recentMilliseconds
      self = .recent(
        rows: replication.recentRows == 0 ? nil : replication.recentRows,
        age: age == 0 ? nil : .milliseconds(Int64(clamping: age)))
    case .query:
      // The agent took them from an app: they are whole.
      let parameters = replication.query?.arguments.map { (try? $0.model()) ?? .null }
      self = .query(replication.query?.text ?? "", parameters ?? [])
    }
  }
}

extension TableProperties.Consistency {
  fileprivate var wire: CaravanWire.Consistency {
    switch self {
    case .row: .row
    case .snapshot: .snapshot
    }
  }

  fileprivate init?(_ consistency: CaravanWire.Consistency) {
    switch consistency {
    case .unspecified: return nil
    case .row: self = .row
    case .snapshot: self = .snapshot
    }
  }
}

extension TableProperties.Fetch {
  fileprivate var wire: CaravanWire.FetchPolicy {
    switch self {
    case .eager: .eager
    case .lazy: .lazy
    case .never: .none
    }
  }

  fileprivate init(_ policy: CaravanWire.FetchPolicy) {
    self =
      switch policy {
      case .eager: .eager
      case .lazy: .lazy
      case .none: .never
      }
  }
}

/// How sync of a table, or of all of the app's, stands (REC-27); the later one is the graver.
public enum SyncMode: String, Sendable, Hashable, CaseIterable {
  case idle, synchronizing
  case notConnected = "not connected"
  case resetting
  /// These last until the table is reset.
  case clientError = "client error"
  case internalError = "internal error"
  /// Of the device, not of a table: the broker refuses its credentials.
  case notRecoverable = "not recoverable"

  /// Nothing is synced until somebody acts (`DeviceStatus.Table.remedy`).
  public var needsReset: Bool {
    switch self {
    case .idle, .synchronizing, .notConnected, .resetting: false
    case .clientError, .internalError, .notRecoverable: true
    }
  }

  init(_ mode: CaravanWire.SyncMode) {
    self =
      switch mode {
      case .idle: .idle
      case .synchronizing: .synchronizing
      case .notConnected: .notConnected
      case .resetting: .resetting
      case .clientError: .clientError
      case .internalError: .internalError
      case .notRecoverable: .notRecoverable
      }
  }
}

/// What becomes of changes that are not at the cloud when a table starts over (UNI-19).
public enum ResetChoice: String, Sendable, Hashable, CaseIterable {
  /// They are sent again; where the cloud holds something else, there is a conflict to decide.
  case keepLocal = "keep-local"
  /// They are forgotten.
  case takeServer = "take-server"

  var wire: CaravanWire.ResetChoice {
    switch self {
    case .keepLocal: .keepLocal
    case .takeServer: .takeServer
    }
  }
}
