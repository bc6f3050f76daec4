/// What a write is based on: the compare of compare-and-set (CK-25).
public enum Base: Sendable, Hashable {
  /// Whatever is there.
  case any
  /// Nothing must be there.
  case absent
  case version(Seq)
}

/// One change to one record.
public struct Mutation: Sendable, Hashable {
  /// What the mutation does to the record.
  public enum Change: Sendable, Hashable {
    /// `body` is an encoded `Fields`; `chunks` are the hashes that its objects name.
    case save(type: UInt32, body: [UInt8], chunks: [ChunkHash])
    case delete
    /// Writes nothing: the record must be as `base` says, and the outcome shows it as the commit leaves it (CK-23).
    case read
  }

  /// The record's name within its zone.
  public var name: String
  /// What the writer believes the store holds; else the mutation conflicts.
  public var base: Base
  /// The new contents, or the deletion.
  public var change: Change
  /// nil: a plain change.
  public var terms: WriteTerms?
  /// Its writer changes nothing: this is what the record was at `base`, for a store that a restore took it from
  /// (UNI-18). Where `base` is that there was none: the writer has sent it before, and does not know what came of that.
  public var isOffer: Bool

  public init(name: String, base: Base, change: Change, terms: WriteTerms? = nil, isOffer: Bool = false) {
    self.name = name
    self.base = base
    self.change = change
    self.terms = terms
    self.isOffer = isOffer
  }
}

/// A live record or a tombstone, as a zone's sync index holds it: one entry a record, at the seq of its last write
/// (CK-41).
public struct Entry: Sendable, Hashable {
  /// The record's name within its zone.
  public var name: String
  /// The zone's counter at the last write of the record.
  public var version: Seq
  /// Seq of the creation; of a tombstone, of the oldest creation a device may still hold (CK-43, E11).
  public var created: Seq
  /// The entry is a tombstone: the record was deleted, and not every device has seen that yet.
  public var isDeleted: Bool
  /// The id of the record type that the body was written with.
  public var type: UInt32
  /// Encoded `Fields`; empty in a tombstone.
  public var body: [UInt8]
  /// Who wrote it last, as `WriterName` has it.
  public var writer: String
  /// Unix milliseconds; 0: never (CK-30).
  public var expires: Int64
  /// Encoded `FieldVersions`, where the record type's conflict policy keeps them; else empty.
  public var fields: [UInt8]
  /// When it was made and changed, and by whom.
  public var authorship: Authorship
  /// The store cannot say what it was: its row is not as it was written. It has neither body nor fields.
  public var isDamaged = false

  public init(
    name: String, version: Seq, created: Seq, isDeleted: Bool = false, type: UInt32 = 0, body: [UInt8] = [],
    writer: String, expires: Int64 = 0, fields: [UInt8] = [], authorship: Authorship = .unknown
  ) {
    self.name = name
    self.version = version
    self.created = created
    self.isDeleted = isDeleted
    self.type = type
    self.body = body
    self.writer = writer
    self.expires = expires
    self.fields = fields
    self.authorship = authorship
  }
}

/// When and by whom a record was made, and when it was last changed: by the writer of its entry. Times are Unix
/// milliseconds on the store's clock, and within a zone none is before that of an earlier commit.
public struct Authorship: Sendable, Hashable {
  /// 0: not known, as the record was last changed before the store kept it. Then nobody knows by whom, either.
  public var modified: Int64
  /// 0: not known, as the record was made before the store kept it.
  public var created: Int64
  /// Who made it; empty where the time is not known.
  public var creator: String

  /// What is known of a record that was written before stores kept authorship.
  public static let unknown = Authorship(modified: 0, created: 0, creator: "")

  public init(modified: Int64, created: Int64, creator: String) {
    self.modified = modified
    self.created = created
    self.creator = creator
  }
}

/// What the user of a commit to a public database may do with records of one type, where that is not what everybody
/// may (CK-04). Whoever sends the commit has looked at the type's grants.
public struct TypeRights: Sendable, Hashable {
  /// Ids of all versions of the type.
  public var types: [UInt32]
  /// To records that the user has made.
  public var own: TypeGrants.Rights
  /// To records that others have made; `create` is to names that are free.
  public var others: TypeGrants.Rights

  public init(types: [UInt32], own: TypeGrants.Rights, others: TypeGrants.Rights) {
    self.types = types
    self.own = own
    self.others = others
  }
}

/// Mutations to one zone under one op id, applied in one transaction (UNI-05).
public struct Commit: Sendable, Hashable {
  /// The only zone that the commit touches.
  public var zone: ZoneID
  /// Whoever sends the same one again gets the first answer.
  public var op: OpID
  /// Outcomes of the same writer and epoch below this number may be forgotten.
  public var opFloor: UInt64
  /// True: all or none. False: each mutation stands alone, those in conflict are reported and left out (MOB-55).
  public var isAtomic: Bool
  /// At most `Limits.recordsPerCommit`, in the order in which they apply.
  public var mutations: [Mutation]
  /// Of a group: how many parts have been staged under the op. The mutations are theirs, in their order (UNI-05).
  public var parts: Int?
  /// The lock of the writer that the commit depends on (UNI-04).
  public var fence: LeaseProof?
  /// Of all types of the container whose grants are not the standard ones; in a public database only.
  public var rights: [TypeRights]
  /// Ids of types that were removed: their records count as if they were not there.
  public var retired: Set<UInt32>
  /// Records of the zone `OwnRole.zone` of the same database that have to be there still: `rights` come from them.
  public var roles: [String]

  public init(
    zone: ZoneID, op: OpID, opFloor: UInt64 = 0, isAtomic: Bool, mutations: [Mutation], parts: Int? = nil,
    fence: LeaseProof? = nil, rights: [TypeRights] = [], retired: Set<UInt32> = [], roles: [String] = []
  ) {
    self.zone = zone
    self.op = op
    self.opFloor = opFloor
    self.isAtomic = isAtomic
    self.mutations = mutations
    self.parts = parts
    self.fence = fence
    self.rights = rights
    self.retired = retired
    self.roles = roles
  }

  /// Whether what becomes of a mutation depends on the type of the record that is there.
  public var dependsOnTypes: Bool { !rights.isEmpty || !retired.isEmpty }
}

/// What became of one mutation.
public enum Outcome: Sendable, Hashable {
  case accepted(version: Seq)
  /// The store holds something else than the base: that entry, or nothing at all.
  case conflict(server: Entry?)
  /// Not applied: another mutation of an atomic batch failed, or the answer had no room to show the conflict. Send it
  /// again. Of a read, where the answer came again: the record has changed since. Read it again.
  case aborted
  /// Settled by the record type's conflict policy: the record is what `server` says, at this version or a later one.
  /// nil: the answer had no room for it.
  case merged(version: Seq, server: Entry?)
  /// The record that was read; nil: there is none.
  case read(Entry?)
  /// Not applied, and as it is it never will be.
  case refused(CaravanError)
}

/// What became of a commit.
public enum CommitResult: Sendable, Hashable {
  /// - Parameter time: when it was, as `Authorship.modified` says of what it wrote; 0: it wrote nothing, or nobody
  ///   knows.
  case applied(outcomes: [Outcome], zoneSeq: Seq, incarnation: Incarnation, time: Int64 = 0)
  /// Nothing was applied: stage these chunks first, then send the same op again.
  case missing([ChunkHash])
  /// The op was settled as aborted before it arrived: it has no effect and never will.
  case aborted
}
