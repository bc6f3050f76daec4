import CaravanCLICore
import CaravanModel
import Testing

/// Goal: grants are read as people write them, and nothing else is taken for one.
@Suite struct GrantTextTests {
  @Test(
    "CK-04: a role and its rights",
    arguments: [
      ("world=nothing", .world, []), ("world=read", .world, .read),
      ("authenticated=create+read", .authenticated, [.create, .read]),
      ("server=create+read+write", .server, [.create, .read, .write]),
      ("creator=read+write", .creator, [.read, .write]), ("moderators=read", .own("moderators"), .read),
    ] as [(String, TypeGrants.Role, TypeGrants.Rights)])
  func understood(text: String, role: TypeGrants.Role, rights: TypeGrants.Rights) throws {
    let grant = try GrantText.parse(text)
    #expect(grant == (role, rights))
    #expect("\(role)=\(grant.rights)" == text)
  }

  @Test(
    "What is no grant is refused",
    arguments: [
      "", "world", "world=", "world=all", "no body=read", "_icloud=read", "World=read", "world=read,write",
      "world=+read", "=read",
      "world=Read",
    ])
  func refused(text: String) { #expect(throws: CaravanError.self) { try GrantText.parse(text) } }

  @Test("What is not as usual, in words")
  func unusual() throws {
    var grants = TypeGrants.standard
    #expect(GrantText.text(grants).isEmpty)
    try grants.grant([], to: .world)
    try grants.grant(.read, to: .creator)
    try grants.grant([.read, .write], to: .own("moderators"))
    #expect(GrantText.text(grants) == "world=nothing creator=read moderators=read+write")
  }
}
