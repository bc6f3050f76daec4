public import CaravanModel
internal import CaravanWire

extension Message {
  /// The answer of a refused request: the payload is a `Failure`, and the headers say it in ADR-32's words.
  public init(_ error: CaravanError) {
    self.init(
      Failure(error).encoded(),
      headers: Headers(errorCode: String(error.code.statusCode), errorText: error.headerText))
  }

  /// The payload of an answer.
  /// - Throws: what the answer says, if it is a refusal.
  package func accepted() throws(CaravanError) -> Message {
    guard let status = headers.errorCode else { return self }
    guard let failure = try? Failure(decoding: payload), !failure.code.isEmpty else {
      throw CaravanError(.internalError, "refused with status \(status): \(headers.errorText ?? "no text")")
    }
    throw failure.model()
  }

  /// - Throws: `limitExceeded` when the bus would not carry it.
  package func checkSize(to subject: String) throws(CaravanError) {
    guard payload.count <= Limits.messageBytes else {
      throw CaravanError(
        .limitExceeded,
        "a message of \(payload.count) bytes to \(subject): the limit is \(Limits.messageBytes), split it")
    }
  }
}

extension CaravanError {
  /// What `errorText` may hold: one line of printable text, bounded.
  fileprivate var headerText: String {
    String(String.UnicodeScalarView(description.unicodeScalars.prefix(256).map { $0.value < 0x20 ? " " : $0 }))
  }
}

extension ErrorCode {
  /// For tools that know ADR-32 but not Caravan; the meaning is HTTP's.
  package var statusCode: Int {
    switch self {
    case .invalidData, .schemaViolation, .schemaNotAdditive, .invalidSyncToken, .customZoneNeeded: 400
    case .notAuthenticated: 401
    case .accessDenied, .networkNotPermitted, .lockNotHeld: 403
    case .tableNotFound, .noSuchObject, .noOperationId, .zoneDoesNotExist: 404
    case .objectExists, .serverRecordChanged, .referenceViolation, .rowTorn, .rowInConflict, .notInConflictResolution,
      .chunksMissing:
      409
    case .resetRequired, .leaseExpired: 410
    case .limitExceeded: 413
    case .chunkDamaged, .recordDamaged: 422
    case .lockAlreadyHeld: 423
    case .rateLimited: 429
    case .cancelled: 499
    case .internalError: 500
    case .featureDisabled: 501
    case .serverBusy, .unavailable, .networkNotConnected: 503
    case .timedOut: 504
    case .quotaExceeded, .storageFull: 507
    }
  }
}
