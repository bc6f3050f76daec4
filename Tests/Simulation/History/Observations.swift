// What those saw who look at one promise only.

/// How much of a group somebody saw who had been given all there was.
public struct SeenGroup: Sendable, Hashable {
  public var name: String
  /// Records that it has.
  public var size: Int
  public var seen: Int
  /// Its commit was acknowledged before the look began.
  public var isCommitted: Bool

  public init(_ name: String, size: Int, seen: Int, isCommitted: Bool) {
    self.name = name
    self.size = size
    self.seen = seen
    self.isCommitted = isCommitted
  }
}

/// A zone whose records refer to one another, as somebody saw it who had been given all there was.
public struct SeenTree: Sendable, Hashable {
  /// What each record that is there refers to, and must find: by owning or validating references.
  public var records: [String: [String]]

  public init(_ records: [String: [String]]) { self.records = records }
}

/// What a device's table showed that shows snapshots.
public struct SeenPairs: Sendable, Hashable {
  public var device: String
  /// Records that others write in twos, `…a` and `…b`, and the number of the batch that each is of.
  public var pairs: [String: Int64]
  /// Versions of them, as far as the device has no say in them: it gives none back, and has decided none.
  public var versions: [String: UInt64]
  /// The others.
  public var unsettled: Set<String>
  /// Rows that the device's own app had made by then, and that were not there.
  public var lacksOwn: [String]

  public init(
    device: String, pairs: [String: Int64], versions: [String: UInt64] = [:], unsettled: Set<String> = [],
    lacksOwn: [String] = []
  ) {
    self.device = device
    self.pairs = pairs
    self.versions = versions
    self.unsettled = unsettled
    self.lacksOwn = lacksOwn
  }
}

/// What the cloud took at once of records that are written in twos.
public struct PairCommit: Sendable, Hashable {
  public var writer: String
  /// The versions, by record; nil: it is deleted.
  public var versions: [String: UInt64?]
  public var high: UInt64

  public init(writer: String, versions: [String: UInt64?], high: UInt64) {
    self.writer = writer
    self.versions = versions
    self.high = high
  }
}

/// What a device showed of a row for which its user had no room.
public struct SeenRefusal: Sendable, Hashable {
  public var device: String
  /// Its table's status said so.
  public var isVisible: Bool
  /// The row was still there, and waited.
  public var isKept: Bool
  /// It was at the cloud after there was room, without anybody asking for it.
  public var isResumed: Bool

  public init(device: String, isVisible: Bool, isKept: Bool, isResumed: Bool) {
    self.device = device
    self.isVisible = isVisible
    self.isKept = isKept
    self.isResumed = isResumed
  }
}

/// A write of a table with a period and a delay tolerance, over a link that permits it.
public struct KeptPromise: Sendable, Hashable {
  public var tag: ChangeTag
  /// Milliseconds from the write to its being at the cloud; nil: never.
  public var took: Int64?
  public var allowed: Int64

  public init(_ tag: ChangeTag, took: Int64?, allowed: Int64) {
    self.tag = tag
    self.took = took
    self.allowed = allowed
  }
}

/// What a stranger was answered about a zone of another user, and about one that is not there.
public struct HiddenAnswer: Sendable, Hashable {
  public var question: String
  public var ofHidden: [UInt8]
  public var ofAbsent: [UInt8]

  public init(_ question: String, ofHidden: [UInt8], ofAbsent: [UInt8]) {
    self.question = question
    self.ofHidden = ofHidden
    self.ofAbsent = ofAbsent
  }
}

/// Rows of a table of which some may be lost.
public struct Samples: Sendable, Hashable {
  public var device: String
  /// Accepted by the store, as far as the app heard; of the others it does not know.
  public var accepted: Int
  public var unknown: Int
  public var arrived: Int
  public var maximumPermille: Int

  public init(device: String, accepted: Int, unknown: Int, arrived: Int, maximumPermille: Int) {
    self.device = device
    self.accepted = accepted
    self.unknown = unknown
    self.arrived = arrived
    self.maximumPermille = maximumPermille
  }
}

/// What a reader that comes back now and then holds in the end, after all tombstones that could be were purged.
public struct Latecomer: Sendable, Hashable {
  public var place: Place
  public var rows: [String: ChangeTag]

  public init(_ place: Place, rows: [String: ChangeTag]) {
    self.place = place
    self.rows = rows
  }
}
