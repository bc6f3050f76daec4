extension Checker {
  /// Whoever reads by snapshots has, when told so, exactly what the zone once was.
  static let snapshotsReal = Checker("I15 snapshot mode shows only states that the zone had") { history in
    struct Incarnation: Hashable {
      var place: Place
      var incarnation: UInt64
    }
    let lives = Dictionary(grouping: history.versions.filter { !$0.wentWithZone }) {
      Incarnation(place: $0.row.place, incarnation: $0.incarnation)
    }
    return history.snapshots.compactMap { seen in
      var rows: [String: ChangeTag] = [:]
      for version in lives[Incarnation(place: seen.place, incarnation: seen.incarnation)] ?? []
      where version.seq <= seen.seq {
        rows[version.row.row] = version.tag
      }
      let wrong = Set(rows.keys).union(seen.rows.keys).filter { rows[$0] != seen.rows[$0] }.sorted()
      guard let row = wrong.first else { return nil }
      let (had, shown) = (rows[row].map { "\($0)" } ?? "nothing", seen.rows[row].map { "\($0)" } ?? "nothing")
      return "\(seen.place) at \(seen.seq): row \(row) was \(had), a snapshot has \(shown) (\(wrong.count) rows differ)"
    }
  }

  static let readersFed = Checker("CK-53 readers by snapshots come to a state, however slow they are") { $0.starved }
}

extension [PairCommit] {
  fileprivate var versions: Set<UInt64> { Set(flatMap { $0.versions.values.compactMap(\.self) }) }

  /// What the device gives back after a restore is seen there at once, so it is left out.
  /// - Parameters:
  ///   - lost: of former lives.
  ///   - given: by the device, in whichever life: what it shows of others may still be of one before.
  fileprivate func everShowed(_ seen: SeenPairs, lost: Set<UInt64>, given: Set<UInt64>) -> Bool {
    let back = lost.subtracting(versions).union(given)
    let shown = seen.versions.filter { !back.contains($0.value) }
    let own = seen.unsettled.union(seen.versions.keys).subtracting(shown.keys)
    var state: [String: UInt64] = [:]
    if shown.isEmpty { return true }
    for commit in self {
      for (row, version) in commit.versions where !own.contains(row) { state[row] = version }
      if state == shown { return true }
    }
    return false
  }
}

extension Checker {
  /// What a device's table that shows snapshots has of others is what its zone once was, in one of the zone's lives.
  static let pairsReal = Checker("UNI-13 tables of snapshots show only states that the zone had") { history in
    let lives = history.pastPairs + [history.pairs]
    let lost = lives.indices.map { Set(lives[..<$0].flatMap(\.versions)) }
    return history.seenPairs.compactMap { seen in
      let given = lives.joined().filter { $0.writer == seen.device }.versions
      guard !zip(lives, lost).contains(where: { $0.everShowed(seen, lost: $1, given: given) }) else { return nil }
      return "\(seen.device) sees what never was: \(seen.versions.sorted { $0.key < $1.key })"
    }
  }

  /// A device's table that shows snapshots shows all of a batch or nothing, never an older state than before, and what
  /// its own app wrote at once.
  static let pairsTogether = Checker("UNI-13 tables of snapshots show whole batches") { history in
    var newest: [String: Int64] = [:]
    return history.seenPairs.flatMap { seen -> [String] in
      var problems = seen.lacksOwn.map { "\(seen.device) does not see its own row \($0)" }
      for name in Set(seen.pairs.keys.map { String($0.dropLast()) }).sorted() {
        let (a, b) = (seen.pairs[name + "a"], seen.pairs[name + "b"])
        if a != b { problems.append("\(seen.device) sees \(name): one of \(a ?? 0), the other of \(b ?? 0)") }
        if let a, a < newest[name] ?? 0 { problems.append("\(seen.device) saw \(name) as a later batch left it") }
        newest[name] = max(newest[name] ?? 0, a ?? 0)
      }
      return problems
    }
  }
}
