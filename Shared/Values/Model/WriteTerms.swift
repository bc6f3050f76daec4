/// What a mutation asks for beyond the plain one, in which the body is the whole record, the base decides, and nothing
/// ends by itself.
public struct WriteTerms: Sendable, Hashable {
  /// What a save's body is of the record (CK-25).
  public enum Scope: Sendable, Hashable {
    /// All of it: what is not in the body is gone.
    case whole
    /// Some fields: the others stay, and a field without a value is removed.
    case changed
    /// All fields that the writer knows, those with ids up to this: newer ones stay (CK-26).
    case known(upTo: UInt32)
  }

  /// When a record ends by itself; the store collects it some time later (CK-30).
  public enum Expiry: Sendable, Hashable {
    /// As it was; a new record never ends.
    case keep
    case never
    /// Unix milliseconds.
    case at(Int64)
    /// Milliseconds after the store's now.
    case after(Int64)
  }

  /// Whether the body is the whole record or a part of it.
  public var scope: Scope
  /// Encoded `Fields` that the record must still have, value for value; a field without a value: still absent (E15).
  public var guards: [UInt8]
  /// Those in the body that are owning or validating, each once.
  public var references: [Reference]
  /// What the write does to the end of the record.
  public var expiry: Expiry
  /// nil: as it was.
  public var hidesExpired: Bool?
  /// `serverExtension` is for those who ask the store; to the store it is `manual`.
  public var policy: ConflictPolicy
  /// When the edit was made; nil: now.
  public var stamp: HybridStamp?
  /// Of fields that were edited at another time than `stamp`.
  public var fieldStamps: [UInt32: HybridStamp]
  /// Encoded `Fields` that the edit began with, for a server extension; to the store it is nothing.
  public var ancestor: [UInt8]

  public init(
    scope: Scope = .whole, guards: [UInt8] = [], references: [Reference] = [], expiry: Expiry = .keep,
    hidesExpired: Bool? = nil, policy: ConflictPolicy = .manual, stamp: HybridStamp? = nil,
    fieldStamps: [UInt32: HybridStamp] = [:], ancestor: [UInt8] = []
  ) {
    self.scope = scope
    self.guards = guards
    self.references = references
    self.expiry = expiry
    self.hidesExpired = hidesExpired
    self.policy = policy
    self.stamp = stamp
    self.fieldStamps = fieldStamps
    self.ancestor = ancestor
  }
}

/// A hybrid logical timestamp: Unix milliseconds, and a counter for what the clock does not tell apart. It orders
/// writes that did not know of each other; a write that knew the one before it gets a later stamp, whatever its
/// device's clock says.
public struct HybridStamp: Sendable, Hashable, Comparable {
  /// Milliseconds << 16 | counter.
  public let rawValue: UInt64

  /// From storage or the wire; any number is a stamp.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The first stamp of a millisecond.
  public init(milliseconds: Int64) { rawValue = UInt64(max(0, milliseconds)) << 16 }

  /// The same moment by a clock that says so many milliseconds more.
  public func moved(by milliseconds: Int64) -> HybridStamp {
    let (time, overflow) = Int64(rawValue >> 16).addingReportingOverflow(milliseconds)
    let held = overflow ? (milliseconds < 0 ? 0 : Int64.max >> 16) : min(max(0, time), Int64.max >> 16)
    return HybridStamp(rawValue: UInt64(held) << 16 | rawValue & 0xffff)
  }

  /// The later moment is greater; of one millisecond the counter decides.
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
