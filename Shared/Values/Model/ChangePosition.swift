/// Where a reader is in a zone's history (CK-42). Readers give back what they were given.
public struct ChangePosition: Sendable, Hashable {
  /// Which life of the zone this is a position in; 0: of a zone that did not exist.
  public var incarnation: Incarnation
  /// Going forward: the reader has what the zone showed up to here. Going backwards: where it began. Of a zone that did
  /// not exist: the version with which its last life had ended.
  public var seq: Seq
  /// Tombstones up to here do not concern the reader, although it has not come so far: it began with nothing when they
  /// were there already. 0 once it has.
  public var settled: Seq
  /// Going backwards: the reader has what the zone showed from here to `seq`. 0: it goes forward.
  public var below: Seq
  /// Going forward: the version of the zone whose snapshot the reader reads, a point that the store keeps (CK-49).
  /// 0: none.
  public var target: Seq

  public init(incarnation: Incarnation, seq: Seq, settled: Seq = 0, below: Seq = 0, target: Seq = 0) {
    self.incarnation = incarnation
    self.seq = seq
    self.settled = settled
    self.below = below
    self.target = target
  }

  /// Whether the reader gets the newest changes first.
  public var isReverse: Bool { below > 0 }

  /// No tombstone up to here is missing to the reader.
  public var covered: Seq { isReverse ? settled : max(seq, settled) }

  /// Going forward.
  public func moved(to seq: Seq) -> ChangePosition {
    ChangePosition(
      incarnation: incarnation, seq: seq, settled: seq < settled ? settled : 0, target: seq < target ? target : 0)
  }

  /// On the way to another snapshot, or (0) to none.
  public func aiming(at target: Seq) -> ChangePosition {
    ChangePosition(incarnation: incarnation, seq: seq, settled: settled, below: below, target: target)
  }

  /// Going backwards.
  public func movedBack(to below: Seq) -> ChangePosition {
    ChangePosition(incarnation: incarnation, seq: seq, settled: settled, below: below)
  }

  /// From where the way back began.
  public var turnedForward: ChangePosition {
    isReverse ? ChangePosition(incarnation: incarnation, seq: seq) : self
  }
}

/// Where a reader is in the history of a database's zones (CK-48).
public struct DatabasePosition: Sendable, Hashable {
  /// Which life of the log this is a position in.
  public var life: UInt64
  /// The reader knows of every zone that changed up to this position of the partition's log.
  public var log: UInt64

  public init(life: UInt64, log: UInt64) {
    self.life = life
    self.log = log
  }
}
