/// One thing that answers are ordered by.
public struct SortKey: Sendable, Hashable {
  /// The name of a field that can be compared: no object, list or place. With `near`, the name of a place.
  public var field: String
  /// From the greatest to the least; nulls are then last.
  public var isDescending: Bool
  /// The distance of the field from here is what counts.
  public var near: Location?

  public init(_ field: String, isDescending: Bool = false, near: Location? = nil) {
    self.field = field
    self.isDescending = isDescending
    self.near = near
  }
}

/// A question about the records of one type in all zones of one database, or in one of them (CK-80).
public struct Query: Sendable, Hashable {
  /// Who is to see the answer, where not everybody sees all there is: in public databases (CK-04).
  public enum Viewer: Sendable, Hashable {
    case anonymous
    /// Somebody who has signed in, by the name that the database has for them as an author.
    case user(String)
    /// A server app of the container, by the same.
    case server(String)
  }

  /// A zone as the caller has seen it: the answer is to be no older.
  public struct Seen: Sendable, Hashable {
    public var zone: String
    /// Which life of the zone.
    public var incarnation: Incarnation
    public var seq: Seq

    public init(zone: String, incarnation: Incarnation, seq: Seq) {
      self.zone = zone
      self.incarnation = incarnation
      self.seq = seq
    }
  }

  /// A predicate as people write it, for whoever does not know the record type (Shared/Values/Query/README.md).
  public struct Text: Sendable, Hashable {
    public var text: String
    /// Values of its `?`, in order.
    public var arguments: [Value]

    public init(_ text: String, arguments: [Value] = []) {
      self.text = text
      self.arguments = arguments
    }
  }

  /// The private database of a user, or the public one of a container.
  public var database: DatabaseID
  /// Name of the record type.
  public var type: String
  /// Which records; an empty predicate takes all.
  public var predicate: Predicate
  /// In place of a predicate; nil: the predicate counts.
  public var text: Text?
  /// Nulls come first, in descending order last; what is equal is ordered by zone and name.
  public var sort: [SortKey]
  /// Most records in one answer, up to `Limits.queryRows`; 0: as the service likes.
  public var limit: Int
  /// From the answer before; empty: the first page.
  public var cursor: [UInt8]
  /// Bytes that bodies of one answer have at most, but for a single larger one; 0: as the service likes.
  public var pageBytes = 0
  /// Only records of this zone; nil: of all.
  public var zone: String?
  /// Names of the fields that records in the answer have; empty: all they have.
  public var fields: [String]
  /// How many records there are is all that is asked.
  public var isCount: Bool
  /// The answer has these, at most `Limits.querySeenZones`, or there is none yet.
  public var seen: [Seen]
  /// nil: they see all records there are.
  public var viewer: Viewer?
  /// Names of the container's own roles that the viewer has.
  public var roles: Set<String> = []

  public init(
    database: DatabaseID, type: String, predicate: Predicate = Predicate(), text: Text? = nil, sort: [SortKey] = [],
    limit: Int = 0, cursor: [UInt8] = [], zone: String? = nil, fields: [String] = [], isCount: Bool = false,
    seen: [Seen] = [],
    viewer: Viewer? = nil
  ) {
    self.database = database
    self.type = type
    self.predicate = predicate
    self.text = text
    self.sort = sort
    self.limit = limit
    self.cursor = cursor
    self.zone = zone
    self.fields = fields
    self.isCount = isCount
    self.seen = seen
    self.viewer = viewer
  }
}
