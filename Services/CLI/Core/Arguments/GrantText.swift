public import CaravanModel

/// What a role may do with records of a type, as people write it: `authenticated=create+read`, `world=nothing`.
public enum GrantText {
  /// - Throws: `invalidData` with what there is.
  public static func parse(_ text: String) throws(CaravanError) -> (role: TypeGrants.Role, rights: TypeGrants.Rights) {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, let role = TypeGrants.Role(rawValue: parts[0]) else { throw notUnderstood(text) }
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
    TypeGrants.Role.allCases.filter { grants[$0] != TypeGrants.standard[$0] }.map { "\($0.rawValue)=\(grants[$0])" }
      .joined(separator: " ")
  }

  private static func notUnderstood(_ text: String) -> CaravanError {
    let roles = TypeGrants.Role.allCases.map(\.rawValue).joined(separator: ", ")
    return CaravanError(
      .invalidData,
      "'\(text.prefix(80))' is no grant: write ROLE=RIGHT+RIGHT, authenticated=create+read or world=nothing for "
        + "instance; roles are \(roles), rights \(TypeGrants.Rights.words.map(\.word).joined(separator: ", "))")
  }
}
