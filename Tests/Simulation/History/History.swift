public import CaravanTestKit

/// What an app knows of what it asked for.
public enum Standing: Sendable, Hashable {
  /// Asked, and nothing heard: it happened or not. Can become any of the others.
  case attempted
  /// The store said that it is durable.
  case acknowledged
  /// The store said that nothing changed.
  case refused
}

/// A change an app made on its device.
public struct LocalWrite: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    case insert
    /// Of the row as its only parent left it.
    case update
    case delete
    /// A new value for a row in conflict, made of both sides.
    case merge
  }

  public var tag: ChangeTag
  public var place: Place
  public var kind: Kind
  /// What the app saw, and replaced by this. None for a row that was not there.
  public var parents: [ChangeTag]
  /// Of the row's whole content; nil for a delete.
  public var digest: UInt64?
  /// What tables ask for that do not keep all rows; nil for a delete.
  public var number: Int64?
  public var standing: Standing

  public init(
    _ tag: ChangeTag, _ place: Place, _ kind: Kind, parents: [ChangeTag] = [], digest: UInt64? = nil,
    number: Int64? = nil, standing: Standing = .attempted
  ) {
    self.tag = tag
    self.place = place
    self.kind = kind
    self.parents = parents
    self.digest = digest
    self.number = number
    self.standing = standing
  }
}

/// A conflict that an app looked at, and how it decided.
public struct Decision: Sendable, Hashable {
  public enum Choice: Sendable, Hashable {
    case mine
    case theirs
    /// By the merge of this tag.
    case merge(ChangeTag)
  }

  public var row: RowKey
  public var device: String
  /// The change that made the local side; of a deletion, its tag.
  public var mine: ChangeTag
  /// nil: deleted at the cloud.
  public var theirs: ChangeTag?
  public var choice: Choice
  public var standing: Standing

  public init(
    _ row: RowKey, device: String, mine: ChangeTag, theirs: ChangeTag?, choice: Choice, standing: Standing = .attempted
  ) {
    self.row = row
    self.device = device
    self.mine = mine
    self.theirs = theirs
    self.choice = choice
    self.standing = standing
  }
}

/// What the cloud committed to one row.
public struct Version: Sendable, Hashable {
  public var row: RowKey
  public var seq: UInt64
  /// nil: a tombstone.
  public var tag: ChangeTag?
  public var writer: String
  /// The life of its zone.
  public var incarnation: UInt64
  /// A tombstone that stands for the end of the zone, and so of all its rows.
  public var wentWithZone: Bool

  public init(
    _ row: RowKey, seq: UInt64, tag: ChangeTag?, writer: String, incarnation: UInt64 = 0, wentWithZone: Bool = false
  ) {
    self.row = row
    self.seq = seq
    self.tag = tag
    self.writer = writer
    self.incarnation = incarnation
    self.wentWithZone = wentWithZone
  }
}

/// What a reader by snapshots has when it is told that this is consistent.
public struct SeenSnapshot: Sendable, Hashable {
  public var place: Place
  public var incarnation: UInt64
  public var seq: UInt64
  public var rows: [String: ChangeTag]

  public init(_ place: Place, incarnation: UInt64, seq: UInt64, rows: [String: ChangeTag]) {
    self.place = place
    self.incarnation = incarnation
    self.seq = seq
    self.rows = rows
  }
}

/// One commit as the zone log has it.
public struct Logged: Sendable, Hashable {
  public var partition: UInt32
  public var position: UInt64
  public var zone: String
  public var low: UInt64
  public var high: UInt64
  /// Versions written, in the order they were announced.
  public var seqs: [UInt64]
  /// Restores before it: each begins again further on.
  public var life: Int

  public init(
    partition: UInt32, position: UInt64, zone: String, low: UInt64, high: UInt64, seqs: [UInt64], life: Int = 0
  ) {
    self.life = life
    self.partition = partition
    self.position = position
    self.zone = zone
    self.low = low
    self.high = high
    self.seqs = seqs
  }
}

/// One row as a reader saw it.
public struct SeenRow: Sendable, Hashable {
  public var row: String
  public var seq: UInt64
  public var tag: ChangeTag
  /// Of the content as it was read, every byte of its object included.
  public var digest: UInt64
  /// Nothing of it waits to be synced or resolved.
  public var isClean: Bool

  public init(_ row: String, seq: UInt64, tag: ChangeTag, digest: UInt64, isClean: Bool = true) {
    self.row = row
    self.seq = seq
    self.tag = tag
    self.digest = digest
    self.isClean = isClean
  }
}

/// A whole table as an app read it.
public struct Reading: Sendable, Hashable {
  /// Ends the name of the one who looks at the cloud's copies in a device's conflicts.
  static let ofConflicts = "'s conflicts"

  public var device: String
  public var place: Place
  /// Local changes and decisions of the device that had been acknowledged before the read began.
  public var ownWrites: Int
  /// Rows were torn, and are hidden until they are mended (SIM-79).
  public var lacksTornRows: Bool
  /// What the table keeps.
  public var share: Share
  /// Versions that the cloud had committed before the read ended.
  public var versions: Int
  public var rows: [SeenRow]

  public init(
    device: String, place: Place, ownWrites: Int, lacksTornRows: Bool = false, share: Share = .all, versions: Int = 0,
    rows: [SeenRow]
  ) {
    self.device = device
    self.place = place
    self.ownWrites = ownWrites
    self.lacksTornRows = lacksTornRows
    self.share = share
    self.versions = versions
    self.rows = rows
  }
}

/// Everything that happened in one run, as far as promises were made about it. Pure data: checkers look at nothing
/// else.
public struct History: Sendable, Hashable {
  public var writes: [ChangeTag: LocalWrite] = [:]
  public var decisions: [Decision] = []
  /// Writes and decisions in the order in which they were acknowledged.
  public var acknowledged: [String: [Acknowledged]] = [:]
  public var versions: [Version] = []
  /// How many the cloud had committed when it had each change for the first time, whatever it forgot since.
  public var arrivals: [ChangeTag: Int] = [:]
  /// With which of its commits.
  public var commits: [ChangeTag: Int] = [:]
  private var commitCount = 0
  /// What an app changed together (REC-23).
  public var batches: [[ChangeTag]] = []
  public var log: [Logged] = []
  public var readings: [Reading] = []
  /// What devices were told to keep of a table, one after the other; those that never left a row to the cloud are not
  /// here.
  public var shares: [String: [Place: [Share]]] = [:]
  /// What somebody began to write over in place, whatever came of that.
  public var overwritten: Set<ChangeTag> = []
  /// What came to the cloud of tables that were local only.
  public var strays: [String] = []
  /// Of clients that keep no copy, on one zone.
  public var calls: [ZoneCall] = []
  /// What left devices that had no link, or one that it was not to use.
  public var trespasses: [String] = []
  /// What reached somebody it was not for, or was done by somebody who may not.
  public var intrusions: [String] = []
  /// What the broker refused to those who do what the product does.
  public var denials: [String] = []
  public var snapshots: [SeenSnapshot] = []
  /// Readers by snapshots who were not shown a consistent state for too long.
  public var starved: [String] = []
  /// How often the cloud was put back to an older state.
  public var restores = 0
  /// What it forgot then; `versions` and `log` have it no more.
  public var lost: [Version] = []
  public var groups: [SeenGroup] = []
  public var trees: [SeenTree] = []
  public var seenPairs: [SeenPairs] = []
  /// Of the present life of their zone, with what is left of former ones.
  public var pairs: [PairCommit] = []
  /// Of each life that a restore has ended.
  public var pastPairs: [[PairCommit]] = []
  /// Of zones that each user has subscribed to.
  public var watches: [String: [WatchEvent]] = [:]
  /// Of notifications on their way to push targets.
  public var pushes: [PushEvent] = []
  public var refusals: [SeenRefusal] = []
  public var promises: [KeptPromise] = []
  public var secrets: [HiddenAnswer] = []
  public var samples: [Samples] = []
  public var latecomers: [Latecomer] = []
  public var end = Outcome()

  public init() {}

  /// The cloud commits these at once, in their order.
  public mutating func commit(_ new: [Version]) {
    for case (let index, let tag?) in new.map(\.tag).enumerated() where arrivals[tag] == nil {
      arrivals[tag] = committed + index
      commits[tag] = commitCount
    }
    commitCount += 1
    versions += new
  }

  /// The cloud is put back to where it has none of these.
  public mutating func forget(_ isLost: (Version) -> Bool) {
    lost += versions.filter(isLost)
    versions.removeAll(where: isLost)
  }

  /// Versions that there ever were.
  public var committed: Int { versions.count + lost.count }

  /// Rows of which the cloud forgot that they had been deleted: the backup's copies come back, and nobody holds
  /// anything to tell it otherwise.
  public var undeleted: Set<RowKey> { Set(lost.filter { $0.tag == nil }.map(\.row)) }

  /// Content that the cloud forgot.
  public var forgotten: Set<ChangeTag> { Set(lost.compactMap(\.tag)) }

  /// What the cloud forgot and no device may have held: it was left to the cloud, or, where it was written over in
  /// place, was to come from there again.
  public var unheld: Set<ChangeTag> {
    let shared = Set(shares.values.flatMap(\.keys))
    return forgotten.filter { overwritten.contains($0) || (writes[$0].map { shared.contains($0.place) } ?? false) }
  }

  /// What the cloud forgot and had again from the device that wrote it.
  public var sentAgain: Set<ChangeTag> {
    forgotten.intersection(versions.compactMap { $0.tag?.device == $0.writer ? $0.tag : nil })
  }

  /// Rows of which the cloud forgot versions of more than one life.
  public var forgottenTwice: Set<RowKey> {
    let lives = Dictionary(grouping: lost, by: \.row).mapValues { Set($0.map(\.incarnation)).count }
    return Set(lives.filter { $0.value > 1 }.keys)
  }

  public enum Acknowledged: Sendable, Hashable {
    case write(ChangeTag)
    /// Index into `decisions`.
    case decision(Int)
  }

  /// The state when everything was quiet.
  public struct Outcome: Sendable, Hashable {
    /// Live rows at the cloud.
    public var cloud: [Place: [SeenRow]] = [:]
    /// Rows on each device.
    public var devices: [String: [Place: [SeenRow]]] = [:]
    /// Rows that a query for everything found.
    public var queried: [Place: [String: UInt64]] = [:]
    /// What the stores say of chunks that dangle, leak, or are counted wrongly.
    public var chunkProblems: [String] = []
    /// What the cloud's disk has lost, and neither devices brought back nor anybody told of.
    public var damageProblems: [String] = []
    /// What agents say of themselves and is not so.
    public var falseFigures: [String] = []
    /// What the instances of a service, which share it, do not agree on.
    public var ownerProblems: [String] = []
    /// What registered devices still lacked before anybody asked for a sync.
    public var stalled: [String] = []
    /// What clients of diff sync, native devices and the cloud do not agree on.
    public var diffSyncProblems: [String] = []

    public init() {}
  }
}
