public import Model

/// What a store keeps of an entry in bits.
public struct EntryFlags: OptionSet, Sendable, Hashable {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let deleted = EntryFlags(rawValue: 1)
  /// The last of its batch: pages like to end here.
  public static let endsBatch = EntryFlags(rawValue: 2)
  /// Its body names chunks.
  public static let holdsChunks = EntryFlags(rawValue: 4)
}

extension ZoneCommit.Write {
  /// - Parameter mutation: that this writes.
  public func flags(of mutation: Mutation) -> EntryFlags {
    var flags: EntryFlags = []
    if isDeleted { flags.insert(.deleted) }
    if endsBatch { flags.insert(.endsBatch) }
    if mutation.holdsChunks { flags.insert(.holdsChunks) }
    return flags
  }
}
