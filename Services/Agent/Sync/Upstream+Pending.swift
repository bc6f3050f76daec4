internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanWire

extension Upstream {
  /// A plan whose outcomes are not recorded. It outlives a failed session: the same op is sent again (UNI-07).
  struct Pending: Sendable {
    let plan: PushPlan
    /// Ask what became of it instead of sending it: it is from before a restart, or was refused after a lost answer.
    var mustSettle: Bool
    /// An answer may have been lost.
    var mayHaveArrived: Bool
    /// Why the cloud does not take it, once it has ended.
    var refusal: CaravanError?
    /// Chunks that travel with the push; none once the cloud has answered it.
    var riders: [Chunk] = []
    /// The cloud may lack chunks that do not.
    var lacksTicket = false
    /// Times the cloud named missing chunks.
    var stagings = 0
    /// Times in a row that no answer came.
    var losses = 0
    /// Nil: one push takes it.
    var group: GroupUpload?

    init(_ plan: PushPlan, mustSettle: Bool) {
      self.plan = plan
      group = GroupUpload(plan)
      // A group says itself how far it has come.
      self.mustSettle = mustSettle && (group == nil || !plan.canBeSent)
      mayHaveArrived = mustSettle
    }
  }
}

extension CaravanError {
  static func zoneIsGone(_ table: TableID) -> CaravanError {
    CaravanError(
      .zoneDoesNotExist,
      "the cloud says that the zone of \(table) does not exist: what was not sent is kept aside, and the cloud is "
        + "asked again")
  }
}
