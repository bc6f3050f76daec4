internal import CaravanModel

/// Owning and validating references (CK-27, CK-28): what goes with a record, and what keeps it.
extension ZoneDraft {
  /// Who refers to a record, as this commit has left it so far.
  private func referrers(of target: String) -> [Referrer] {
    var referrers = facts.referrers[target] ?? []
    guard !rewritten.isEmpty else { return referrers }
    referrers.removeAll { rewritten[$0.name] != nil }
    var added: [Referrer] = []
    for name in pointing[target] ?? [] {
      let references = rewritten[name] ?? []
      let kinds = references.reduce(Referrer.Kinds()) { $1.target == target ? $0.union(.init($1.kind)) : $0 }
      if !kinds.isEmpty { added.append(Referrer(name: name, kinds: kinds)) }
    }
    return referrers + added.sorted { $0.name < $1.name }
  }

  /// The records that go with a record: those it owns, those they own, and so on, each once, itself left out. What the
  /// writer may not change stays, and so does what that owns.
  /// - Throws: `limitExceeded` when they are too many for one commit.
  func owned(by name: String) throws(CaravanError) -> [String] {
    var met: Set<String> = [name]
    var owned: [String] = []
    var next = 0
    var current = name
    while true {
      // Of a record that was there before, who refers to it is known, unless there were too many to ask for.
      var isKnown = facts.heads[current].map(\.isDeleted) ?? true || facts.referrers[current] != nil
      for referrer in referrers(of: current) where referrer.isOwning && met.insert(referrer.name).inserted {
        let head = heads[referrer.name]
        guard mayCascade(head) else { continue }
        if head == nil { isKnown = false }
        if let head, !head.isDeleted { owned.append(referrer.name) }
      }
      guard isKnown, cascaded + owned.count <= Limits.cascadedRecords else {
        throw CaravanError(
          .limitExceeded,
          "more than \(Limits.cascadedRecords) records would go with '\(name)': delete those that refer to it first"
        )
      }
      guard next < owned.count else { return owned }
      current = owned[next]
      next += 1
    }
  }

  /// - Throws: `referenceViolation` when a record that stays has a validating reference to one of `names`, which go.
  func checkReferrers(of names: [String]) throws(CaravanError) {
    let going = Set(names)
    for name in names {
      for referrer in referrers(of: name) where referrer.isValidating && !going.contains(referrer.name) {
        if holds(referrer.name) { throw Self.referred(name, by: referrer.name) }
      }
    }
  }

  /// Whether a validating reference counts: its holder can be seen, or was not asked about for there were too many.
  private func holds(_ source: String) -> Bool { heads[source]?.isLive(at: now) ?? true }

  /// What does not hold at the end of an atomic commit, by mutation.
  func brokenReferences() -> [(mutation: Int, CaravanError)] {
    var broken: [(mutation: Int, CaravanError)] = []
    for (mutation, source, reference) in added where !isLive(reference.target) {
      // The commit itself may have taken the reference away again, or its holder.
      if rewritten[source]?.contains(reference) ?? false { broken.append((mutation, Self.dangling(source, reference))) }
    }
    for (mutation, name) in deleted where !isLive(name) {
      for referrer in referrers(of: name) where referrer.isValidating && holds(referrer.name) {
        broken.append((mutation, Self.referred(name, by: referrer.name)))
      }
    }
    return broken
  }

  static func dangling(_ source: String, _ reference: Reference) -> CaravanError {
    CaravanError(
      .referenceViolation,
      "record '\(source)' refers to '\(reference.target)', which is not in the zone: save '\(reference.target)' first")
  }

  private static func referred(_ name: String, by source: String) -> CaravanError {
    CaravanError(
      .referenceViolation,
      "record '\(name)' cannot be deleted while '\(source)' refers to it: delete or change '\(source)' first")
  }
}
