internal import CaravanTestKit

extension Checker {
  /// A zone's history is one sequence: its log has no hole and no overlap, versions ascend, and what it ends with is
  /// what a scan finds.
  static let logInOrder = Checker("I6 zone history is in seq order") { history in
    positions(history) + ranges(history) + folds(history)
  }

  /// Clients that read and write one zone at the same time see one order of it (CK-22, CK-23).
  static let serialisable = Checker("I6 what clients see of a zone is serialisable") { history in
    ZoneHistory(history.calls).findings(isSerialisable: true).map(\.description)
  }

  private static func positions(_ history: History) -> [String] {
    var last: [UInt32: (position: UInt64, life: Int)] = [:]
    return history.log.compactMap { entry in
      defer { last[entry.partition] = (entry.position, entry.life) }
      let before = last[entry.partition] ?? (0, 0)
      let expected = before.position + 1
      if entry.life > before.life, entry.position > expected { return nil }
      return entry.position == expected
        ? nil : "partition \(entry.partition) has position \(entry.position) where \(expected) follows"
    }
  }

  private static func ranges(_ history: History) -> [String] {
    var heads: [String: (seq: UInt64, life: Int)] = [:]
    var ends: [Substring: Set<UInt64>] = [:]
    return history.log.compactMap { entry in
      let database = entry.zone.prefix(upTo: entry.zone.lastIndex(of: "/") ?? entry.zone.endIndex)
      // Once deleted zones of a database are known by no name, a zone of any name begins where one of them ended.
      let isFirst = heads[entry.zone] == nil && ends[database]?.contains(entry.low) ?? false
      let before = heads[entry.zone] ?? (isFirst ? entry.low : 0, 0)
      heads[entry.zone] = (entry.high, entry.life)
      ends[database, default: []].insert(entry.high)
      let head = entry.life > before.life ? max(before.seq, entry.low) : before.seq
      if entry.low != head { return "\(entry.zone): a commit begins at \(entry.low), the one before ended at \(head)" }
      let isAscending = zip(entry.seqs, entry.seqs.dropFirst()).allSatisfy { $0 < $1 }
      let isInside = entry.seqs.allSatisfy { $0 > entry.low && $0 <= entry.high }
      return isAscending && isInside
        ? nil : "\(entry.zone): the commit (\(entry.low), \(entry.high)] has the versions \(entry.seqs)"
    }
  }

  private static func folds(_ history: History) -> [String] {
    var rows: [RowKey: Version] = [:]
    var found: [String] = []
    for version in history.versions {
      if let old = rows[version.row], old.seq >= version.seq, !version.wentWithZone {
        found.append("\(version.row) goes from version \(old.seq) to \(version.seq)")
      }
      rows[version.row] = version
    }
    let live = rows.values.filter { $0.tag != nil }
    for (place, seen) in history.end.cloud.sorted(by: { $0.key < $1.key }) {
      let expected = Dictionary(live.filter { $0.row.place == place }.map { ($0.row.row, $0.seq) }) { first, _ in first
      }
      let actual = Dictionary(seen.map { ($0.row, $0.seq) }) { first, _ in first }
      for row in Set(expected.keys).union(actual.keys).sorted() where expected[row] != actual[row] {
        found.append("\(place): history leaves row \(row) at \(expected[row] ?? 0), a scan finds \(actual[row] ?? 0)")
      }
    }
    return found
  }

  /// Whoever overwrote a version had seen it: no update is lost (I6, serialisable).
  static let writersKnew = Checker("I6 nobody overwrites what they have not seen") { history in
    let ancestry = Ancestry(history)
    let undeleted = history.undeleted
    return successions(history).compactMap { before, after in
      // What was made anew in between goes over the backup's copy.
      if undeleted.contains(after.row) { return nil }
      guard let old = before.tag, let knows = knowledge(of: after, history, ancestry) else { return nil }
      if old == after.tag || knows.contains(old) { return nil }
      let what = after.tag.map { "\($0)" } ?? "a deletion by \(after.writer)"
      return "\(after.row): \(what) at \(after.seq) overwrote \(old) at \(before.seq) without having seen it"
    }
  }

  /// nil: by nobody in this simulation.
  private static func knowledge(of version: Version, _ history: History, _ ancestry: Ancestry) -> Set<ChangeTag>? {
    if version.wentWithZone { return nil }
    if let tag = version.tag { return ancestry.ancestors(of: tag) }
    let deletes = history.writes.values.filter {
      $0.kind == .delete && $0.tag.device == version.writer && $0.place == version.row.place && $0.standing != .refused
    }
    return deletes.reduce(into: []) { $0.formUnion(ancestry.ancestors(of: $1.tag)) }
  }

  /// Each version with the one of the same row that it replaced.
  private static func successions(_ history: History) -> [(before: Version, after: Version)] {
    var last: [RowKey: Version] = [:]
    return history.versions.compactMap { version in
      defer { last[version.row] = version }
      return last[version.row].map { ($0, version) }
    }
  }

  /// Each op took effect once: a write shows up in its zone's history once, and once more for each time a decision
  /// sent it again.
  static let appliedOnce = Checker("I7 each op is applied exactly once") { history in
    var decided: [ChangeTag: Int] = [:]
    for decision in history.decisions where decision.choice == .mine && decision.standing != .refused {
      decided[decision.mine, default: 0] += 1
    }
    let versions = Dictionary(grouping: history.versions.filter { $0.tag != nil }, by: \.tag)
    return versions.compactMap { tag, versions -> (ChangeTag, String)? in
      guard let tag, versions.count > 1 + (decided[tag] ?? 0) else { return nil }
      return (tag, "\(tag) became \(versions.count) versions of \(versions[0].row): \(versions.map(\.seq))")
    }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// Nobody is told of a conflict with what they had seen and replaced: that is an op applied without being recorded.
  static let noFalseConflict = Checker("I7 no conflict with one's own past") { history in
    let ancestry = Ancestry(history)
    let undeleted = history.undeleted
    let revived = Set(history.decisions.filter { $0.choice == .mine }.map(\.mine))
    return history.decisions.compactMap { decision in
      // The backup's copy of what was deleted later has come back, beside what was made in its place.
      guard let theirs = decision.theirs, !revived.contains(theirs), !undeleted.contains(decision.row) else {
        return nil
      }
      guard theirs == decision.mine || ancestry.lineage(of: decision.mine).contains(theirs) else { return nil }
      // That it is what was lost, and not another change, only the author knew, who never heard that it had arrived.
      let isOwn = theirs.device == decision.device
      if !isOwn, history.sentAgain.contains(theirs), history.forgotten.contains(decision.mine) { return nil }
      // They were in conflict with something else already, which the cloud forgot: what it has instead is shown.
      if history.forgetsRival(of: decision, ancestry) { return nil }
      // Nor can the cloud tell what was made from what in two lives of which it knows neither.
      if history.forgotten.contains(theirs), history.forgottenTwice.contains(decision.row) { return nil }
      return "\(decision.device) was told of a conflict in \(decision.row) between \(decision.mine) and \(theirs), "
        + "which it had replaced itself"
    }
  }

  /// After a tombstone a row lives again only if somebody made it anew, or decided so knowing that it was deleted.
  static let deletesStay = Checker("I9 a deleted row does not come back by itself") { history in
    let ancestry = Ancestry(history)
    let undone = Set(
      history.decisions.filter { $0.theirs == nil && $0.choice != .theirs && $0.standing != .refused }.map { decision in
        if case .merge(let tag) = decision.choice { tag } else { decision.mine }
      })
    return successions(history).compactMap { before, after in
      guard before.tag == nil, let tag = after.tag else { return nil }
      // Who decides against a row knows that it is there.
      let line = ancestry.ancestors(of: tag).union([tag])
      let sent = Set(history.versions.filter { $0.row == after.row && $0.seq < before.seq }.compactMap(\.tag))
      let isMadeAnew = line.contains { history.writes[$0]?.kind == .insert && !sent.contains($0) }
      if isMadeAnew || !undone.isDisjoint(with: line) { return nil }
      return "\(after.row) was deleted at \(before.seq) and is \(tag) at \(after.seq), which nobody meant to create"
    }
  }
}
