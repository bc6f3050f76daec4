package import CaravanModel

extension Registry {
  /// The same for whoever needs some fields of a type and does not know the others: these stay, and the type is
  /// answered with them.
  /// - Parameter proposed: without fields the type is looked for, and never registered.
  /// - Throws: `tableNotFound` where a type without fields is not registered; `schemaViolation` naming the fields that
  ///   production lacks; else as `decide`.
  package static func decide(
    onSome proposed: RecordType, history: NameHistory, numbers: TypeNumbers, in environment: Environment,
    by standing: Standing
  ) throws(CaravanError) -> RegistryDecision {
    guard let latest = history.latest else {
      guard !proposed.fields.isEmpty else {
        throw CaravanError(
          .tableNotFound, "there is no record type '\(proposed.name)': save a record of it first, or create its table")
      }
      return try decide(
        proposed, isRemembered: true, history: history, numbers: numbers, in: environment, by: standing)
    }
    try checkCase(of: proposed, latest)
    if proposed.isPart(of: latest) { return .existing(latest) }
    let lacking = proposed.fields.filter { latest.field(named: $0.name) == nil }
    guard lacking.isEmpty || environment == .development else {
      let names = lacking.map { "'\($0.name)'" }.joined(separator: ", ")
      throw CaravanError(
        .schemaViolation,
        "record type '\(proposed.name)' of production has no field \(names), and devices add none there: leave it out, "
          + "or have it promoted (caravan schema promote)")
    }
    var whole = proposed
    whole.fields = latest.fields.map { proposed.field(named: $0.name) ?? $0 } + lacking
    return try decide(whole, isRemembered: true, history: history, numbers: numbers, in: environment, by: standing)
  }

  /// - Throws: as `check`; a proposal of some fields may have none.
  package static func check(onSome proposal: RecordType) throws(CaravanError) {
    if proposal.fields.isEmpty { try checkTypeName(proposal.name) } else { try check(proposal) }
  }
}
