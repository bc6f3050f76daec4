import CaravanAccess
import CaravanModel
import Testing

/// Goal: what a principal may reach and do, by table. Method: the decisions alone.
@Suite struct AccessTests {
  private static let ann = EnrolledDevice(
    user: UserID(unchecked: "ann"), device: DeviceID(unchecked: "phone"), enrolment: 1,
    environment: .development)
  private static let access = Access(Principal(ann))
  private static let anonymous = Access(Principal(anonymousIn: .production))

  private static func code(_ body: () throws(CaravanError) -> Void) -> ErrorCode? {
    do throws(CaravanError) { try body() } catch { return error.code }
    return nil
  }

  @Test("CK-04, CK-65: a private database is its user's; Caravan's own container is nobody's")
  func databases() throws {
    let album = ContainerID(unchecked: "album")
    #expect(
      try Self.access.database("album")
        == DatabaseID(container: album, environment: .development, owner: UserID(unchecked: "ann")))
    #expect(
      try Self.access.database("album", isPublic: true)
        == DatabaseID(container: album, environment: .development, owner: nil))
    #expect(
      try Self.anonymous.database("album", isPublic: true)
        == DatabaseID(container: album, environment: .production, owner: nil))
    #expect(Self.code { () throws(CaravanError) in _ = try Self.anonymous.database("album") } == .zoneDoesNotExist)
    for isPublic in [false, true] {
      #expect(
        Self.code { () throws(CaravanError) in _ = try Self.access.database("caravan", isPublic: isPublic) }
          == .zoneDoesNotExist)
      #expect(
        Self.code { () throws(CaravanError) in _ = try Self.access.database("No Such", isPublic: isPublic) }
          == .invalidData)
    }
  }

  @Test("MOB-56: a server app speaks of one container; of any other it hears the same, whatever there is")
  func serverApps() throws {
    let app = try ServerApp("billing")
    let shop = try ContainerID("shop")
    let principal = Principal(app.device(in: shop, enrolment: 2, .production))
    let access = Access(principal)
    #expect(principal.isServerApp && principal.container == shop && principal.user == app.user)
    #expect(!Self.access.principal.isServerApp && !Self.anonymous.principal.isServerApp)
    #expect(
      try access.database("shop", isPublic: true)
        == DatabaseID(container: shop, environment: .production, owner: nil))
    #expect(
      try access.database("shop") == DatabaseID(container: shop, environment: .production, owner: app.user))
    for (container, code) in [
      ("album", ErrorCode.zoneDoesNotExist), ("caravan", .zoneDoesNotExist), ("A", .invalidData),
    ] {
      #expect(Self.code { () throws(CaravanError) in _ = try access.container(container) } == code)
      for isPublic in [false, true] {
        #expect(
          Self.code { () throws(CaravanError) in _ = try access.database(container, isPublic: isPublic) } == code)
      }
    }
  }

  @Test("MOB-56, CK-04: a server app may what users may, and what a type grants to server apps")
  func serverRights() throws {
    let app = Access(Principal(try ServerApp("billing").device(in: ContainerID("shop"), enrolment: 1, .development)))
    var grants = TypeGrants.standard
    try grants.grant([], to: .world)
    let standard = RecordVisibility(granted: [GrantedType(name: "t", versions: [3], grants: grants)])
    #expect(app.rights(standard) == [TypeRights(types: [3], own: [.create, .read, .write], others: .create)])
    #expect(!app.mayRead(type: 3, isTheirs: false, standard) && app.mayRead(type: 3, isTheirs: true, standard))
    try grants.grant([.read, .write], to: .server)
    let granted = RecordVisibility(granted: [GrantedType(name: "t", versions: [3], grants: grants)])
    #expect(app.mayRead(type: 3, isTheirs: false, granted) && !Self.access.mayRead(type: 3, isTheirs: false, granted))
    let all: TypeGrants.Rights = [.create, .read, .write]
    #expect(app.rights(granted) == [TypeRights(types: [3], own: all, others: all)])
    #expect(Self.access.rights(granted) == [TypeRights(types: [3], own: all, others: .create)])
    #expect(throws: CaravanError.self) { try grants.grant(.write, to: .server) }
    var silent = TypeGrants.standard
    try silent.grant([], to: .server)
    #expect(silent == .standard, "types from before there were server apps are no types with grants of their own")
  }

  @Test("CK-09, CK-65: of a public database there is the default zone; Caravan's own zones are not there")
  func zones() throws {
    let (own, shared) = (try Self.access.database("album"), try Self.access.database("album", isPublic: true))
    #expect(try Self.access.zone("photos", in: own).name == "photos")
    #expect(try Self.access.zone(DefaultZone.name, in: shared).database == shared)
    for (zone, database) in [("photos", shared), (BuriedZones.name, own), ("schema", shared)] {
      #expect(
        Self.code { () throws(CaravanError) in _ = try Self.access.zone(zone, in: database) } == .zoneDoesNotExist)
    }
  }

  @Test("CK-04: what a role may do is what its own grant and that of the wider ones say")
  func rights() throws {
    typealias Rights = TypeGrants.Rights
    let standard = TypeGrants.standard
    #expect(standard.rights(isUser: false, isCreator: false) == .read)
    #expect(standard.rights(isUser: true, isCreator: false) == [.create, .read])
    #expect(standard.rights(isUser: true, isCreator: true) == [.create, .read, .write])
    var secret = standard
    try secret.grant([], to: .world)
    #expect(secret.rights(isUser: true, isCreator: false) == .create)
    #expect(secret.rights(isUser: true, isCreator: true) == [.create, .read, .write])
    var wiki = standard
    try wiki.grant([.create, .read, .write], to: .authenticated)
    #expect(wiki.rights(isUser: true, isCreator: false) == [.create, .read, .write])
    #expect(wiki.rights(isUser: false, isCreator: false) == .read)
  }

  @Test("CK-04: a role of the container's own gives its rights to whoever has it, and to nobody else")
  func ownRoles() throws {
    var grants = TypeGrants.standard
    try grants.grant([], to: .world)
    try grants.grant([.read, .write], to: .own("moderators"))
    try grants.grant(.read, to: .own("auditors"))
    #expect(grants.ownRoles == ["auditors", "moderators"] && grants != .standard)
    let visibility = RecordVisibility(granted: [GrantedType(name: "t", versions: [3], grants: grants)])
    #expect(visibility.ownRoles == ["auditors", "moderators"])
    let access = Self.access
    #expect(!access.mayRead(type: 3, isTheirs: false, visibility))
    #expect(!access.mayRead(type: 3, isTheirs: false, visibility, roles: ["editors"]))
    #expect(access.mayRead(type: 3, isTheirs: false, visibility, roles: ["auditors"]))
    let all: TypeGrants.Rights = [.create, .read, .write]
    func others(_ roles: Set<String>) -> TypeGrants.Rights? { access.rights(visibility, roles: roles).first?.others }
    #expect(others([]) == .create && others(["auditors"]) == [.create, .read])
    #expect(others(["moderators"]) == all && others(["auditors", "moderators"]) == all)
    for role in grants.ownRoles { try grants.grant([], to: .own(role)) }
    #expect(grants.ownRoles.isEmpty, "a role to which nothing is granted is none")
  }

  @Test("CK-04: names of roles, and how many there are, have their bounds")
  func roleNames() throws {
    for name in ["a", "Moderators", "a-b_9", String(repeating: "a", count: Limits.roleNameBytes)] {
      try OwnRole.check(name)
      #expect(TypeGrants.Role(name) == .own(name) && "\(TypeGrants.Role(name))" == name)
    }
    for name in [
      "", "_a", "1a", "a b", "ä", "a/b", "a.b", "world", "Creator", "server", String(repeating: "a", count: 65),
    ] {
      #expect(Self.code { () throws(CaravanError) in try OwnRole.check(name) } == .invalidData)
    }
    for role in TypeGrants.Role.standard { #expect(TypeGrants.Role("\(role)") == role) }
    var grants = TypeGrants.standard
    for number in 0..<Limits.ownRoles { try grants.grant(.read, to: .own("r\(number)")) }
    #expect(Self.code { () throws(CaravanError) in try grants.grant(.read, to: .own("more")) } == .limitExceeded)
    let member = RoleMember(role: "moderators", user: try UserID("ann"))
    #expect(OwnRole.member(OwnRole.record(member.role, of: member.user)) == member)
    #expect(OwnRole.member("count") == nil && OwnRole.member("moderators/A B") == nil)
  }

  @Test("CK-04: a grant that makes no sense of its role is refused, and changes nothing")
  func refused() {
    var grants = TypeGrants.standard
    let senseless: [(TypeGrants.Role, TypeGrants.Rights)] = [
      (.world, .create), (.world, [.read, .write]), (.creator, [.create]), (.authenticated, .write), (.creator, .write),
    ]
    for (role, rights) in senseless {
      #expect(Self.code { () throws(CaravanError) in try grants.grant(rights, to: role) } == .invalidData)
    }
    #expect(grants == .standard)
  }

  @Test("CK-04: who sees a record, and what a commit may do, follows from the type's grants, and else from the usual")
  func records() throws {
    var grants = TypeGrants.standard
    try grants.grant([], to: .world)
    let granted = RecordVisibility(granted: [GrantedType(name: "Diary", versions: [3, 7], grants: grants)])
    for type: UInt32 in [3, 7] {
      #expect(Self.access.mayRead(type: type, isTheirs: true, granted))
      #expect(!Self.access.mayRead(type: type, isTheirs: false, granted))
      #expect(!Self.anonymous.mayRead(type: type, isTheirs: false, granted))
    }
    #expect(Self.access.mayRead(type: 4, isTheirs: false, granted))
    #expect(
      Self.access.rights(granted) == [TypeRights(types: [3, 7], own: [.create, .read, .write], others: .create)])
    #expect(Self.anonymous.rights(granted) == [TypeRights(types: [3, 7], own: [], others: [])])
  }
}
