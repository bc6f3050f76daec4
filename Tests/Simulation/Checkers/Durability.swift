extension Checker {
  /// Each acknowledged write is the final value, or somebody replaced it knowing it, or a conflict that showed it was
  /// decided against it.
  static let nothingLost = Checker("I1 acknowledged writes are never lost") { history in
    let survivors = Survivors(history)
    let undeleted = history.undeleted
    let unheld = history.unheld
    var rows: [ChangeTag: RowKey] = [:]
    for version in history.lost + history.versions { if let tag = version.tag { rows[tag] = version.row } }
    return history.writes.values.sorted { $0.tag < $1.tag }.compactMap { write in
      // A restore brings back what was deleted since the backup.
      let isUndone = write.parents.contains { rows[$0].map(undeleted.contains) ?? false }
      if write.kind == .delete && isUndone || unheld.contains(write.tag) { return nil }
      guard write.standing == .acknowledged, !survivors.isAccountedFor(write) else { return nil }
      return "the \(write.kind) \(write.tag) in \(write.place) was acknowledged; no row has it, and nobody replaced it"
    }
  }
}

/// What became of every write by the end.
private struct Survivors {
  private let writes: [ChangeTag: LocalWrite]
  private let final: Set<ChangeTag>
  /// Who replaced a write, knowing it.
  private var children: [ChangeTag: [ChangeTag]] = [:]
  /// Writes a decision gave up. Of one that was not acknowledged nobody can say more.
  private var givenUp: Set<ChangeTag> = []
  /// Went with their zones.
  private var taken: Set<ChangeTag> = []
  /// Places where a decision kept a row that the cloud had deleted.
  private var revived: Set<ChangeTag> = []

  init(_ history: History) {
    writes = history.writes
    final = Set(history.end.cloud.values.flatMap { $0.map(\.tag) })
    for write in history.writes.values where write.standing != .refused {
      for parent in write.parents { children[parent, default: []].append(write.tag) }
    }
    var last: [RowKey: ChangeTag] = [:]
    for version in history.versions {
      if version.wentWithZone, let tag = last[version.row] { taken.insert(tag) }
      last[version.row] = version.tag
    }
    for decision in history.decisions where decision.standing != .refused {
      switch decision.choice {
      case .mine:
        if let theirs = decision.theirs { givenUp.insert(theirs) }
        revived.insert(decision.mine)
      case .theirs:
        givenUp.insert(decision.mine)
        if let theirs = decision.theirs { revived.insert(theirs) }
      case .merge: continue
      }
    }
  }

  func isAccountedFor(_ write: LocalWrite) -> Bool {
    if final.contains(write.tag) || givenUp.contains(write.tag) || taken.contains(write.tag) { return true }
    if write.kind == .delete, isDeleted(write) { return true }
    return (children[write.tag] ?? []).contains { child in
      guard let next = writes[child] else { return false }
      // One that was acknowledged answers for itself.
      return next.standing == .acknowledged || isAccountedFor(next)
    }
  }

  /// What it deleted is gone, or was wanted back by somebody who saw it deleted.
  private func isDeleted(_ delete: LocalWrite) -> Bool {
    delete.parents.allSatisfy { !final.contains($0) || revived.contains($0) }
  }
}
