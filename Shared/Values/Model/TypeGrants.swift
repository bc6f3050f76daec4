/// Who may do what with the records of one type in a public database (CK-04). In a private database everything is its
/// user's.
public struct TypeGrants: Sendable, Hashable {
  /// To whom something is granted.
  public enum Role: Sendable, Hashable {
    /// Whoever asks, signed in or not.
    case world
    /// Every user who may use the container.
    case authenticated
    /// The user who made the record, from any of their devices.
    case creator
    /// The container's server apps. They are users of it as well, and creators of what they make.
    case server
    /// Whom the container's developers have given a role of its own, by its name (`OwnRole`).
    case own(String)

    /// Those that every container has.
    public static let standard: [Role] = [.world, .authenticated, .creator, .server]
  }

  /// What may be done with records of the type.
  public struct Rights: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Make records under names that are free.
    public static let create = Rights(rawValue: 1)
    /// See records. What may not be seen is answered as what is not there.
    public static let read = Rights(rawValue: 2)
    /// Change and delete records.
    public static let write = Rights(rawValue: 4)
  }

  private var rights: [Role: Rights]

  private init(_ rights: [Role: Rights]) { self.rights = rights }

  /// Everybody reads, every user makes records, and who made one changes it. Each role stands in it, as in all grants:
  /// one to which nothing is granted is as one that nobody names.
  public static let standard = TypeGrants([
    .world: .read, .authenticated: .create, .creator: [.read, .write], .server: [],
  ])

  /// What a role may do by itself, whatever the others may.
  public subscript(role: Role) -> Rights { rights[role] ?? [] }

  /// Names of the container's own roles to which something is granted, in order.
  public var ownRoles: [String] {
    rights.keys.compactMap { if case .own(let name) = $0 { name } else { nil } }.sorted()
  }

  /// Every role that a container has, and its own to which something is granted.
  public var roles: [Role] { Self.roles(of: [self]) }

  /// Every role that a container has, and its own to which one of these grants something.
  public static func roles(of grants: [TypeGrants]) -> [Role] {
    Role.standard + Set(grants.flatMap(\.ownRoles)).sorted().map { .own($0) }
  }

  /// - Throws: `invalidData` for what makes no sense of the role: somebody who did not sign in only reads, a record has
  ///   a creator only once it is made, and what is written is seen; for a name that no role can have; `limitExceeded`
  ///   beyond `Limits.ownRoles`.
  public mutating func grant(_ granted: Rights, to role: Role) throws(CaravanError) {
    switch role {
    case .world where !granted.isSubset(of: .read):
      throw CaravanError(.invalidData, "the world may read or nothing: only users create and write")
    case .creator where granted.contains(.create):
      throw CaravanError(.invalidData, "a record has a creator once it is made: grant 'create' to authenticated")
    case _ where granted.contains(.write) && !granted.contains(.read):
      throw CaravanError(.invalidData, "who writes a record sees it: grant \(role) 'read' with 'write'")
    case .world, .authenticated, .creator, .server: rights[role] = granted
    case .own(let name):
      try OwnRole.check(name)
      rights[role] = granted.isEmpty ? nil : granted
      guard ownRoles.count <= Limits.ownRoles else {
        throw CaravanError(
          .limitExceeded, "something is granted to more than \(Limits.ownRoles) roles of the container's own")
      }
    }
  }

  /// What somebody may do with a record, or with a free name: what each of their roles may.
  /// - Parameters:
  ///   - isUser: they are signed in, and may use the container.
  ///   - isServerApp: they are one of the container's programs on servers.
  ///   - isCreator: the record is there, and they made it.
  ///   - roles: names of the container's own that they have.
  public func rights(
    isUser: Bool, isServerApp: Bool = false, isCreator: Bool, roles: Set<String> = []
  ) -> Rights {
    assert(isUser || !isCreator, "a record's creator is a user")
    assert(isUser || !isServerApp, "a server app makes records under a name of its own")
    assert(isUser || roles.isEmpty, "roles are users'")
    return self[.world].union(isUser ? self[.authenticated] : []).union(isCreator ? self[.creator] : [])
      .union(isServerApp ? self[.server] : []).union(roles.reduce([]) { $0.union(self[.own($1)]) })
  }
}

extension TypeGrants.Role: CustomStringConvertible {
  /// The word for it.
  public var description: String {
    switch self {
    case .world: "world"
    case .authenticated: "authenticated"
    case .creator: "creator"
    case .server: "server"
    case .own(let name): name
    }
  }

  /// - Parameter word: one of those above; any other is the name of a role of the container's own.
  public init(_ word: String) { self = Self.standard.first { "\($0)" == word } ?? .own(word) }
}

/// A type whose grants are not the standard ones.
public struct GrantedType: Sendable, Hashable {
  public var name: String
  /// Ids of its versions: records carry that with which they were written.
  public var versions: [UInt32]
  public var grants: TypeGrants

  public init(name: String, versions: [UInt32], grants: TypeGrants) {
    self.name = name
    self.versions = versions
    self.grants = grants
  }
}

/// What of a container's records is not everybody's to see, as its registry says it.
public struct RecordVisibility: Sendable, Hashable {
  /// Types whose grants are not the standard ones; they count in the public database.
  public let granted: [GrantedType]
  /// Types that were removed: nobody gets their records (CK-90).
  public let retired: [RetiredType]
  /// Names of the container's own roles to which types grant something.
  public let ownRoles: Set<String>
  private let retiredVersions: Set<UInt32>

  public init(granted: [GrantedType] = [], retired: [RetiredType] = []) {
    self.granted = granted
    self.retired = retired
    ownRoles = Set(granted.flatMap(\.grants.ownRoles))
    retiredVersions = Set(retired.flatMap(\.versions))
  }

  /// Every record is seen.
  public var isOpen: Bool { granted.isEmpty && retired.isEmpty }

  /// Whether a type has grants that are not the standard ones.
  public func hasGrants(of type: UInt32) -> Bool { granted.contains { $0.versions.contains(type) } }

  /// Whether a record's type was removed.
  public func isRetired(_ type: UInt32) -> Bool { retiredVersions.contains(type) }

  /// Ids of types that were removed and had one of these names, in whichever case: those that were removed last, at
  /// most `Limits.retiredVersions`.
  /// - Parameter names: nil: any.
  public func retired(named names: Set<String>?) -> [UInt32] {
    guard !retired.isEmpty else { return [] }
    let keys = names.map { Set($0.map { $0.lowercased() }) }
    let types = retired.filter { keys?.contains($0.name.lowercased()) ?? true }
    return Array(types.flatMap(\.versions).suffix(Limits.retiredVersions))
  }
}

/// Types of one name that were removed.
public struct RetiredType: Sendable, Hashable {
  public var name: String
  /// Ids, oldest first.
  public var versions: [UInt32]

  public init(name: String, versions: [UInt32]) {
    self.name = name
    self.versions = versions
  }
}

extension TypeGrants.Rights: CustomStringConvertible {
  /// The words for rights, in the order in which they are said.
  public static let words: [(word: String, right: TypeGrants.Rights)] = [
    ("create", .create), ("read", .read), ("write", .write),
  ]

  /// `read+write`, or `nothing`.
  public var description: String {
    let words = Self.words.filter { contains($0.right) }.map(\.word)
    return words.isEmpty ? "nothing" : words.joined(separator: "+")
  }
}
