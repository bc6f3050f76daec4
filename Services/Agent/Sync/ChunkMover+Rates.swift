internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

// Chunks come and go no faster than the cloud wants (CK-101).
extension ChunkMover {
  /// One message, not before the cloud wants it.
  func message(
    _ bytes: Int, isUpload: Bool, through linkGuard: LinkGuard, _ request: @Sendable (Ticket) -> ChunkRequest
  ) async throws(CaravanError) -> ChunkReply {
    let app = linkGuard.table.app
    var patience = EngineLimits.ratePatience
    while true {
      try await awaitTurn(of: app, &patience)
      do throws(CaravanError) { return try await carried(bytes, isUpload: isUpload, through: linkGuard, request) } catch
      {
        guard error.code == .rateLimited, let wait = error.retryAfterMilliseconds else { throw error }
        holds[app] = (clock.now + .milliseconds(Int64(wait)), error)
      }
    }
  }

  /// Waits until chunks of the app may go on, where that is soon: a session that ended would begin all over.
  /// - Throws: what the cloud said, with the time that is left of it.
  private func awaitTurn(of app: ContainerID, _ patience: inout Duration) async throws(CaravanError) {
    while let hold = holds[app] {
      let left = hold.until - clock.now
      guard left > .zero else {
        holds[app] = nil
        return
      }
      guard left <= patience else {
        var refusal = hold.refusal
        refusal.retryAfterMilliseconds = UInt32(clamping: left.wholeMilliseconds + 1)
        throw refusal
      }
      patience -= left
      try? await clock.sleep(for: left)
      if Task.isCancelled { throw hold.refusal }
    }
  }
}
