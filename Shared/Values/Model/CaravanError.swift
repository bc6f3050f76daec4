/// The names of what can go wrong (requirements part 9). The raw value travels in `Failure.code`.
public enum ErrorCode: String, Sendable, Hashable, CaseIterable {
  /// Too many requests in flight: retry the same call after the given time.
  case serverBusy
  /// The request itself is wrong: change it.
  case invalidData
  /// No such table, record type or record.
  case tableNotFound
  case noSuchObject
  /// A value does not fit its record type, or the schema text does not parse: the message names the field.
  case schemaViolation
  /// The table exists with another schema, or a change that is not additive.
  case schemaNotAdditive
  case objectExists
  /// The record changed meanwhile; the server's copy comes with it.
  case serverRecordChanged
  /// The default zone does not do this: its records stand alone (CK-10).
  case customZoneNeeded
  /// A reference points to a record that is not there, or a record is still referred to: the message names both.
  case referenceViolation
  /// The change token no longer fits: drop it and sync from the beginning, keeping unsynced rows.
  case resetRequired
  /// Absent, or not for you: the two are indistinguishable (CK-65).
  case zoneDoesNotExist
  /// It is there for you to see, and somebody else's to change (CK-65 is about what is not).
  case accessDenied
  /// Chunks named by a row are not at the server: stage them.
  case chunksMissing
  /// A chunk's bytes do not have its hash: send it again.
  case chunkDamaged
  /// The cloud's disk has lost what the record was: save it anew as a whole, or wait for a device that has it.
  case recordDamaged
  case invalidSyncToken
  case quotaExceeded
  /// Larger than a stated limit: split or shrink.
  case limitExceeded
  case rateLimited
  case leaseExpired
  /// Another device has the lock: retry when its lease has ended.
  case lockAlreadyHeld
  case lockNotHeld
  /// No operation is known under this number: begin one.
  case noOperationId
  case notAuthenticated
  /// Turned off here, or not there yet: do without, and ask again after the next update (CK-103).
  case featureDisabled
  case networkNotConnected
  /// The table's link preference or the user's forbids this now.
  case networkNotPermitted
  case rowTorn
  case rowInConflict
  case notInConflictResolution
  /// The disk is full or refuses to write: nothing was acknowledged, nothing acknowledged is lost.
  case storageFull
  /// No answer in time. The call may or may not have happened: retry with the same op id.
  case timedOut
  /// Nobody serves this subject now: retry later.
  case unavailable
  case cancelled
  case internalError
}

/// A refusal that crosses module, process and device borders unchanged.
public struct CaravanError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What a program decides by.
  public var code: ErrorCode
  /// One line that says what is wrong and what to do.
  public var message: String
  /// Not before then is it of use to try again; nil: nothing is known.
  public var retryAfterMilliseconds: UInt32?
  /// Put off within the time that the operation itself says it has: no failure, and no reason to give anything up.
  public var isDeferral = false

  /// - Parameter message: what went wrong, and what to do.
  public init(_ code: ErrorCode, _ message: String, retryAfterMilliseconds: UInt32? = nil) {
    self.code = code
    self.message = message
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }

  /// The code and the message.
  public var description: String { "\(code.rawValue): \(message)" }

  /// Whether the same call may succeed later without any change to it.
  public var isTransient: Bool {
    switch code {
    case .serverBusy, .rateLimited, .timedOut, .unavailable, .networkNotConnected, .networkNotPermitted, .leaseExpired,
      .lockAlreadyHeld, .storageFull, .quotaExceeded, .cancelled:
      true
    case .invalidData, .tableNotFound, .noSuchObject, .schemaViolation, .schemaNotAdditive, .objectExists,
      .serverRecordChanged, .customZoneNeeded, .referenceViolation, .resetRequired, .zoneDoesNotExist, .accessDenied,
      .chunksMissing, .chunkDamaged, .recordDamaged,
      .invalidSyncToken,
      .limitExceeded, .lockNotHeld, .noOperationId, .notAuthenticated, .featureDisabled, .rowTorn, .rowInConflict,
      .notInConflictResolution,
      .internalError:
      false
    }
  }
}

extension CaravanError {
  /// What is said to whoever needs the content of records that the cloud's disk has damaged.
  public static func damagedRecords(_ names: [String]) -> CaravanError {
    let list = names.prefix(3).map { "'\($0)'" }.joined(separator: ", ") + (names.count > 3 ? ", …" : "")
    return CaravanError(
      .recordDamaged,
      "the cloud's disk has damaged \(names.count == 1 ? "record" : "records") \(list): save it anew as a whole from a "
        + "device that has it; caravan damage lists all")
  }
}
