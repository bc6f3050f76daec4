/// A role of a container's own, in whose name types grant rights in the public database (CK-04), and which its
/// developers give to users. There is one wherever a type's grants name it.
public enum OwnRole {
  /// A letter, then letters, digits, `_` and `-`, at most `Limits.roleNameBytes`.
  /// - Throws: `invalidData` for any other name, and for that of a role that every container has.
  public static func check(_ name: String) throws(CaravanError) {
    let utf8 = name.utf8
    let isWord = utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5f || $0 == 0x2d }
    guard (1...Limits.roleNameBytes).contains(utf8.count), isWord, let first = utf8.first, isLetter(first) else {
      throw CaravanError(
        .invalidData,
        "a role '\(name.prefix(80))' cannot be: a letter, then letters, digits, _ or -, at most "
          + "\(Limits.roleNameBytes)")
    }
    if let standard = TypeGrants.Role.standard.first(where: { "\($0)" == name.lowercased() }) {
      throw CaravanError(
        .invalidData,
        "'\(standard)' is a role that every container has (case does not count): call yours something else")
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }

  // MARK: Who has it

  /// The zone with a record for each user who has a role: of the public database and of each of its shards, so that the
  /// store that takes a commit can see in the same transaction whether its user still has the role.
  public static let zone = "roles"

  /// The record that is there while the user has the role.
  public static func record(_ role: String, of user: UserID) -> String { "\(role)/\(user.text)" }

  /// nil: it is no record of one who has a role.
  public static func member(_ record: String) -> RoleMember? {
    let parts = record.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let user = try? UserID(String(parts[1])) else { return nil }
    return RoleMember(role: String(parts[0]), user: user)
  }
}

/// A user who has a role of the container's own.
public struct RoleMember: Sendable, Hashable {
  public var role: String
  public var user: UserID

  public init(role: String, user: UserID) {
    self.role = role
    self.user = user
  }
}
