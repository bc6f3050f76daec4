public import Model

/// Why a table's sync rests until somebody decides (REC-27): it lasts across restarts.
public enum TableFault: Int64, Sendable, Hashable, CaseIterable {
  /// The cloud will not take what the app gave it, however often it is offered.
  case client = 1
  /// Something is wrong that is nobody's fault but this software's.
  case `internal` = 2
  /// Trying again cannot help.
  case notRecoverable = 3

  private static let clientCodes: Set<ErrorCode> = [.invalidData, .schemaViolation, .schemaNotAdditive]

  /// Nil: the same may succeed later, or says nothing about the table.
  public init?(_ error: CaravanError) {
    if Self.clientCodes.contains(error.code) {
      self = .client
    } else if error.code == .notAuthenticated {
      self = .notRecoverable
    } else {
      return nil
    }
  }
}

/// How sync of a table, or of the device as the gravest of its tables, stands (REC-27, UNI-19).
public enum SyncMode: UInt8, Sendable, Hashable, Comparable, CaseIterable {
  case idle, synchronizing
  /// No error: it goes on by itself when the connection is back.
  case notConnected
  /// Everything comes anew, with what is dirty kept or not.
  case resetting
  case clientError, internalError, notRecoverable

  public static func < (one: SyncMode, other: SyncMode) -> Bool { one.rawValue < other.rawValue }

  public init(fault: TableFault?, isResetting: Bool, isConnected: Bool, isAtWork: Bool) {
    self =
      switch fault {
      case .client: .clientError
      case .internal: .internalError
      case .notRecoverable: .notRecoverable
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
