internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanWire

/// A batch that is too large for one push, on its way to the cloud in parts (UNI-05). Nobody sees any of it before the
/// commit that names all of them. The cloud knows how many parts it has: none is sent again that has arrived, by this
/// process or by the next (REC-21).
struct GroupUpload: Sendable {
  private enum Step: Sendable {
    case begin
    case part(Int)
    case commit
  }

  /// Of the plan's mutations. Always the same of one plan: what has arrived is part of it.
  private let parts: [Range<Int>]
  private var step = Step.begin

  /// Nil: one push takes it.
  init?(_ plan: PushPlan) {
    guard plan.isAtomic else { return nil }
    parts = Self.parts(of: plan)
    guard parts.count > 1 else { return nil }
  }

  private static func parts(of plan: PushPlan) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var (start, bytes) = (0, 0)
    for (index, mutation) in plan.mutations.enumerated() {
      let weight = mutation.bodyBytes
      let isFull = index - start == EngineLimits.rowsPerPush || bytes + weight > EngineLimits.bytesPerPush
      if isFull, index > start {
        parts.append(start..<index)
        (start, bytes) = (index, 0)
      }
      bytes += weight
    }
    return parts + [start..<plan.mutations.count]
  }

  func next(_ op: UInt64, floor: UInt64, of table: TableID, _ mutations: [CaravanWire.Mutation]) -> Operation.Kind {
    let (container, zone) = (table.app.text, table.name)
    return switch step {
    case .begin: .beginGroup(BeginGroup(container: container, zone: zone, op: op, opFloor: floor))
    case .part(let number):
      .upload(
        UploadPart(
          container: container, zone: zone, op: op, part: UInt32(number), mutations: Array(mutations[parts[number]])))
    case .commit:
      .commitGroup(
        CommitGroup(
          container: container, zone: zone, op: op, opFloor: floor, parts: UInt32(parts.count), atomic: true))
    }
  }

  /// - Returns: false: it has come to nothing, and the op with it.
  mutating func begin(_ state: OperationState) -> Bool {
    switch state.status {
    case .notStarted: step = state.parts < parts.count ? .part(Int(state.parts)) : .commit
    case .failedBeforeTransfer, .unspecified: return false
    // Committed: asked again, it says what became of each row.
    case .inProgress, .failedDuringTransfer, .failedAfterTransfer, .successfulCompletion: step = .commit
    }
    return true
  }

  /// The cloud has the part.
  mutating func took() {
    guard case .part(let number) = step else { return }
    step = number + 1 < parts.count ? .part(number + 1) : .commit
  }
}
