public import CaravanModel

/// What the store knows of a record before a commit touches it.
public struct RecordHead: Sendable, Hashable {
  public var version: Seq
  public var created: Seq
  public var flags: EntryFlags
  /// Unix milliseconds; 0: never.
  public var expires: Int64
  /// What its account is charged for it; a tombstone is free.
  public var bytes: Int64
  public var origin: RecordOrigin

  public init(
    version: Seq, created: Seq, flags: EntryFlags = [], expires: Int64 = 0, bytes: Int64 = 0,
    origin: RecordOrigin = .unknown
  ) {
    self.version = version
    self.created = created
    self.flags = flags
    self.expires = expires
    self.bytes = bytes
    self.origin = origin
  }

  public var isDeleted: Bool { flags.contains(.deleted) }
  var usage: Usage { isDeleted ? Usage() : Usage(records: 1, bytes: bytes) }
  public var holdsChunks: Bool { flags.contains(.holdsChunks) }
  public var holdsReferences: Bool { flags.contains(.holdsReferences) }

  /// Whether answers show it, as a record or as a tombstone: it is not expired out of sight (CK-30).
  public func isVisible(at now: Int64) -> Bool { isDeleted || isLive(at: now) }

  /// Not deleted, and not expired out of sight.
  public func isLive(at now: Int64) -> Bool {
    guard !isDeleted else { return false }
    return expires == 0 || expires > now || !flags.contains(.hidesExpired)
  }
}

/// When and by whom a record was made.
public struct RecordOrigin: Sendable, Hashable {
  /// Unix milliseconds on the store's clock; 0: not known.
  public var time: Int64
  public var writer: Writer

  public enum Writer: Sendable, Hashable {
    /// As a store that numbers its writers knows them.
    case number(Int64)
    case name(String)
  }

  public static let unknown = RecordOrigin(time: 0, writer: .name(""))

  public init(time: Int64, writer: Writer) {
    self.time = time
    self.writer = writer
  }
}

/// A record that refers to another, by owning or validating references.
public struct Referrer: Sendable, Hashable {
  /// Bits that lie in a store's files: their values never change.
  public struct Kinds: OptionSet, Sendable, Hashable {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let owning = Kinds(rawValue: 1)
    public static let validating = Kinds(rawValue: 2)

    public init(_ kind: Reference.Kind) {
      switch kind {
      case .plain: self = []
      case .owning: self = .owning
      case .validating: self = .validating
      }
    }
  }

  public var name: String
  public var kinds: Kinds

  public init(name: String, kinds: Kinds) {
    self.name = name
    self.kinds = kinds
  }

  var isOwning: Bool { kinds.contains(.owning) }
  var isValidating: Bool { kinds.contains(.validating) }
}
