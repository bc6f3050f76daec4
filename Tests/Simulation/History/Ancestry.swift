/// Who knew of what: the order that the checkers hold rows against.
struct Ancestry {
  private let writes: [ChangeTag: LocalWrite]
  /// What a tag came to stand above by a decision for it.
  private var decidedOver: [ChangeTag: Set<ChangeTag>] = [:]

  init(_ history: History) {
    writes = history.writes
    for decision in history.decisions where decision.standing != .refused {
      switch decision.choice {
      case .mine:
        if let theirs = decision.theirs { decidedOver[decision.mine, default: []].insert(theirs) }
      case .theirs, .merge: continue
      }
    }
  }

  /// Every change that `tag` replaces: its parents, theirs, and what was decided against. Without itself, unless it was
  /// decided for again over one of its own descendants.
  func ancestors(of tag: ChangeTag) -> Set<ChangeTag> {
    var found: Set<ChangeTag> = []
    var open = [tag]
    while let next = open.popLast() {
      let below = (writes[next]?.parents ?? []) + (decidedOver[next] ?? [])
      for ancestor in below where found.insert(ancestor).inserted { open.append(ancestor) }
    }
    return found
  }

  /// Only what was seen when it was made: its parents, and theirs.
  func lineage(of tag: ChangeTag) -> Set<ChangeTag> {
    var found: Set<ChangeTag> = []
    var open = [tag]
    while let next = open.popLast() {
      for parent in writes[next]?.parents ?? [] where found.insert(parent).inserted { open.append(parent) }
    }
    return found
  }
}

extension History {
  /// Whether the cloud forgot a change of the row that neither made the device's own nor was made from it.
  func forgetsRival(of decision: Decision, _ ancestry: Ancestry) -> Bool {
    let line = ancestry.lineage(of: decision.mine).union([decision.mine])
    return lost.contains { version in
      guard version.row == decision.row, let tag = version.tag, writes[tag] != nil, !line.contains(tag) else {
        return false
      }
      return !ancestry.lineage(of: tag).contains(decision.mine)
    }
  }
}
