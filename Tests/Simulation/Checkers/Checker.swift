/// A promise that was broken.
public struct Violation: Sendable, Hashable, CustomStringConvertible {
  public let invariant: String
  public let explanation: String

  public var description: String { "\(invariant): \(explanation)" }
}

/// One invariant of requirements part 10, held against the history of a run.
public struct Checker: Sendable {
  /// Its id and what it promises.
  public let invariant: String
  let find: @Sendable (History) -> [String]

  init(_ invariant: String, _ find: @escaping @Sendable (History) -> [String]) {
    self.invariant = invariant
    self.find = find
  }

  public func check(_ history: History) -> [Violation] {
    find(history).map { Violation(invariant: invariant, explanation: $0) }
  }

  public static let all: [Checker] = [
    .nothingLost, .nothingTorn, .chunksSound, .damageMended, .replicasEqual, .readsInOrder, .logInOrder, .writersKnew,
    .serialisable,
    .appliedOnce, .noFalseConflict, .deletesStay, .queriesComplete, .snapshotsReal, .readersFed, .progress,
    .linksRespected, .diffSyncConverges, .groupsWhole, .refusalsSeen, .deadlinesMet, .nothingLeaks, .lossBounded,
    .purgesSeen, .sharesKept, .kinWhole, .pairsTogether, .pairsReal, .batchesWhole,
    .figuresTrue, .ownKeptApart, .rightsSuffice, .ownersAgree, .subscribersKnow, .answersWere,
    .pushesArrive, .pushesTrue,
  ]
}
