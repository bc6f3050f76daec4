public import CaravanModel

/// An entry of a change page as far as decisions about its row need to know it.
public struct Arrival: Sendable, Hashable {
  public var version: Seq
  public var isDeleted: Bool
  public var origin: Origin
  public var likeness: Likeness

  /// Who has written it.
  public enum Origin: Sendable, Hashable {
    /// This very store; it comes without a body.
    case own
    case others
    /// Others, and it comes without a body: what it would have does not belong to the table.
    case outsideFilter
  }

  /// What its content is exactly, as far as that matters.
  public enum Likeness: Sendable, Hashable {
    case nothingKnown
    /// The row's present content.
    case local
    /// What the row's change is based on.
    case ancestor
  }

  public init(
    version: Seq, isDeleted: Bool = false, origin: Origin = .others, likeness: Likeness = .nothingKnown
  ) {
    self.version = version
    self.isDeleted = isDeleted
    self.origin = origin
    self.likeness = likeness
  }
}

/// What happens to an entry that arrives (SIM-67, SIM-68, Table 3(c)).
public enum ArrivalDecision: Sendable, Hashable {
  /// Older than, or the same as, what the row holds.
  case ignore
  /// A row the device did not have.
  case insert
  /// The row takes the entry's content and version, and is clean.
  case apply
  /// The row takes the entry's version only: it is the row's own push, or, after a reset, what its change is based on.
  case adopt
  case remove
  /// The row keeps its content; the entry is kept aside as the cloud's copy (replacing an older one).
  case conflict
  /// Not now: the row's push has no result yet, an app has it open, conflicts of its table are being resolved, or the
  /// cloud decides what becomes of the row's change once that is there.
  case hold
  /// An echo of a write this store knows nothing about: its file is older than what it has sent.
  case unexplained

  /// - Parameters:
  ///   - head: the row here, nil if there is none.
  ///   - isBusy: an app has an object of the row open, or its table's conflict resolution is going on.
  ///   - cloudDecides: conflicts of the table have a policy (UNI-02): the app hears of those only that it leaves.
  public static func of(
    _ arrival: Arrival, at head: RowHead?, isBusy: Bool, cloudDecides: Bool = false
  ) -> ArrivalDecision {
    guard let head else {
      if arrival.isDeleted { return .ignore }
      return arrival.origin == .own ? .unexplained : .insert
    }
    if head.presence.isLost { return offered(arrival, at: head, isBusy: isBusy) }
    if arrival.version <= head.confirmed { return .ignore }
    if head.flags.syncPending { return arrival.origin == .own ? .ignore : .hold }
    if arrival.origin == .own { return ownEcho(arrival, at: head) }
    if head.confirmed == 0, head.flags.isCollectable, arrival.likeness == .ancestor, !arrival.isDeleted {
      return .adopt
    }
    if isBusy { return .hold }
    if head.flags.inConflict { return contested(arrival, head) }
    // Either dirty flag makes it a conflict, for the row is the unit (Table 3(c), E2).
    guard head.flags.isDirty else { return arrival.isDeleted ? .remove : .apply }
    let decision = contested(arrival, head)
    // What is not sent nobody else can decide.
    return decision == .conflict && cloudDecides && head.isSent ? .hold : decision
  }

  /// No version is given twice: a smaller one is of what the row's content was made from. What came after the restore
  /// may have been made from the row's version, or not: that is for the cloud to say.
  private static func offered(_ arrival: Arrival, at head: RowHead, isBusy: Bool) -> ArrivalDecision {
    if arrival.version <= head.version || arrival.origin == .own { return .ignore }
    // Whoever wrote it has sent it again.
    if head.flags.isCollectable, arrival.likeness == .ancestor, !arrival.isDeleted { return .adopt }
    let isSame = arrival.likeness == .local && !arrival.isDeleted && !head.presence.isDeleted
    return isSame && !head.flags.syncPending && !isBusy ? .apply : .hold
  }

  /// An echo of a deletion can only be older than a row written again since; any other is the row's own content, unless
  /// that was of another version before the reset.
  private static func ownEcho(_ arrival: Arrival, at head: RowHead) -> ArrivalDecision {
    if arrival.isDeleted { return .ignore }
    // The cloud never had it, as far as is known here: what has come is another one of the same key.
    if head.version == 0, head.flags.isDirty { return .unexplained }
    return head.confirmed == head.version || arrival.version == head.version ? .adopt : .unexplained
  }

  /// Either dirty flag makes a conflict, for the row is the unit (E2).
  private static func contested(_ arrival: Arrival, _ head: RowHead) -> ArrivalDecision {
    switch head.presence {
    case .deleted, .deletedLost, .deletedUnconfirmed: arrival.isDeleted ? .remove : .conflict
    case .live, .unconfirmed, .lost, .changedLost, .torn:
      arrival.likeness == .local && !arrival.isDeleted ? .apply : .conflict
    }
  }
}

extension RowHead {
  /// Whether its change goes to the cloud: not what is torn, nor what was based on something that a reset made void.
  fileprivate var isSent: Bool {
    switch presence {
    case .live, .deleted, .lost, .changedLost, .deletedLost: true
    case .torn, .unconfirmed, .deletedUnconfirmed: false
    }
  }

  /// The content stays; it, or what it is based on, is known to be at the cloud as `version`.
  public func adopting(_ version: Seq) -> RowHead {
    var head = self
    head.version = version
    head.presence = head.presence.found
    return head
  }
}
