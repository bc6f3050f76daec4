extension Checker {
  /// What owns a record goes only with it, and what a record needs does not go while it is there.
  static let kinWhole = Checker("CK-27, CK-28 what a record refers to is there") { history in
    history.trees.flatMap { tree in
      tree.records.sorted { $0.key < $1.key }.flatMap { name, targets in
        targets.filter { tree.records[$0] == nil }.map { "\(name) refers to \($0), which is not in the zone" }
      }
    }
  }
}
