import CaravanModel
import CaravanRuntime
import CaravanStorageCore
import CaravanWire

// What is done later (CK-32).
extension StorageMethods {
  func schedule(_ request: ScheduleRequest, _ partition: Partition) async throws(CaravanError) -> ScheduleReply {
    let action = try required(request.action, "action")
    try check(action, partition)
    let scheduled = try await actions.schedule(action, after: Int64(clamping: request.graceMilliseconds))
    metrics.actionsScheduled.add()
    return ScheduleReply(action: scheduled)
  }

  func cancel(_ request: CancelRequest, _ partition: Partition) async throws(CaravanError) -> CancelReply {
    let action = try required(request.action, "action")
    try check(action, partition)
    let cancelled = try await actions.cancel(action)
    metrics.actionsCancelled.add()
    return CancelReply(action: cancelled)
  }

  func list(_ request: Empty, _ partition: Partition) async throws(CaravanError) -> ListActionsReply {
    try await actions.list()
  }

  /// A target is asked for where it lies, as everything is.
  private func check(_ action: DelayedAction, _ partition: Partition) throws(CaravanError) {
    switch action.target {
    case .zone(let zone): try RequestRules.check(zone.model().database, in: partition)
    case .user(let user): try RequestRules.check(DatabaseID.system(UserID(user)), in: partition)
    case nil: throw CaravanError(.invalidData, "the action has no target: name a zone or a user")
    }
  }
}
