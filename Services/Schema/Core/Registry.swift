package import CaravanModel

/// What the registry answers to a proposal (CK-90, CK-91, CK-93).
package enum RegistryDecision: Sendable, Hashable {
  /// These very fields and settings are registered already: a proposal may be made again at any time.
  case existing(RecordType)
  /// A new version, or the first, under the new id.
  case add(RecordType)
}

/// The numbers of what is new in a container's registry.
package struct TypeNumbers: Sendable, Hashable {
  /// Types registered so far.
  package let count: UInt32
  /// The id of the next one: above, or apart from, every id of the container.
  package let next: UInt32
  /// So far behind the field ids of a name new ones begin.
  package let fieldGap: UInt32

  /// One after the other.
  package init(after count: UInt32) {
    precondition(count + 1 < SchemaLimits.restoredTypes.lowerBound, "id \(count + 1) may have been given in a restore")
    (self.count, next, fieldGap) = (count, count + 1, 0)
  }

  /// Of a registry that was restored: devices, and rows that they give back, have ids of types and fields that were
  /// registered after the backup. Nobody here knows which, so new ones are far from any that were given one after the
  /// other, and unlikely to be those of another restore (UNI-18).
  /// - Parameter random: a number below the bound.
  package init(afterRestore count: UInt32, random: (UInt64) -> UInt64) {
    self.count = count
    next = SchemaLimits.restoredTypes.lowerBound + UInt32(random(UInt64(SchemaLimits.restoredTypes.count)))
    fieldGap = SchemaLimits.restoredFields.lowerBound + UInt32(random(UInt64(SchemaLimits.restoredFields.count)))
    precondition(SchemaLimits.restoredTypes.contains(next), "a random number is not below its bound")
    precondition(SchemaLimits.restoredFields.contains(fieldGap), "a random number is not below its bound")
  }
}

/// The rules of record types, as one decision over what is registered.
package enum Registry {
  /// - Parameters:
  ///   - proposal: name, fields and settings; its ids are ignored.
  ///   - history: what was registered under this name.
  ///   - numbers: what a new version gets.
  ///   - isRemembered: the proposed settings are those that a device learnt once, and no wish: they count only where
  ///     the name is new here, for somebody may have said others since, and where its user may say them.
  ///   - isDeclared: somebody says so by hand, not a device because an app of it makes a table.
  ///   - standing: of whoever proposes, in the container.
  /// - Throws: `schemaViolation` when names, sizes or settings are wrong, or production has no such type;
  ///   `schemaNotAdditive` when a field would vanish or become of another kind; `limitExceeded`; `accessDenied` when
  ///   records would behave otherwise than they do, and that is not for the one who proposes to say.
  package static func decide(
    _ proposed: RecordType, isRemembered: Bool = false, isDeclared: Bool = false, history: NameHistory,
    numbers: TypeNumbers, in environment: Environment, by standing: Standing
  ) throws(CaravanError) -> RegistryDecision {
    try check(proposed)
    let latest = history.latest
    var proposal = proposed
    if standing == .user, proposal.grants == (latest?.grants ?? .standard) { proposal.grants = nil }
    if isRemembered { proposal.forgetRules() }
    if isRemembered, latest != nil || standing == .user { proposal.settings = nil }
    // What is said by hand is said of the type as it is now, whatever it was before.
    let isSaid = standing == .operator || isDeclared && standing == .developer
    if isSaid, let latest, latest.name == proposal.name, proposal.isPart(of: latest), latest.behaves(as: proposal) {
      return .existing(latest)
    }
    if let same = try known(proposal, among: history.usable), !isSaid { return .existing(same) }
    // An app that has added fields to an older version removes none of those that others have added since.
    let isBranch = history.usable.contains { $0.isPart(of: proposal) }
    if isBranch, let latest, proposal.isPart(of: latest), latest.behaves(as: proposal) { return .existing(latest) }
    guard environment == .development || isSaid else {
      throw CaravanError(
        .schemaViolation,
        "record type '\(proposal.name)' with these fields is not in production, where devices change nothing: "
          + "caravan schema promote or set --environment production, by the operator or with --creds of a developer",
        retryAfterMilliseconds: SchemaLimits.productionRetryMilliseconds)
    }
    try checkRoom(for: proposal.name, history, numbers, by: standing)
    let new =
      if let latest {
        try latest.extended(by: proposal, isBranch: isBranch, above: history.highestField, numbers)
      } else {
        first(proposal, above: history.highestField, numbers)
      }
    try checkSettings(of: new, after: latest, by: standing)
    guard standing != .user || proposal.grants == nil else { throw refusal(of: "who may do what with", new) }
    try checkFields(of: new, after: history)
    checkInvariants(of: new, after: history, numbers)
    precondition(
      new.fieldIDs.starts(with: latest?.fieldIDs ?? []), "a field of '\(new.name)' would be lost, or mean another one")
    return .add(new)
  }

  /// - Throws: `limitExceeded` where there is no room for another version.
  static func checkRoom(
    for name: String, _ history: NameHistory, _ numbers: TypeNumbers, by standing: Standing
  ) throws(CaravanError) {
    let versions = history.current.count
    guard numbers.count < SchemaLimits.types(for: standing), versions < SchemaLimits.versions(for: standing) else {
      throw CaravanError(
        .limitExceeded,
        "no room for another version of '\(name)': \(numbers.count) record types, \(versions) of it")
    }
  }

  /// - Throws: `limitExceeded` where so many fields were removed and made that one more is too many.
  static func checkFields(of new: RecordType, after history: NameHistory) throws(CaravanError) {
    let ever = Set(history.current.flatMap(\.fieldIDs)).union(new.fieldIDs).count
    guard ever <= SchemaLimits.fieldsEver else {
      throw CaravanError(
        .limitExceeded,
        "record type '\(new.name)' would have had \(ever) fields: the limit is \(SchemaLimits.fieldsEver), with those "
          + "that were removed; remove the type, and make it anew")
    }
  }

  /// A version is what every device reads records by, for ever.
  static func checkInvariants(of new: RecordType, after history: NameHistory, _ numbers: TypeNumbers) {
    precondition(new.id == numbers.next, "type \(new.id) is registered under the id \(numbers.next)")
    precondition(
      new.definition == history.latest?.definition ?? new.id,
      "a version of '\(new.name)' has another table than the last")
    precondition((1...Limits.fieldsPerType).contains(new.fields.count), "nobody could read '\(new.name)' back")
    precondition(
      new.fields.allSatisfy { field in
        field.id > history.highestField || history.latest?.field(id: field.id).map(field.isSame) ?? false
      }, "a field of '\(new.name)' has the id of another one")
    precondition(Set(new.fieldIDs).count == new.fields.count, "two fields of '\(new.name)' have one id")
    assert(
      Set(new.fields.map { $0.name.lowercased() }).count == new.fields.count,
      "two fields of '\(new.name)' are one column on a device")
  }

  /// How records behave, and what queries may do with them, concerns every user's rows: any device does not say it.
  private static func checkSettings(
    of new: RecordType, after latest: RecordType?, by standing: Standing
  ) throws(CaravanError) {
    guard standing == .user else { return }
    guard new.settings ?? TypeSettings() == latest?.settings ?? TypeSettings() else {
      throw refusal(of: "how", new, behave: " behave")
    }
    let indexesAreUsual = new.fields.allSatisfy { field in
      field.effectiveIndexes == latest?.field(id: field.id)?.effectiveIndexes ?? field.possibleIndexes
    }
    guard indexesAreUsual else { throw refusal(of: "what queries may do with", new) }
  }

  private static func refusal(of what: String, _ type: RecordType, behave: String = "") -> CaravanError {
    CaravanError(
      .accessDenied,
      "\(what) records of '\(type.name)'\(behave) is said by the container's owner and developers, and by the operator "
        + "(caravan schema set): one of them says it first, or the table is made without (who develops: "
        + "caravan container allow-developer)")
  }

  /// Who would see or change a schema as a whole, and may not.
  package static func notADeveloper(of container: ContainerID) -> CaravanError {
    CaravanError(
      .accessDenied,
      "the schema of '\(container)' is seen and changed by its owner and developers, and by the operator (who "
        + "develops: caravan container allow-developer)")
  }

  /// Which names have grants that are not the standard ones, now that a type is registered.
  /// - Parameter names: those that had, in order.
  /// - Throws: `limitExceeded`.
  package static func granted(_ names: [String], after type: RecordType) throws(CaravanError) -> [String] {
    let others = names.filter { $0 != type.name }
    guard type.grants ?? .standard != .standard else { return others }
    guard others.count < Limits.grantedTypes else {
      throw CaravanError(
        .limitExceeded,
        "\(Limits.grantedTypes) record types have grants of their own, and no more may: give one the standard grants "
          + "first (\(others.prefix(3).joined(separator: ", ")) …)")
    }
    return (others + [type.name]).sorted()
  }

  /// To which roles of the container's own each type grants something, now that others are registered.
  /// - Parameter roles: by the type's name.
  /// - Throws: `limitExceeded` beyond `Limits.ownRoles` of the container.
  package static func ownRoles(
    _ roles: [String: [String]], after types: [RecordType]
  ) throws(CaravanError) -> [String: [String]] {
    var roles = roles
    for type in types {
      let new = type.grants?.ownRoles ?? []
      roles[type.name] = new.isEmpty ? nil : new
    }
    let all = Set(roles.values.joined())
    guard all.count <= Limits.ownRoles else {
      throw CaravanError(
        .limitExceeded,
        "types would grant something to \(all.count) roles of the container's own: the limit is \(Limits.ownRoles)")
    }
    return roles
  }

  /// The newest version with exactly the proposed fields, in whatever order, and the proposed settings, if there are
  /// any: an app that was not updated finds its own.
  private static func known(
    _ proposal: RecordType, among versions: [RecordType]
  ) throws(CaravanError) -> RecordType? {
    guard let latest = versions.last else { return nil }
    try checkCase(of: proposal, latest)
    return versions.last { $0.shapes == proposal.shapes && $0.behaves(as: proposal) }
  }

  static func checkCase(of proposal: RecordType, _ latest: RecordType) throws(CaravanError) {
    guard latest.name != proposal.name else { return }
    throw CaravanError(
      .schemaViolation, "record type '\(proposal.name)' differs from '\(latest.name)' only in case: use that name")
  }

  /// What a device remembers of the settings otherwise than the registry ever had them: a restore took what was said
  /// of them, and whoever runs the cloud has to say it again, or something else has been said since.
  package static func unknownSettings(of proposal: RecordType, among versions: [RecordType]) -> [SettingChange] {
    guard let latest = versions.last, let remembered = proposal.settings,
      !versions.contains(where: { $0.behaves(as: proposal) })
    else { return [] }
    return (latest.settings ?? TypeSettings()).changes(from: remembered)
  }

  static func first(_ proposal: RecordType, above highest: UInt32, _ numbers: TypeNumbers) -> RecordType {
    let fields = zip((highest + numbers.fieldGap + 1)..., proposal.fields).map { $1.numbered($0) }
    return RecordType(
      id: numbers.next, definition: numbers.next, name: proposal.name, fields: fields, settings: proposal.settings,
      grants: proposal.grants)
  }
}
