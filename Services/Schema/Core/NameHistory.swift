package import CaravanModel

/// What has been registered under one name, in whichever case it was written.
package struct NameHistory: Sendable, Hashable {
  /// Of all incarnations, oldest first. A type that was removed and made again has another definition (CK-90).
  package let versions: [RecordType]
  /// The type was removed, and was not made again.
  package let isRemoved: Bool

  package init(_ versions: [RecordType] = [], isRemoved: Bool = false) {
    precondition(!isRemoved || !versions.isEmpty, "a name was removed that never was")
    self.versions = versions
    self.isRemoved = isRemoved
  }

  /// The type as it is; nil: there is none.
  package var latest: RecordType? { isRemoved ? nil : versions.last }

  /// Versions of the type as it is now: those of its earlier incarnations mean nothing to it.
  package var current: [RecordType] {
    guard let latest else { return [] }
    return versions.filter { $0.definition == latest.definition }
  }

  /// Versions that an app may go on with. Whoever has a field that was removed since gets it anew, under another id: a
  /// name that is used again shows nothing of what was (CK-91).
  package var usable: [RecordType] {
    guard let latest else { return [] }
    let fields = Set(latest.fields.map(\.id))
    return current.filter { $0.fields.allSatisfy { fields.contains($0.id) } }
  }

  /// The highest field id that was given under the name: new ones are above it, in every incarnation.
  package var highestField: UInt32 { versions.flatMap(\.fields).map(\.id).max() ?? 0 }

  /// Ids of types that are no part of the schema any more: nobody gets their records (CK-90).
  package var retired: [UInt32] {
    let current = Set(current.map(\.id))
    return versions.map(\.id).filter { !current.contains($0) }
  }

  package func adding(_ version: RecordType) -> NameHistory { NameHistory(versions + [version]) }
}
