/// What a store keeps of an entry in bits; they lie in its files, so their values never change.
public struct EntryFlags: OptionSet, Sendable, Hashable {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let deleted = EntryFlags(rawValue: 1)
  /// The last of its batch: pages like to end here.
  public static let endsBatch = EntryFlags(rawValue: 2)
  /// Its body names chunks, so that replacing it gives references back.
  public static let holdsChunks = EntryFlags(rawValue: 4)
  /// It has owning or validating references, which are in the store's index of references.
  public static let holdsReferences = EntryFlags(rawValue: 8)
  public static let expires = EntryFlags(rawValue: 16)
  /// Out of sight once it has expired.
  public static let hidesExpired = EntryFlags(rawValue: 32)
  /// Its writer has not seen it as it is: it was merged, or deleted with its owner. It is no echo to anybody.
  public static let unseen = EntryFlags(rawValue: 64)
  /// `created` is a version that a restore took back: what is here was made from that, or is its deletion (UNI-18).
  public static let regained = EntryFlags(rawValue: 128)
  /// With `regained`: it is what the record was at that version.
  public static let unchanged = EntryFlags(rawValue: 256)
  /// Its body has objects, and all of them are empty: there is no chunk to say so.
  public static let holdsEmptyObjects = EntryFlags(rawValue: 512)

  package var holdsObjects: Bool { !isDisjoint(with: [.holdsChunks, .holdsEmptyObjects]) }
}
