extension Checker {
  /// Whoever reads by snapshots has, when told so, exactly what the zone once was.
  static let snapshotsReal = Checker("I15 snapshot mode shows only states that the zone had") { history in
    struct Life: Hashable {
      var place: Place
      var incarnation: UInt64
    }
    let lives = Dictionary(grouping: history.versions.filter { !$0.wentWithZone }) {
      Life(place: $0.row.place, incarnation: $0.incarnation)
    }
    return history.snapshots.compactMap { seen in
      var rows: [String: ChangeTag] = [:]
      for version in lives[Life(place: seen.place, incarnation: seen.incarnation)] ?? [] where version.seq <= seen.seq {
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
