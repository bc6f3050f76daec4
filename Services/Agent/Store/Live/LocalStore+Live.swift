public import CaravanModel
internal import CaravanRuntime

// Live queries, for the sessions of apps.
extension LocalStore {
  /// - Returns: the query's handle.
  /// - Throws: `tableNotFound`; `schemaViolation` for a column that is unknown or has no order; `limitExceeded`.
  public func beginLive(_ request: LiveRequest, owner: UInt64) throws(CaravanError) -> UInt64 {
    try lives.begin(request, owner: owner)
  }

  /// Somebody waits for the next difference; nobody else may until `nextLive` has given a part or was cut off.
  /// - Throws: `leaseExpired` for one that has ended, `serverBusy` while somebody waits already.
  public func claimLive(_ handle: UInt64, owner: UInt64) throws(CaravanError) { try lives.claim(handle, owner: owner) }

  /// Waits until there is something to tell. The query must have been claimed.
  /// - Throws: why the query has ended; `cancelled` when the task was.
  public func nextLive(_ handle: UInt64, owner: UInt64) async throws(CaravanError) -> DifferencePart {
    try await lives.awaitNext(handle, owner: owner)
  }

  /// Ending one that has ended does nothing.
  public func endLive(_ handle: UInt64, owner: UInt64) {
    if let query = try? lives.query(handle, owner: owner) { lives.end(query) }
  }

  /// Waits until the cloud is to be asked for a live query.
  /// - Returns: nil: the query has ended, or the task was cancelled.
  public func nextLiveQuestion(_ live: UInt64, owner: UInt64) async -> LiveCloudQuestion? {
    await lives.nextQuestion(live, owner: owner)
  }

  /// - Returns: whether the next page of the answer is wanted as well.
  public func takeLiveAnswer(
    _ answer: Result<LiveCloudPage, CaravanError>, for handle: UInt64, owner: UInt64
  ) throws(CaravanError) -> Bool { try lives.take(answer, for: handle, owner: owner) }
}
