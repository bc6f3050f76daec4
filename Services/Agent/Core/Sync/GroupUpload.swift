import CaravanModel

/// A batch that is too large for one push, on its way to the cloud in parts (UNI-05). Nobody sees any of it before the
/// commit that names all of them. The cloud knows how many parts it has: none is sent again that has arrived, by this
/// process or by the next (REC-21).
public struct GroupUpload: Sendable, Hashable {
  /// What the cloud is told or asked next.
  public enum Step: Sendable, Hashable {
    case begin
    /// Which part it is, and which of the plan's mutations are in it.
    case part(Int, Range<Int>)
    /// All of so many parts are there.
    case commit(parts: Int)
  }

  /// What the cloud says of a group that it was asked to begin.
  public enum Progress: Sendable, Hashable {
    /// It waits for parts, and has so many.
    case open(parts: Int)
    /// It has come to nothing.
    case failed
    /// It is being committed, or has been: asked again, the cloud says what became of each row.
    case committing
  }

  /// Ranges of the plan's mutations. They are always the same of one plan: what has arrived is part of it.
  private let parts: [Range<Int>]
  public private(set) var next = Step.begin

  /// Nil: one push takes it.
  public init?(_ plan: PushPlan) {
    guard plan.isAtomic else { return nil }
    parts = Self.parts(of: plan)
    guard parts.count > 1 else { return nil }
    assert(parts.last?.upperBound == plan.mutations.count, "parts that leave out rows of a plan")
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

  /// The cloud has a group of this op.
  /// - Returns: false: it has come to nothing, and the op with it.
  public mutating func begin(_ progress: Progress) -> Bool {
    switch progress {
    case .open(let arrived): next = step(behind: arrived)
    case .failed: return false
    case .committing: next = .commit(parts: parts.count)
    }
    return true
  }

  /// The cloud has the part.
  public mutating func took() {
    guard case .part(let number, _) = next else { return }
    next = step(behind: number + 1)
  }

  private func step(behind arrived: Int) -> Step {
    precondition(arrived >= 0, "less than no part of a batch has arrived")
    return arrived < parts.count ? .part(arrived, parts[arrived]) : .commit(parts: parts.count)
  }
}
