import CaravanModel
import CaravanSchemaCore
import CaravanTestKit
import Testing

/// The registry's decisions, as a table over what is registered.
@Suite struct RegistryTests {
  private func type(
    _ fields: [(String, FieldKind)], name: String = "album", id: UInt32 = 0, definition: UInt32 = 0
  ) -> RecordType {
    RecordType(
      id: id, definition: definition, name: name,
      fields: zip(1..., fields).map { FieldDefinition(id: $0, name: $1.0, kind: $1.1) })
  }

  private let first: [(String, FieldKind)] = [("name", .text), ("date", .integer)]

  private func decide(
    _ proposal: RecordType, _ versions: [RecordType], next: UInt32 = 9, in environment: Environment = .development,
    by standing: Standing = .developer
  ) throws(CaravanError) -> RegistryDecision {
    try Registry.decide(
      proposal, history: NameHistory(versions), numbers: TypeNumbers(after: next - 1), in: environment, by: standing)
  }

  @Test("CK-90, CK-91: a first proposal gets the next type id and field ids from 1, whatever ids it came with")
  func firstProposal() throws {
    var proposal = type(first)
    proposal.fields[0].id = 77
    #expect(try decide(proposal, []) == .add(type(first, id: 9, definition: 9)))
  }

  @Test("UNI-14: the same fields, in any order, are the same type")
  func idempotent() throws {
    let known = type(first, id: 3, definition: 3)
    #expect(try decide(type(first.reversed()), [known]) == .existing(known))
  }

  @Test("CK-90: more fields make a new id under the same definition, with higher field ids")
  func additive() throws {
    let known = type(first, id: 3, definition: 3)
    let wanted = type([("photo", .object)] + first)
    let expected = type(first + [("photo", .object)], id: 9, definition: 3)
    #expect(try decide(wanted, [known]) == .add(expected))
  }

  @Test("CK-91: field ids go on from the highest, not from the count")
  func fieldIDsAreNotReused() throws {
    var known = type(first, id: 3, definition: 3)
    known.fields[1].id = 40
    guard case .add(let added) = try decide(type(first + [("photo", .object)]), [known]) else {
      Issue.record("a field more must make a new version")
      return
    }
    #expect(added.fields.map(\.id) == [1, 40, 41])
  }

  @Test("UNI-18: a registry that was restored gives no number again that it may have given since the backup")
  func restored() throws {
    func decide(_ proposal: RecordType, _ versions: [RecordType], _ random: @escaping (UInt64) -> UInt64) throws
      -> RecordType?
    {
      let numbers = TypeNumbers(afterRestore: 3, random: random)
      guard
        case .add(let type) = try Registry.decide(
          proposal, history: NameHistory(versions), numbers: numbers, in: .development, by: .developer)
      else { return nil }
      return type
    }
    let known = type(first, id: 3, definition: 3)
    for random in [{ _ in 0 }, { $0 - 1 }] as [(UInt64) -> UInt64] {
      let new = try #require(try decide(type(first), [], random))
      #expect(new.id > SchemaLimits.typesPerContainer && new.definition == new.id && new.id <= Int32.max)
      #expect(new.fields.allSatisfy { $0.id > UInt32(Limits.fieldsPerType) })
      let more = try #require(try decide(type(first + [("photo", .object)]), [known], random))
      #expect(more.definition == 3 && more.fields.prefix(2).map(\.id) == [1, 2])
      #expect(more.fields[2].id > UInt32(Limits.fieldsPerType))
    }
  }

  @Test("An app that was not updated finds its own older version")
  func olderVersion() throws {
    let old = type(first, id: 3, definition: 3)
    let new = type(first + [("photo", .object)], id: 5, definition: 3)
    #expect(try decide(type(first), [old, new]) == .existing(old))
  }

  @Test("CK-26, TRU-15: who extends an older version gets what others have added as well, and adds once")
  func branch() throws {
    let old = type(first, id: 3, definition: 3)
    let theirs = type(first + [("photo", .object)], id: 5, definition: 3)
    let mine = type(first + [("note", .text)])
    guard
      case .add(let both) = try Registry.decide(
        mine, history: NameHistory([old, theirs]), numbers: TypeNumbers(after: 5), in: .development, by: .developer)
    else { throw CaravanError(.internalError, "nothing was added") }
    #expect(both.fields.map(\.name) == first.map(\.0) + ["photo", "note"] && both.definition == 3)
    #expect(both.fields.prefix(first.count + 1) == theirs.fields[...])
    let again = try Registry.decide(
      mine, history: NameHistory([old, theirs, both]), numbers: TypeNumbers(after: 6), in: .production, by: .user)
    #expect(again == .existing(both))
    let changed = type(first + [("photo", .text), ("note", .text)])
    #expect(throws: CaravanError.self) {
      try Registry.decide(
        changed, history: NameHistory([old, theirs]), numbers: TypeNumbers(after: 5), in: .development, by: .developer)
    }
  }

  @Test("A change of kind is refused with the field, its old and its new kind")
  func changedKind() throws {
    let known = type(first, id: 3, definition: 3)
    let error = try #require(throws: CaravanError.self) {
      try decide(type([("name", .text), ("date", .real)]), [known])
    }
    #expect(error.code == .schemaNotAdditive)
    for word in ["'date'", "integer", "real"] { #expect(error.message.contains(word), "\(error.message)") }
  }

  @Test("A field that would vanish is refused by name")
  func removedField() throws {
    let known = type(first, id: 3, definition: 3)
    let error = try #require(throws: CaravanError.self) {
      try decide(type([("name", .text), ("place", .text)]), [known])
    }
    #expect(error.code == .schemaNotAdditive && error.message.contains("'date'"), "\(error.message)")
  }

  @Test("CK-93: production refuses what it does not have, and finds what it has")
  func production() throws {
    let known = type(first, id: 3, definition: 3)
    #expect(try decide(type(first), [known], in: .production) == .existing(known))
    for versions in [[], [known]] {
      let error = try #require(throws: CaravanError.self) {
        try decide(type(first + [("photo", .object)]), versions, in: .production, by: .user)
      }
      #expect(error.code == .schemaViolation && error.message.contains("production"), "\(error.message)")
    }
  }

  @Test("UNI-02, CK-30: settings are registered with the fields; other settings make a new version")
  func settings() throws {
    var proposal = type(first)
    proposal.settings = TypeSettings(conflicts: .fieldMerge, ttlMilliseconds: 60_000)
    var known = type(first, id: 9, definition: 9)
    known.settings = proposal.settings
    #expect(try decide(proposal, []) == .add(known))
    #expect(try decide(proposal, [known]) == .existing(known))
    #expect(try decide(type(first), [known]) == .existing(known), "who wants nothing takes what there is")
    proposal.settings = TypeSettings()
    let plain = type(first, id: 3, definition: 3)
    #expect(try decide(proposal, [plain]) == .existing(plain), "no settings are the usual ones")
    var changed = type(first, id: 10, definition: 9)
    changed.settings = TypeSettings()
    #expect(try decide(proposal, [known], next: 10) == .add(changed))
    var more = type(first + [("photo", .object)], id: 10, definition: 9)
    more.settings = known.settings
    #expect(try decide(type(first + [("photo", .object)]), [known], next: 10) == .add(more), "settings stay")
  }

  @Test("TRU-19: settings that a device remembers change nothing; those that nobody registered are told")
  func rememberedSettings() throws {
    func behaving(_ id: UInt32, _ ttl: UInt64, _ fields: [(String, FieldKind)]) -> RecordType {
      var type = type(fields, id: id, definition: id > 0 ? 3 : 0)
      type.settings = TypeSettings(ttlMilliseconds: ttl)
      return type
    }
    func remember(_ proposal: RecordType, _ versions: [RecordType]) throws -> RegistryDecision {
      try Registry.decide(
        proposal, isRemembered: true, history: NameHistory(versions), numbers: TypeNumbers(after: 8), in: .development,
        by: .developer)
    }
    let versions = [behaving(3, 0, first), behaving(4, 60_000, first)]
    #expect(try remember(behaving(0, 9, first), versions) == .existing(versions[1]), "somebody may have said others")
    let more = first + [("photo", .object)]
    guard case .add(let added) = try remember(behaving(0, 0, more), versions) else {
      Issue.record("a column more makes a new version")
      return
    }
    #expect(added.settings == versions[1].settings)
    guard case .add(let new) = try remember(behaving(0, 9, first), []) else {
      Issue.record("a type that the registry lost is made again")
      return
    }
    #expect(new.settings?.ttlMilliseconds == 9)
    let changes = Registry.unknownSettings(of: behaving(0, 9, first), among: versions)
    #expect(changes == [SettingChange("ttl", was: "9ms", now: "60000ms")])
    #expect(Registry.unknownSettings(of: behaving(0, 0, first), among: versions).isEmpty, "it has not heard yet")
    #expect(Registry.unknownSettings(of: behaving(0, 9, first), among: []).isEmpty)
  }

  @Test("CK-07, CK-11: lists and encryption are part of a field's kind, and do not change")
  func shapes() throws {
    var proposal = type([("tags", .text), ("secret", .date)])
    proposal.fields[0].isList = true
    proposal.fields[1].isEncrypted = true
    guard case .add(let known) = try decide(proposal, []) else { throw Missing("type to be added") }
    #expect(known.fields.map(\.shape) == ["list of text", "encrypted date"])
    #expect(try decide(proposal, [known]) == .existing(known))
    let error = try #require(throws: CaravanError.self) {
      try decide(type([("tags", .text), ("secret", .date)]), [known])
    }
    #expect(error.code == .schemaNotAdditive && error.message.contains("list of text"), "\(error)")
    var object = type([("photo", .object)])
    object.fields[0].isEncrypted = true
    #expect(throws: CaravanError.self) { try decide(object, []) }
  }

  @Test(
    "Settings that cannot be are refused",
    arguments: [
      TypeSettings(conflicts: .serverExtension, fallback: .serverExtension),
      TypeSettings(extensionMilliseconds: SchemaLimits.extensionMilliseconds + 1),
      TypeSettings(ttlMilliseconds: SchemaLimits.ttlMilliseconds + 1),
      TypeSettings(chunkBytes: 5_000), TypeSettings(chunkBytes: 2_048), TypeSettings(chunkBytes: 262_144),
    ])
  func badSettings(_ settings: TypeSettings) throws {
    var proposal = type(first)
    proposal.settings = settings
    let error = try #require(throws: CaravanError.self) { try decide(proposal, []) }
    #expect(error.code == .schemaViolation && error.message.contains("'album'"), "\(error)")
  }

  @Test(
    "Names are a letter, then letters, digits and _",
    arguments: ["", "1st", "_x", "a b", "a-b", "a.b", "ä", "x;drop", String(repeating: "x", count: 65)])
  func badNames(_ name: String) {
    #expect(throws: CaravanError.self) { try decide(type(first, name: name), []) }
    #expect(throws: CaravanError.self) { try decide(type([(name, .text)]), []) }
  }

  @Test(
    "Names may be as long as allowed, and one letter is enough",
    arguments: ["x", "A_1", String(repeating: "x", count: 64)])
  func goodNames(_ name: String) throws {
    #expect(
      try decide(type([(name, .text)], name: name), []) == .add(type([(name, .text)], name: name, id: 9, definition: 9))
    )
  }

  @Test("Names that differ only in case are one column, or one table, on a device: refused")
  func caseOnly() {
    #expect(throws: CaravanError.self) { try decide(type([("photo", .text), ("Photo", .text)]), []) }
    let known = type(first, name: "Album", id: 3, definition: 3)
    #expect(throws: CaravanError.self) { try decide(type(first), [known]) }
  }

  @Test("No fields, too many fields, and too many types are refused")
  func limits() {
    func code(_ proposal: RecordType, next: UInt32 = 9) -> ErrorCode? {
      do throws(CaravanError) { _ = try decide(proposal, [], next: next) } catch { return error.code }
      return nil
    }
    func fields(_ count: Int) -> [(String, FieldKind)] { (0..<count).map { ("f\($0)", .text) } }
    #expect(code(type([])) == .schemaViolation)
    #expect(code(type(fields(Limits.fieldsPerType))) == nil)
    #expect(code(type(fields(Limits.fieldsPerType + 1))) == .schemaViolation)
    #expect(code(type(first), next: SchemaLimits.typesPerContainer) == nil)
    #expect(code(type(first), next: SchemaLimits.typesPerContainer + 1) == .limitExceeded)
  }

  @Test("CK-04, UNI-02: what is said by hand holds from then on, also where it was so once before")
  func saidAgain() throws {
    var open = CaravanModel.TypeGrants.standard
    try open.grant([.create, .read, .write], to: .authenticated)
    var versions = [type(first, id: 3, definition: 3)]
    for (count, grants) in [(4, open), (5, .standard), (6, open)] as [(UInt32, CaravanModel.TypeGrants)] {
      var wanted = type(first)
      wanted.grants = grants
      guard
        case .add(let new) = try Registry.decide(
          wanted, history: NameHistory(versions), numbers: TypeNumbers(after: count), in: .production, by: .operator)
      else { throw CaravanError(.internalError, "version \(count) was taken for one that there was") }
      #expect(new.grants == grants)
      versions.append(new)
      let again = try Registry.decide(
        wanted, history: NameHistory(versions), numbers: TypeNumbers(after: count + 1), in: .production, by: .operator)
      #expect(again == .existing(new), "said twice")
    }
  }

  @Test("CK-04: grants that a device remembers are no wish, and those of a type stay")
  func rememberedGrants() throws {
    var loose = CaravanModel.TypeGrants.standard
    try loose.grant([.create, .read, .write], to: .authenticated)
    var tight = CaravanModel.TypeGrants.standard
    try tight.grant([], to: .world)
    var (old, new) = (type(first, id: 3, definition: 3), type(first, id: 4, definition: 3))
    (old.grants, new.grants) = (loose, tight)
    var remembered = type(first + [("more", .text)])
    remembered.grants = loose
    for standing in [Standing.user, .developer] {
      guard
        case .add(let added) = try Registry.decide(
          remembered, isRemembered: true, history: NameHistory([old, new]), numbers: TypeNumbers(after: 5),
          in: .development,
          by: standing)
      else { throw CaravanError(.internalError, "nothing was added") }
      #expect(added.grants == tight)
    }
  }

  @Test("CK-04: which types have grants of their own is known, and bounded")
  func grantedNames() throws {
    var one = type(first)
    try one.grants = {
      var grants = CaravanModel.TypeGrants.standard; try grants.grant([], to: .world); return grants
    }()
    #expect(try Registry.granted(["a", "z"], after: one) == ["a", one.name, "z"].sorted())
    #expect(try Registry.granted(["a", one.name], after: type(first)) == ["a"])
    let full = (0..<Limits.grantedTypes).map { "t\($0)" }
    #expect(throws: CaravanError.self) { try Registry.granted(full, after: one) }
  }
}
