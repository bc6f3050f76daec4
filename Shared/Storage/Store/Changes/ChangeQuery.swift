public import CaravanModel

/// Asks for entries of a zone from a position on.
public struct ChangeQuery: Sendable, Hashable {
  public var zone: ZoneID
  /// nil: from the beginning.
  public var position: ChangePosition?
  public var mode: Mode
  public var maxRecords: Int
  public var maxBytes: Int
  /// Who asks; nil: somebody who never writes to the zone.
  public var reader: Reader?
  /// From the beginning, and nothing the reader holds counts until a page names it: it has been reset.
  public var isFresh: Bool
  /// Going forward: by snapshots, each of which the reader can reach however fast others write (CK-49).
  public var bySnapshots: Bool
  /// What the reader may want; nil: everything. What it surely does not want comes without a body, or not at all.
  public var filter: RowFilter?

  public enum Mode: Sendable, Hashable {
    /// In the order of seqs. From a position that goes backwards: what is older than that is given up.
    case forward
    /// From the beginning: the newest first, backwards from the zone's head; then forward from there (CK-47).
    case reverse
  }

  /// A device: its own entries come without bodies (UNI-11), and tombstones of what it may hold are not left out.
  public struct Reader: Sendable, Hashable {
    public var writer: String
    public var epoch: UInt64
    /// What it wrote in that epoch up to here it knows from the answers to its commits: that does not come at all
    /// (MOB-52, E12).
    public var ownThrough: Seq

    public init(writer: String, epoch: UInt64, ownThrough: Seq = 0) {
      self.writer = writer
      self.epoch = epoch
      self.ownThrough = ownThrough
    }
  }

  public init(
    zone: ZoneID, position: ChangePosition? = nil, mode: Mode = .forward, maxRecords: Int = 1_000,
    maxBytes: Int = Limits.pageBytes, reader: Reader? = nil, isFresh: Bool = false, bySnapshots: Bool = false,
    filter: RowFilter? = nil
  ) {
    self.zone = zone
    self.position = position
    self.mode = mode
    self.maxRecords = maxRecords
    self.maxBytes = maxBytes
    self.reader = reader
    self.isFresh = isFresh
    self.bySnapshots = bySnapshots
    self.filter = filter
  }
}

public struct ChangePage: Sendable, Hashable {
  /// Encoded `EntryPage` (Protos/caravan/v1/model.proto): it travels to the device as it is.
  public var page: [UInt8]
  /// Entries in `page`.
  public var count: Int
  /// After the page; while the zone does not exist nil, or of incarnation 0. With `resetRequired`: from where to begin.
  public var next: ChangePosition?
  public var more: Bool
  /// The zone's seq in the same snapshot.
  public var head: Seq
  /// The position means nothing any more: begin anew, keeping unsynced rows (CK-45, UNI-18).
  public var resetRequired: Bool
  /// With `resetRequired`: what the zone has lost in a restore, and the reader may hold (UNI-18).
  public var lost: [LostRange] = []
  /// Entries that would be in `page` and are damaged: whoever has something of their records keeps that.
  public var damaged: [DamagedVersion] = []
  /// The zone once was as the pages up to this one show it (CK-49).
  public var isConsistent: Bool
  /// The rest is to be read as a snapshot that is still to be made.
  var wantsSnapshot: Bool

  public init(
    page: [UInt8] = [], count: Int = 0, next: ChangePosition? = nil, more: Bool = false, head: Seq = 0,
    resetRequired: Bool = false, isConsistent: Bool = false
  ) {
    self.page = page
    self.count = count
    self.next = next
    self.more = more
    self.head = head
    self.resetRequired = resetRequired
    self.isConsistent = isConsistent
    wantsSnapshot = false
  }

  /// With the snapshot that is wanted, which `make` makes of the zone as it is now: after the page was read, so it
  /// shows, or has overtaken, whatever the page left out.
  /// - Parameter make: returns the version of the zone that the snapshot has; nil: the zone is gone.
  public func aimed(
    by make: (Incarnation) async throws(CaravanError) -> Seq?
  ) async throws(CaravanError) -> ChangePage {
    guard wantsSnapshot, let next, let target = try await make(next.incarnation) else { return self }
    var page = self
    page.next = next.aiming(at: target)
    return page
  }
}
