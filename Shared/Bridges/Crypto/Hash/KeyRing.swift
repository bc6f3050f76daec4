/// Whoever seals and opens asks for the ring each time, because operators change it while services run.
public protocol TicketKeys: Sendable {
  var ring: KeyRing { get }
}

/// The keys of tickets and tokens (TRU-09). The first seals, all open, so that a key can change while nobody
/// starts over.
public struct KeyRing: Hashable, Sendable {
  /// Whoever opens tries every key, so there are few.
  public static let most = 8

  /// A key, and what the ring knows of it.
  public struct Member: Hashable, Sendable {
    public let key: TicketKey
    /// Tells keys apart for people; says nothing of the key.
    public let id: String
    /// Unix time when a rotation made it; nil: the deployment began with it.
    public let addedSeconds: Int64?
    /// Unix time when the next key took its place; nil: it seals, or is about to.
    public internal(set) var endedSeconds: Int64?

    public init(_ key: TicketKey, added: Int64? = nil, ended: Int64? = nil) {
      self.key = key
      addedSeconds = added
      endedSeconds = ended
      var digest = SHA256()
      digest.update(Array("caravan ticket key id".utf8))
      digest.update(key.bytes)
      id = KeyRing.text(digest.finalize().bytes.prefix(4))
    }

    /// The MAC covers the key's id. Only that of the key with which a deployment began does not: releases before rings
    /// made it so, and what they sealed still opens.
    func mac(over message: [UInt8]) -> [UInt8] {
      guard addedSeconds != nil else { return key.mac(over: message) }
      let name = Array(id.utf8)
      // Messages begin with a length in eight bytes too, so none is taken for another.
      return key.mac(over: [0, 0, 0, 0, 0, 0, 0, UInt8(name.count)] + name + message)
    }
  }

  /// The first seals.
  public private(set) var members: [Member]

  /// - Throws: `invalidKey` when there are none or too many, or two are the same.
  public init(_ members: [Member]) throws(CryptoError) {
    guard !members.isEmpty else { throw CryptoError(.invalidKey, "a ring has a key at least") }
    guard members.count <= Self.most else {
      throw CryptoError(.invalidKey, "a ring has \(Self.most) keys at most, found \(members.count)")
    }
    guard Set(members.map(\.id)).count == members.count else {
      throw CryptoError(.invalidKey, "a key is in the ring twice")
    }
    self.members = members
  }

  /// The ring that a deployment begins with.
  public init(_ key: TicketKey) { members = [Member(key)] }

  public var sealing: Member { members[0] }

  /// What a rotation that was cut short has added: it opens, and does not seal yet.
  public var pending: Member? { members.dropFirst().last { $0.endedSeconds == nil && $0.addedSeconds != nil } }

  /// The key that the deployment began with, while it is here.
  public var original: TicketKey? { members.last { $0.addedSeconds == nil }?.key }

  // MARK: MACs

  /// 16 bytes.
  public func mac(over message: [UInt8]) -> [UInt8] { sealing.mac(over: message) }

  /// Whether a key of the ring made the MAC. It takes the same time whichever key did: all are tried.
  public func verify(_ mac: [UInt8], over message: [UInt8]) -> Bool {
    var isOurs = false
    for member in members where constantTimeEqual(mac, member.mac(over: message)) { isOurs = true }
    return isOurs
  }

  // MARK: Changes

  /// With a key more, which opens and does not seal.
  /// - Throws: `invalidKey` when the ring is full.
  public func adding(_ key: TicketKey, at seconds: Int64) throws(CryptoError) -> KeyRing {
    try KeyRing(members + [Member(key, added: seconds)])
  }

  /// This key seals from now on; nil: there is no such key.
  public func sealing(with id: String, at seconds: Int64) -> KeyRing? {
    guard let index = members.firstIndex(where: { $0.id == id }) else { return nil }
    guard index > 0 else { return self }
    var ring = self
    var next = ring.members.remove(at: index)
    next.endedSeconds = nil
    ring.members[0].endedSeconds = seconds
    ring.members.insert(next, at: 0)
    return ring
  }

  /// Without the keys in whose place others came up to this time: nobody uses any more what they sealed.
  public func retiring(endedBy seconds: Int64) -> KeyRing {
    var ring = self
    ring.members = [sealing] + members.dropFirst().filter { $0.endedSeconds.map { $0 > seconds } ?? true }
    return ring
  }

  /// Without these keys. When the one that seals is among them, the new one takes its place at once.
  /// - Throws: `invalidKey` when the new key is in the ring already.
  public func distrusting(
    _ ids: Set<String>, for key: TicketKey, at seconds: Int64
  ) throws(CryptoError) -> KeyRing {
    let trusted = members.filter { !ids.contains($0.id) }
    return try KeyRing(ids.contains(sealing.id) ? [Member(key, added: seconds)] + trusted : trusted)
  }
}

extension KeyRing: TicketKeys {
  public var ring: KeyRing { self }
}

extension TicketKey: TicketKeys {
  /// Of this key alone.
  public var ring: KeyRing { KeyRing(self) }
}

extension KeyRing: CustomStringConvertible {
  /// Never a secret.
  public var description: String { "KeyRing(\(members.map(\.id).joined(separator: ", ")))" }
}
