public import CaravanModel

/// What a store remembers of one writer's commits in one zone: whatever the writer holds of the zone without having
/// pulled it, it got from them, as written or as the copies that conflicts showed.
public struct ReadPosition: Sendable, Hashable {
  /// The zone's seq after the writer's first commit.
  public var first: Seq
  /// The zone's seq after its latest commit; or somewhat more, so that few commits have to move it, where nobody reads
  /// snapshots.
  public var reach: Seq

  public init(first: Seq, reach: Seq) {
    self.first = first
    self.reach = reach
  }

  /// What to write down when a commit has been answered with the zone at `seq`; nil: nothing.
  /// - Parameter isExact: somebody reads snapshots, which end at what the writer itself wrote (CK-51).
  public static func moved(_ known: ReadPosition?, to seq: Seq, isExact: Bool) -> ReadPosition? {
    let reach = isExact ? seq : seq + StoreLimits.reachStep
    guard let known else { return ReadPosition(first: seq, reach: reach) }
    let stays = isExact ? known.reach == seq : seq <= known.reach
    return stays ? nil : ReadPosition(first: known.first, reach: reach)
  }
}
