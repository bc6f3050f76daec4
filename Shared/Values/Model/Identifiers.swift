/// Ids that appear as subject tokens: 1–63 of `a-z`, `0-9` and `-`, not beginning or ending with `-`.
public protocol Identifier: Sendable, Hashable, Comparable, CustomStringConvertible {
  var text: String { get }
  static var kind: String { get }
  init(unchecked text: String)
}

extension Identifier {
  /// - Throws: `invalidData` naming the kind of id, when `text` is not of the allowed form.
  public init(_ text: String) throws(CaravanError) {
    let utf8 = text.utf8
    let allowed = utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
    guard (1...63).contains(utf8.count), allowed, utf8.first != 0x2d, utf8.last != 0x2d else {
      throw CaravanError(
        .invalidData, "\(Self.kind) '\(text.prefix(80))' is not allowed: use 1 to 63 of a-z, 0-9 and '-'")
    }
    self.init(unchecked: text)
  }

  /// The same as `text`.
  public var description: String { text }
  /// By the bytes of the text.
  public static func < (a: Self, b: Self) -> Bool { a.text < b.text }
}

/// Who owns private databases and devices. The suite's operator gives the id, and it never changes.
public struct UserID: Identifier {
  public let text: String
  public static var kind: String { "user" }
  public init(unchecked text: String) { self.text = text }
}

/// What a user calls a device. `EnrolledDevice` tells apart devices that had the name one after the other.
public struct DeviceID: Identifier {
  public let text: String
  public static var kind: String { "device" }
  public init(unchecked text: String) { self.text = text }
}

/// An app's isolated logical space, with one schema (CK-01). A device app's name is its container's.
public struct ContainerID: Identifier {
  public let text: String
  public static var kind: String { "container" }
  public init(unchecked text: String) { self.text = text }

  /// Where Caravan keeps its own records: types, subscriptions, devices.
  public static let system = ContainerID(unchecked: "caravan")
}

/// Each container has both, with record types and records of their own; a device is of one of them.
public enum Environment: String, Sendable, Hashable, CaseIterable {
  case development
  case production
}

/// A database: a container's public one (`owner` nil), or one user's private one (CK-03).
public struct DatabaseID: Sendable, Hashable, CustomStringConvertible {
  /// The app whose data it holds.
  public let container: ContainerID
  /// Whether apps under development write to it.
  public let environment: Environment
  /// Whose private database it is; nil: it is the public one.
  public let owner: UserID?
  /// 0: the database with all its zones. Others are parts of it, each with one shard of its default zone (CK-10), in a
  /// partition of its own.
  public let shard: UInt32

  public init(container: ContainerID, environment: Environment, owner: UserID?, shard: UInt32 = 0) {
    self.container = container
    self.environment = environment
    self.owner = owner
    self.shard = shard
  }

  /// Caravan's own records that belong to no environment: devices, containers, placements. They lie where they always
  /// have. It also says where everything of one owner lies, whatever the environment (`Partition`).
  public static func system(_ owner: UserID?) -> DatabaseID {
    DatabaseID(container: .system, environment: .development, owner: owner)
  }

  /// Whether it is the container's, for all its users.
  public var isPublic: Bool { owner == nil }

  /// For messages: container, environment and owner with slashes between them.
  public var description: String { "\(container)/\(environment.rawValue)/\(ownerText)" }
}

/// The unit of order and of batches: a table of an app is a zone of that name in its user's database.
public struct ZoneID: Sendable, Hashable, CustomStringConvertible {
  /// Where the zone lies.
  public let database: DatabaseID
  /// The table's name; 1 to 128 of `A-Z a-z 0-9 _ . -`.
  public let name: String

  /// - Throws: `invalidData` when the name is not 1–128 of `A-Z a-z 0-9 _ . -`.
  public init(_ database: DatabaseID, _ name: String) throws(CaravanError) {
    let allowed = name.utf8.allSatisfy {
      (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5f || $0 == 0x2e || $0 == 0x2d
    }
    guard (1...128).contains(name.utf8.count), allowed else {
      throw CaravanError(
        .invalidData, "zone name '\(name.prefix(80))' is not allowed: use 1 to 128 of A-Z a-z 0-9 _ . -")
    }
    self.database = database
    self.name = name
  }

  /// For messages: the database and the name.
  public var description: String { "\(database)/\(name)" }
}

/// One of the logical parts the store is divided into. Everything of one owner lies in one partition, so a device's
/// frame with many apps meets one storage partition, one notifier and one transaction.
public struct Partition: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Fixed for ever: rows lie where a number below it says.
  public static let count: UInt32 = 64
  /// From 0 to `count` - 1.
  public let number: UInt32

  /// - Throws: `invalidData` when `number` is not below `count`.
  public init(_ number: UInt32) throws(CaravanError) {
    guard number < Self.count else {
      throw CaravanError(.invalidData, "partition \(number) does not exist: use 0 to \(Self.count - 1)")
    }
    self.number = number
  }

  /// FNV-1a of the owner (public databases: of the container), reduced; shards lie in those that follow. Stable for
  /// ever: rows live where it says.
  public init(of database: DatabaseID) {
    let key = database.owner.map { "user/\($0.text)" } ?? "container/\(database.container.text)"
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let first = (hash ^ (hash >> 32)) % UInt64(Self.count)
    number = UInt32(truncatingIfNeeded: (first + UInt64(database.shard)) % UInt64(Self.count))
  }

  /// In ascending order.
  public static let all: [Partition] = (0..<count).compactMap { try? Partition($0) }
  /// By number.
  public static func < (a: Self, b: Self) -> Bool { a.number < b.number }
  /// The number in decimal digits, as it stands in subjects.
  public var description: String { String(number) }
}

/// A zone's counter (UNI-01): the seq of its latest change; also a record's version, and ITA's height.
public typealias Seq = UInt64

/// Which life of a zone of this name: deleting and creating it again gives another (CK-45).
public typealias Incarnation = UInt64

/// Names one mutation set for ever (UNI-07). `epoch` counts the lives of the writer's store.
public struct OpID: Sendable, Hashable, CustomStringConvertible {
  /// Who makes the mutations; no two writers have one name.
  public let writer: String
  /// Grows when the writer's store starts over, so that its numbers may begin again.
  public let epoch: UInt64
  /// Grows by one with each set of an epoch.
  public let number: UInt64

  public init(writer: String, epoch: UInt64, number: UInt64) {
    self.writer = writer
    self.epoch = epoch
    self.number = number
  }

  /// For logs and messages.
  public var description: String { "\(writer)/\(epoch)/\(number)" }
}

/// SHA-256 of a chunk's bytes: its name in the chunk store.
public struct ChunkHash: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The bytes of a SHA-256.
  public static let byteCount = 32
  private let a, b, c, d: UInt64

  /// Takes 32 bytes from `bytes` at `offset`; `nil` when there are not that many.
  public init?(_ bytes: [UInt8], at offset: Int = 0) {
    guard offset >= 0, bytes.count >= offset + Self.byteCount else { return nil }
    func word(_ i: Int) -> UInt64 {
      var value: UInt64 = 0
      for k in 0..<8 { value = value << 8 | UInt64(bytes[offset + i * 8 + k]) }
      return value
    }
    (a, b, c, d) = (word(0), word(1), word(2), word(3))
  }

  /// Appends the 32 bytes in the order in which the hash is written.
  public func append(to bytes: inout [UInt8]) {
    for word in [a, b, c, d] { for k in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (56 - 8 * k))) } }
  }

  /// The 32 bytes in the order in which the hash is written.
  public var bytes: [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(Self.byteCount)
    append(to: &out)
    return out
  }

  /// By the bytes; stores keep hashes in this order.
  public static func < (x: Self, y: Self) -> Bool { (x.a, x.b, x.c, x.d) < (y.a, y.b, y.c, y.d) }
  /// 64 hexadecimal digits.
  public var description: String {
    [a, b, c, d].map { String($0, radix: 16) }.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
  }

  /// Splits a run of concatenated hashes.
  /// - Throws: `invalidData` when the length is no multiple of 32.
  public static func list(_ bytes: [UInt8]) throws(CaravanError) -> [ChunkHash] {
    guard bytes.count.isMultiple(of: byteCount) else {
      throw CaravanError(.invalidData, "a list of chunk hashes has \(bytes.count) bytes: send 32 for each")
    }
    return stride(from: 0, to: bytes.count, by: byteCount).compactMap { ChunkHash(bytes, at: $0) }
  }

  /// 32 bytes for each hash, in this order; `list` is the way back.
  public static func joined(_ hashes: some Sequence<ChunkHash>) -> [UInt8] {
    var out: [UInt8] = []
    for hash in hashes { hash.append(to: &out) }
    return out
  }
}
