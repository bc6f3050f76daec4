public import CaravanModel

/// A record whose stored row is not as it was written. It is there, and nobody is shown what it has become: devices
/// keep what they have of it. It is whole again once anybody saves it anew, or deletes it.
public struct DamagedBody: Sendable, Hashable {
  public var zone: ZoneID
  public var name: String
  public var version: Seq
  /// Of the body, as it lies there.
  public var size: Int
  /// When the damage was found, in Unix milliseconds.
  public var found: Int64

  public init(zone: ZoneID, name: String, version: Seq, size: Int, found: Int64) {
    self.zone = zone
    self.name = name
    self.version = version
    self.size = size
    self.found = found
  }
}

/// An entry that a page leaves out because it is damaged.
public struct DamagedVersion: Sendable, Hashable {
  public var name: String
  public var version: Seq

  public init(name: String, version: Seq) {
    self.name = name
    self.version = version
  }
}

extension [Entry] {
  public var damaged: [DamagedVersion] {
    contains(where: \.isDamaged)
      ? filter(\.isDamaged).map { DamagedVersion(name: $0.name, version: $0.version) } : []
  }
}

/// Whose damage is asked for.
public enum DamageFilter: Sendable, Hashable {
  case everything
  case database(DatabaseID)
  /// Private databases of this user, with their shards.
  case owner(UserID)
}

extension CommitResult {
  /// Whether something was refused because what is stored is damaged.
  public var hasMetDamage: Bool {
    guard case .applied(let outcomes, _, _, _) = self else { return false }
    return outcomes.contains { outcome in
      if case .refused(let error) = outcome { error.code == .recordDamaged } else { false }
    }
  }
}
