import CaravanModel
import CaravanSchemaCore
import Testing

/// Who may use a container, and who says how its records behave, as tables over what is registered.
@Suite struct ContainerRulesTests {
  private let album = ContainerID(unchecked: "album")
  private let ann = UserID(unchecked: "ann")
  private let bob = UserID(unchecked: "bob")

  private func code(_ body: () throws -> Void) -> ErrorCode? {
    do { try body() } catch { return (error as? CaravanError)?.code }
    return nil
  }

  private func admit(
    _ asker: Asker, _ container: RegisteredContainer?, in environment: Environment = .development,
    hasTypes: Bool = false, isOpen: Bool = false
  ) throws -> Containers.Admission {
    try Containers.admit(
      asker, to: album, in: environment,
      Containers.Facts(registration: container, hasTypes: hasTypes, isOpen: isOpen))
  }

  @Test("TRU-04: a container that is not registered is there for nobody, unless the suite is open; in development")
  func unregistered() throws {
    for asker in [.operator, .user(ann), .unknown] as [Asker] {
      #expect(code { _ = try admit(asker, nil) } == .zoneDoesNotExist)
      #expect(try admit(asker, nil, isOpen: true) == .free)
      #expect(code { _ = try admit(asker, nil, in: .production, isOpen: true) } == .zoneDoesNotExist)
    }
  }

  @Test("TRU-04: a registration that is missing while there are types is unavailable, also in an open suite")
  func lostRegistration() {
    for isOpen in [false, true] {
      for environment in Environment.allCases {
        let answer = code { _ = try admit(.user(ann), nil, in: environment, hasTypes: true, isOpen: isOpen) }
        #expect(answer == .unavailable)
      }
    }
  }

  @Test("TRU-04: a container for members is absent to others, in the words of one that is not there")
  func members() throws {
    var container = RegisteredContainer(id: album, name: "Album", owner: ann, developers: [], isForMembers: true)
    func message(_ asker: Asker, _ container: RegisteredContainer?) -> String? {
      do { _ = try admit(asker, container) } catch { return (error as? CaravanError)?.message }
      return nil
    }
    #expect(try admit(.user(ann), container) == .known(container))
    #expect(try admit(.operator, container) == .known(container))
    #expect(message(.user(bob), container) != nil)
    #expect(message(.user(bob), container) == message(.user(bob), nil))
    #expect(message(.unknown, container) == message(.unknown, nil))
    container = try Containers.allow(bob, in: container)
    #expect(try admit(.user(bob), container) == .known(container))
    container.isForMembers = false
    #expect(try admit(.unknown, container) == .known(container))
  }

  @Test("TRU-04: to a container for members users are invited, who use it and develop nothing, and uninvited")
  func guests() throws {
    let open = RegisteredContainer(id: album, name: "album", owner: ann)
    #expect(code { _ = try Containers.invite(bob, to: open) } == .invalidData)
    var container = RegisteredContainer(id: album, name: "album", owner: ann, isForMembers: true)
    #expect(code { _ = try Containers.uninvite(bob, from: container) } == .noSuchObject)
    container = try Containers.invite(bob, to: container)
    #expect(try Containers.invite(bob, to: container) == container)
    for environment in Environment.allCases {
      #expect(try admit(.user(bob), container, in: environment) == .known(container))
    }
    #expect(Containers.standing(of: .user(bob), in: container) == .user)
    #expect(code { _ = try admit(.user(UserID("cid")), container) } == .zoneDoesNotExist)
    container = try Containers.uninvite(bob, from: container)
    #expect(code { _ = try admit(.user(bob), container) } == .zoneDoesNotExist)
    for number in 0..<SchemaLimits.invitedPerContainer {
      container = try Containers.invite(UserID("u\(number)"), to: container)
    }
    #expect(code { _ = try Containers.invite(bob, to: container) } == .limitExceeded)
  }

  @Test("TRU-04: whose first use opens a container develops it, in development, until its owner is confirmed")
  func firstUse() throws {
    let container = Containers.firstUse(of: album, by: .user(ann))
    #expect(container.owner == ann && container.environments == [.development] && Containers.isUnconfirmed(container))
    #expect(Containers.standing(of: .user(ann), in: container) == .developer)
    #expect(Containers.standing(of: .user(bob), in: container) == .user)
    #expect(Containers.standing(of: .unknown, in: container) == .user, "a release that says nothing of users")
    #expect(code { _ = try admit(.operator, container, in: .production) } == .zoneDoesNotExist)
    let confirmed = Containers.confirmed(container, owner: bob, isForMembers: false)
    #expect(try admit(.operator, confirmed, in: .production) == .known(confirmed))
    #expect(confirmed.isDeveloper(ann) && confirmed.isDeveloper(bob) && !Containers.isUnconfirmed(confirmed))
    #expect(!Containers.found(album).isDeveloper(ann) && Containers.found(album).mayUse(ann))
  }

  @Test(
    "TRU-04: names are of a few characters, and ids are tokens",
    arguments: [
      ("album", true), ("com.Example_Album-2", true), (String(repeating: "x", count: 255), true), ("", false),
      (".", false), ("..", false), ("caravan", false), ("Caravan", false), ("a b", false), ("ä", false),
      ("a/b", false), ("@id", false), (String(repeating: "x", count: 256), false),
    ])
  func names(_ name: String, isAllowed: Bool) {
    #expect(code { try Containers.check(name: name) } == (isAllowed ? nil : .invalidData))
    guard isAllowed else { return }
    let id = Containers.id(for: name) { $0 - 1 }
    #expect((try? ContainerID(id.text)) == id, "\(id)")
    #expect(name != "album" || id == album)
    #expect(Containers.id(for: "ALBUM") { _ in 0 } == album, "names differ in more than case")
  }

  @Test("an id that is no name is as long as chance needs it to be, and as chance has it")
  func randomIDs() {
    var drawn: UInt64 = 0
    let id = Containers.id(for: "An app, of ours") { bound in
      drawn += 1
      return drawn % bound
    }
    #expect(drawn == UInt64(SchemaLimits.randomIDLetters))
    #expect(id.text.count == "c-".count + SchemaLimits.randomIDLetters && id.text.hasPrefix("c-bcd"), "\(id)")
  }

  @Test("TRU-04: developers, containers of a user and of the suite are bounded, each with its error")
  func bounds() throws {
    var container = RegisteredContainer(id: album, name: "album", owner: ann)
    for number in 0..<SchemaLimits.developersPerContainer {
      container = try Containers.allow(UserID("u\(number)"), in: container)
    }
    #expect(try Containers.allow(UserID("u3"), in: container) == container)
    #expect(code { _ = try Containers.allow(bob, in: container) } == .limitExceeded)
    #expect(code { _ = try Containers.remove(bob, from: container) } == .noSuchObject)
    #expect(code { _ = try Containers.remove(ann, from: container) } == .invalidData)
    #expect(try !Containers.remove(UserID("u3"), from: container).isDeveloper(UserID("u3")))
    let (all, owned) = (SchemaLimits.containersPerSuite, SchemaLimits.containersPerUser)
    #expect(code { try Containers.checkRoom(all: all - 1, owned: owned - 1) } == nil)
    #expect(code { try Containers.checkRoom(all: all, owned: nil) } == .limitExceeded)
    #expect(code { try Containers.checkRoom(all: 0, owned: owned) } == .limitExceeded)
  }

  @Test("TRU-03: users who develop nothing leave developers room for types, and for versions of one")
  func typeShares() throws {
    let proposal = RecordType(id: 0, definition: 0, name: "new", fields: Self.fields)
    func refusal(_ count: UInt32, _ versions: [RecordType] = [], by standing: Standing) -> ErrorCode? {
      code {
        _ = try Registry.decide(
          proposal, history: NameHistory(versions), numbers: TypeNumbers(after: count), in: .development, by: standing)
      }
    }
    let half = SchemaLimits.typesPerContainer / 2
    #expect(refusal(half - 1, by: .user) == nil)
    #expect(refusal(half, by: .user) == .limitExceeded)
    #expect(refusal(half, by: .developer) == nil)
    #expect(refusal(half * 2, by: .developer) == .limitExceeded)
    let other = FieldDefinition(id: 2, name: "other", kind: .text)
    let versions = (1...UInt32(SchemaLimits.versionsPerType / 2)).map {
      RecordType(id: $0, definition: 1, name: "new", fields: [other])
    }
    #expect(refusal(90, versions, by: .user) == .limitExceeded)
    #expect(refusal(90, versions, by: .developer) == .schemaNotAdditive)
  }

  // MARK: What is said of types

  private static let fields = [FieldDefinition(id: 1, name: "name", kind: .text)]

  private func decide(
    _ settings: TypeSettings?, after latest: TypeSettings?, more: Bool = false, by standing: Standing,
    in environment: Environment = .development, isNew: Bool = false, isDeclared: Bool = false
  ) throws -> RegistryDecision {
    let known = RecordType(id: 1, definition: 1, name: "photos", fields: Self.fields, settings: latest)
    let fields = Self.fields + (more ? [FieldDefinition(id: 2, name: "note", kind: .text)] : [])
    let proposal = RecordType(id: 0, definition: 0, name: "photos", fields: fields, settings: settings)
    return try Registry.decide(
      proposal, isDeclared: isDeclared, history: NameHistory(isNew ? [] : [known]), numbers: TypeNumbers(after: 1),
      in: environment,
      by: standing)
  }

  @Test("TRU-04: how records behave is said by developers and the operator; fields are added by everybody")
  func settings() throws {
    let (short, none) = (TypeSettings(ttlMilliseconds: 1), TypeSettings())
    for standing in [.operator, .developer] as [Standing] {
      #expect(code { _ = try decide(short, after: nil, by: standing) } == nil)
      #expect(code { _ = try decide(none, after: short, by: standing) } == nil)
      #expect(code { _ = try decide(short, after: nil, by: standing, isNew: true) } == nil)
    }
    for more in [false, true] {
      #expect(code { _ = try decide(short, after: nil, more: more, by: .user) } == .accessDenied)
      #expect(code { _ = try decide(none, after: short, more: more, by: .user) } == .accessDenied, "back is a change")
      #expect(code { _ = try decide(short, after: short, more: more, by: .user) } == nil, "it is so already")
      #expect(code { _ = try decide(nil, after: short, more: more, by: .user) } == nil, "nothing is said of it")
    }
    #expect(code { _ = try decide(short, after: nil, by: .user, isNew: true) } == .accessDenied)
    #expect(code { _ = try decide(none, after: nil, by: .user, isNew: true) } == nil)
    #expect(code { _ = try decide(nil, after: nil, by: .user, isNew: true) } == nil)
  }

  @Test(
    "TRU-04: in production no device changes a type, its developer's neither; the answer says who does and how")
  func production() throws {
    for standing in [.user, .developer] as [Standing] {
      for isNew in [false, true] {
        let error = #expect(throws: CaravanError.self) {
          try decide(nil, after: nil, more: true, by: standing, in: .production, isNew: isNew)
        }
        #expect(error?.message.contains("schema promote or set --environment production") == true)
      }
      #expect(code { _ = try decide(nil, after: nil, by: standing, in: .production) } == nil, "what is there is told")
    }
    #expect(code { _ = try decide(nil, after: nil, more: true, by: .operator, in: .production) } == nil)
  }

  @Test("TRU-04: what a developer says by hand counts in production as well; what a user says does not")
  func declared() throws {
    let short = TypeSettings(ttlMilliseconds: 1)
    func decided(by standing: Standing, _ settings: TypeSettings?, more: Bool, isNew: Bool) -> ErrorCode? {
      code {
        _ = try decide(
          settings, after: nil, more: more, by: standing, in: .production, isNew: isNew, isDeclared: true)
      }
    }
    for isNew in [false, true] {
      for settings in [nil, short] {
        #expect(decided(by: .developer, settings, more: true, isNew: isNew) == nil)
        #expect(decided(by: .user, settings, more: true, isNew: isNew) == .schemaViolation)
      }
    }
    #expect(decided(by: .developer, short, more: false, isNew: false) == nil)
    #expect(decided(by: .user, short, more: false, isNew: false) == .schemaViolation)
  }
}
