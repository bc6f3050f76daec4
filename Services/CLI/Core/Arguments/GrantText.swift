public import CaravanModel

/// What a role may do with records of a type, as people write it: `authenticated=create+read`, `world=nothing`,
/// `moderators=read+write`.
public enum GrantText {
  /// - Throws: `invalidData` with what there is.
  public static func parse(_ text: String) throws(CaravanError) -> (role: TypeGrants.Role, rights: TypeGrants.Rights) {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw notUnderstood(text) }
    let role = TypeGrants.Role(parts[0])
    if case .own(let name) = role { try OwnRole.check(name) }
    guard parts[1] != TypeGrants.Rights().description else { return (role, []) }
    var rights: TypeGrants.Rights = []
    for word in parts[1].split(separator: "+", omittingEmptySubsequences: false) {
      guard let right = TypeGrants.Rights.words.first(where: { $0.word == word })?.right else {
        throw notUnderstood(text)
      }
      rights.insert(right)
    }
    assert(!rights.isEmpty, "'\(text)' grants nothing and does not say so")
    return (role, rights)
  }

  /// What is not as usual: `world=nothing creator=read`; empty where everything is.
  public static func text(_ grants: TypeGrants) -> String {
    grants.roles.filter { grants[$0] != TypeGrants.standard[$0] }.map { "\($0)=\(grants[$0])" }
      .joined(separator: " ")
  }

  private static func notUnderstood(_ text: String) -> CaravanError {
    let roles = TypeGrants.Role.standard.map { "\($0)" }.joined(separator: ", ")
    return CaravanError(
      .invalidData,
      "'\(text.prefix(80))' is no grant: write ROLE=RIGHT+RIGHT, authenticated=create+read or world=nothing for "
        + "instance; roles are \(roles) and your own, rights "
        + TypeGrants.Rights.words.map(\.word).joined(separator: ", "))
  }
}
