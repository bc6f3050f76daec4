public import CaravanModel

/// Why a table's sync rests until somebody decides (REC-27): it lasts across restarts. 3 was a table's share of a fault
/// that is the device's now (`Admission`): a store that holds it has a table without a fault.
public enum TableFault: Int64, Sendable, Hashable, CaseIterable {
  /// The cloud will not take what the app gave it, however often it is offered.
  case client = 1
  /// Something is wrong that is nobody's fault but this software's.
  case `internal` = 2
  /// The table's columns are not what the cloud knows it by, so that nothing of it can be taken.
  case schema = 4

  /// Nil: the same may succeed later, or says nothing about the table.
  public init?(_ error: CaravanError) {
    switch error.code {
    // Production lacks the type as yet: somebody else brings it there, and nobody has to decide anything here.
    case .schemaViolation where error.retryAfterMilliseconds != nil: return nil
    case .invalidData: self = .client
    case .schemaViolation, .schemaNotAdditive: self = .schema
    default: return nil
    }
  }

  /// What helps, for whoever looks after the device.
  public var remedy: String {
    switch self {
    case .client:
      "change or delete what is refused, then reset keep-local; take-server --discard-unsent forgets what was not sent"
    case .schema:
      "a reset alone does not help: have the record type changed at the cloud, or add the columns that it has with "
        + "create-table, then reset keep-local; or copy the rows into a table of another name, and drop this one"
    case .internal: "reset keep-local tries it again; if it fails again, tell whoever runs the cloud"
    }
  }
}

/// How sync of a table stands, or of the device: the gravest of its tables, if not worse (REC-27, UNI-19).
public enum SyncMode: UInt8, Sendable, Hashable, Comparable, CaseIterable {
  case idle, synchronizing
  /// No error: it goes on by itself when the connection is back.
  case notConnected
  /// Everything comes anew, with what is dirty kept or not.
  case resetting
  case clientError, internalError
  /// Of the device alone: the broker refuses its credentials (`Admission`).
  case notRecoverable

  public static func < (one: SyncMode, other: SyncMode) -> Bool { one.rawValue < other.rawValue }

  public init(fault: TableFault?, isResetting: Bool, isConnected: Bool, isAtWork: Bool) {
    self =
      switch fault {
      case .client, .schema: .clientError
      case .internal: .internalError
      case nil: isResetting ? .resetting : !isConnected ? .notConnected : isAtWork ? .synchronizing : .idle
      }
  }
}

/// What becomes of unsynced changes when a table starts over.
public enum ResetChoice: Sendable, Hashable, CaseIterable {
  /// They are sent again; what the cloud holds otherwise makes conflicts.
  case keepLocal
  /// They are forgotten.
  case takeServer
}
