public import CaravanModel

extension CaravanError {
  /// Today's budget of the link has no room for it.
  public var isForTomorrow: Bool { code == .networkNotPermitted && retryAfterMilliseconds != nil }

  /// Also what went wrong inside the cloud may be right the next time.
  public var isWorthRetrying: Bool {
    isTransient || code == .internalError || code == .chunkDamaged || code == .chunksMissing
  }

  public static func zoneIsGone(_ table: TableID) -> CaravanError {
    CaravanError(
      .zoneDoesNotExist,
      "the cloud says that the zone of \(table) does not exist: what was not sent is kept aside, and the cloud is "
        + "asked again")
  }

  /// An operation was answered with the result of another one.
  public static func otherResult(to operation: StaticString) -> CaravanError {
    CaravanError(
      .internalError, "the cloud answered \(operation) with something else: update the agent or the cloud")
  }

  public static func startsOver(_ table: TableID) -> CaravanError {
    CaravanError(.serverBusy, "\(table) starts over once its push has been answered")
  }
}

extension TableSyncState {
  /// Why nothing of the table goes.
  public func haltedBy(_ table: TableID, _ fault: TableFault) -> CaravanError {
    CaravanError(
      .invalidData,
      "\(table) is not synced since it failed\(refused.isEmpty ? "" : " (\(refused))"): \(fault.remedy)")
  }
}
