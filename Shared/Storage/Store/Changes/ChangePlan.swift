public import CaravanModel

/// What a store knows of a living zone when its changes are asked for.
public struct ZoneState: Sendable, Hashable {
  public var incarnation: Incarnation
  public var seq: Seq
  /// No tombstone above this version has been purged (CK-44).
  public var purged: Seq
  /// Of the snapshots that can be read: the oldest and the newest. nil: none can.
  public var snapshots: ClosedRange<Seq>?

  public init(incarnation: Incarnation, seq: Seq, purged: Seq, snapshots: ClosedRange<Seq>? = nil) {
    self.incarnation = incarnation
    self.seq = seq
    self.purged = purged
    self.snapshots = snapshots
  }

  /// nil also when collecting what snapshots held has come beyond the newest: then none can be read.
  public static func snapshots(from oldest: Seq, to newest: Seq) -> ClosedRange<Seq>? {
    oldest > 0 && oldest <= newest ? oldest...newest : nil
  }
}

/// How a question for changes is answered. Decided here, carried out by every store alike.
public enum ChangePlan: Sendable, Hashable {
  /// Without a look at the entries.
  case answer(ChangePage)
  /// With `ChangeQuery.reset`: the position means nothing any more.
  case reset
  case scan(ChangeScan)

  /// - Parameters:
  ///   - zone: nil when there is none.
  ///   - ended: the version with which the zone's last life that is over ended, 0 without one; asked for only where the
  ///     query depends on it.
  ///   - footprint: of the reader in the zone; asked for only where it matters.
  public init<Failure>(
    _ query: ChangeQuery, in zone: ZoneState?, ended: () throws(Failure) -> Seq,
    footprint: () throws(Failure) -> ReadPosition?
  ) throws(Failure) {
    let past = query.dependsOnPast ? try ended() : 0
    // What the reader wrote to a life of the zone that began and ended meanwhile is gone (CK-45).
    if query.dependsOnPast, !query.isFresh, past != query.position?.seq ?? 0 {
      self = .reset
      return
    }
    guard let zone else {
      let next = query.dependsOnPast ? ChangePosition(incarnation: 0, seq: past) : nil
      self = query.continues ? .reset : .answer(ChangePage(next: next))
      return
    }
    let start: ChangePosition?
    if let position = query.position, query.continues {
      start = zone.contains(position) ? position : nil
    } else {
      start = zone.beginning(of: query, try footprint())
    }
    guard let start else {
      self = .reset
      return
    }
    let turned = query.mode == .forward ? start.turnedForward : start
    let target = query.bySnapshots ? zone.target(of: turned, reach: try footprint()?.reach ?? 0) : 0
    self = .scan(ChangeScan(start: turned.aiming(at: target), head: zone.seq, bySnapshots: query.bySnapshots))
  }
}

extension ChangeQuery {
  /// Of a zone that did not exist there is nothing to continue.
  var continues: Bool { position.map { $0.incarnation != 0 } ?? false }

  /// Whoever writes to the zone may hold something of it without ever having pulled.
  public var dependsOnPast: Bool { reader != nil && !continues }

  /// The answer to whom nothing is left to continue: from where it may begin anew, and what it may hold of what was
  /// taken back by restores, where it was in another life of the zone. Who comes back to that beginning after yet
  /// another life hears of it again.
  /// - Parameters:
  ///   - zone: nil when there is none.
  ///   - lives: of the zone that are over, in their order.
  ///   - footprint: of the reader in the zone.
  public func reset(in zone: ZoneState?, after lives: [PastIncarnation], _ footprint: ReadPosition?) -> ChangePage {
    var anew = self
    anew.isFresh = true
    let beginning =
      if let zone { zone.beginning(of: anew, footprint) } else {
        ChangePosition(incarnation: 0, seq: lives.map(\.end).max() ?? 0)
      }
    var page = ChangePage(next: beginning, head: zone?.seq ?? 0, resetRequired: true)
    let isOfThisLife = continues && position?.incarnation == zone?.incarnation
    if !isOfThisLife { page.lost = LostRange.ranges(after: lives) }
    return page
  }

  /// The snapshot that the reader has begun.
  public var target: Seq? { bySnapshots && continues ? position.flatMap { $0.target > 0 ? $0.target : nil } : nil }

  /// The same, when that snapshot turns out to be of no use.
  public var withoutTarget: ChangeQuery {
    var query = self
    query.position = position?.aiming(at: 0)
    return query
  }

  /// Where the entries to read begin, for a store that reads them before it knows the zone: behind this seq, or (back)
  /// before it.
  public var edge: (seq: Seq, isBack: Bool) {
    switch (mode, continues ? position : nil) {
    case (.forward, let position): (position?.seq ?? 0, false)
    case (.reverse, nil): (StoreLimits.highestNumber + 1, true)
    case (.reverse, let position?): position.isReverse ? (position.below, true) : (position.seq, false)
    }
  }
}

extension ZoneState {
  /// Whether a reader at this position can go on: this life of the zone has been there, and purged nothing since that
  /// the reader lacks (CK-44, CK-45).
  func contains(_ position: ChangePosition) -> Bool {
    position.incarnation == incarnation && position.seq <= seq && purged <= position.covered
  }

  /// The snapshot that a reader goes on to read; 0: none, but what there is now. That is so as well when nobody keeps
  /// the one it has begun any more, or when the reader itself has written beyond it since (CK-51): it must not see its
  /// own writes taken back. Whatever it is given then is newer than all it had before.
  func target(of position: ChangePosition, reach: Seq) -> Seq {
    let isKept = snapshots?.contains(position.target) ?? false
    return isKept && position.target >= reach && position.target > position.seq ? position.target : 0
  }

  /// Where a reader begins, nil if it must be reset first. Who has left no footprint holds nothing, so what is gone by
  /// now never concerns it. Who has, holds what it pushed, and what its pushes' conflicts showed: tombstones of that
  /// must still be here, unless the reader counts on nothing it holds.
  func beginning(of query: ChangeQuery, _ footprint: ReadPosition?) -> ChangePosition? {
    if let footprint, !query.isFresh, purged > footprint.first { return nil }
    let settled = footprint == nil ? seq : purged
    switch query.mode {
    case .forward: return ChangePosition(incarnation: incarnation, seq: 0, settled: settled)
    case .reverse: return ChangePosition(incarnation: incarnation, seq: seq, settled: settled, below: seq + 1)
    }
  }
}

/// Which entries a page is made of.
public struct ChangeScan: Sendable, Hashable {
  public let start: ChangePosition
  /// The zone's seq.
  public let head: Seq
  let bySnapshots: Bool

  /// Those with after < seq ≤ through; the highest first when the scan is reverse.
  public var range: (after: Seq, through: Seq) {
    start.isReverse ? (0, start.below - 1) : (start.seq, snapshot ?? head)
  }

  public var isReverse: Bool { start.isReverse }

  /// Entries that others have superseded are read too: those that were the latest of their records at this version of
  /// the zone (CK-50).
  public var snapshot: Seq? { start.target > 0 ? start.target : nil }

  /// Whether an entry that shows nothing, a tombstone or what the reader's filter excludes, can be the end of something
  /// the reader holds. Going forward it holds what pages showed it,
  /// which is nothing created after its position nor gone before it began (CK-43, with the oldest unpurged creation:
  /// E11). In any case it holds what its own commits wrote or were shown, which is nothing created beyond their reach.
  /// Of what was regained after a restore, the lost creation says nothing about either.
  func concerns(_ entry: EntryPageWriter.Head, reach: Seq) -> Bool {
    if entry.isRegained { return true }
    if !isReverse, entry.created <= start.seq, entry.version > start.settled { return true }
    return entry.created <= reach
  }

  /// The page has taken in the entry at `last`, and has no room for the next.
  func cut(behind last: Seq) -> ChangePosition { isReverse ? start.movedBack(to: last) : start.moved(to: last) }

  /// The page has taken in everything.
  var end: ChangePosition { isReverse ? start.turnedForward : start.moved(to: range.through) }

  /// Whoever has come so far has a state that the zone once had.
  func isConsistent(at position: ChangePosition) -> Bool { !isReverse && position.seq == range.through }

  /// Whether the way on from here needs a snapshot, lest it never comes to an end.
  func wantsSnapshot(at position: ChangePosition) -> Bool {
    bySnapshots && !isReverse && snapshot == nil && position.seq < head
  }
}
