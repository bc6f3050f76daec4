internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanWire

extension GroupUpload.Progress {
  init(_ state: OperationState) {
    switch state.status {
    case .notStarted: self = .open(parts: Int(state.parts))
    case .failedBeforeTransfer, .unspecified: self = .failed
    case .inProgress, .failedDuringTransfer, .failedAfterTransfer, .successfulCompletion: self = .committing
    }
  }
}

extension GroupUpload.Step {
  func operation(of plan: PushPlan, floor: UInt64) -> Operation.Kind {
    let (container, zone, op) = (plan.table.app.text, plan.table.name, plan.op)
    switch self {
    case .begin: return .beginGroup(BeginGroup(container: container, zone: zone, op: op, opFloor: floor))
    case .part(let number, let rows):
      let mutations = plan.mutations[rows].map { CaravanWire.Mutation(pushed: $0, type: plan.type) }
      return .upload(
        UploadPart(container: container, zone: zone, op: op, part: UInt32(number), mutations: mutations))
    case .commit(let parts):
      return .commitGroup(
        CommitGroup(
          container: container, zone: zone, op: op, opFloor: floor, parts: UInt32(parts), atomic: true))
    }
  }
}

extension CaravanWire.Mutation {
  /// The cloud finds the chunks in the body. What is deleted has its type's conflict policy, too.
  init(pushed mutation: CaravanModel.Mutation, type: UInt32) {
    self.init(mutation)
    (self.type, chunks) = (type, [])
  }
}
