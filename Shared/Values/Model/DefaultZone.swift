/// The zone that every database has without making it (CK-09, CK-10). It holds records that stand alone: each is
/// linearizable by itself, there are no batches, references or change tokens, and so nothing that all of its writes
/// would have to meet at. It is spread over shards by the records' names; its clients see one zone.
public enum DefaultZone {
  /// Its name in every database.
  public static let name = "_defaultZone"

  /// - Throws: `customZoneNeeded` when `zone` is the default zone, which does not do what is asked.
  public static func refuse(_ zone: ZoneID, _ what: StaticString) throws(CaravanError) {
    guard zone.name == name else { return }
    throw CaravanError(.customZoneNeeded, "the default zone \(what): use a zone of your own")
  }

  /// - Throws: `customZoneNeeded` for a commit to the default zone that is more than one record by itself.
  public static func check(
    _ zone: ZoneID, records: Int, isAtomic: Bool = false, hasReferences: Bool
  ) throws(CaravanError) {
    if records != 1 || isAtomic { try refuse(zone, "has no batches, its records go one by one") }
    if hasReferences { try refuse(zone, "has no owning or validating references, only plain ones") }
  }

  /// Which of `count` shards holds a record. Stable for ever: records lie where it says.
  public static func shard(of record: String, among count: UInt32) -> UInt32 {
    precondition(count > 0, "a default zone has at least one shard")
    // FNV-1a, and its upper bits folded into those that count.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in record.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash ^= hash >> 32
    return UInt32(truncatingIfNeeded: (hash ^ (hash >> 16)) % UInt64(count))
  }
}

/// How a container's default zones are divided. Said once, before the first record lies in one: later it would look
/// for records where they are not.
public struct ContainerSettings: Sendable, Hashable {
  /// More would share partitions.
  public static let mostShards = Partition.count

  /// Of the default zone of the public database.
  public var publicShards: UInt32
  /// Of that of every user's private database.
  public var privateShards: UInt32

  /// A public database is written by many, a private one by one user's few devices.
  public init(publicShards: UInt32 = 16, privateShards: UInt32 = 1) {
    self.publicShards = publicShards
    self.privateShards = privateShards
  }

  /// How many shards the default zone of this database is divided into.
  public func shards(of database: DatabaseID) -> UInt32 { database.owner == nil ? publicShards : privateShards }

  /// - Throws: `invalidData` when a number is not 1 to `mostShards`.
  public func check() throws(CaravanError) {
    for count in [publicShards, privateShards] where !(1...Self.mostShards).contains(count) {
      throw CaravanError(
        .invalidData, "a default zone cannot have \(count) shards: 1 to \(Self.mostShards) are possible")
    }
  }
}

extension DatabaseID {
  /// The part of this database that holds the records of one shard of its default zone.
  public func shard(_ number: UInt32) -> DatabaseID {
    DatabaseID(container: container, environment: environment, owner: owner, shard: number)
  }

  /// Owner and shard in one word, as tables have them: empty for a public database. No user's id has a `#`.
  public var ownerText: String { (owner?.text ?? "") + (shard == 0 ? "" : "#\(shard)") }

  /// - Throws: `invalidData` when the text is not one of `ownerText`.
  public init(container: ContainerID, environment: Environment, ownerText: String) throws(CaravanError) {
    let parts = ownerText.split(separator: "#", omittingEmptySubsequences: false)
    let shard = parts.count == 2 ? UInt32(parts[1]) : parts.count <= 1 ? 0 : nil
    guard let shard, shard < ContainerSettings.mostShards else {
      throw CaravanError(.invalidData, "'\(ownerText.prefix(80))' names no owner and shard of a database")
    }
    let owner = parts.first.map(String.init) ?? ""
    self.init(
      container: container, environment: environment, owner: owner.isEmpty ? nil : try UserID(owner), shard: shard)
  }
}
