extension Checker {
  /// No reader goes back in time, and everybody sees their own writes.
  static let readsInOrder = Checker("I5 reads are monotonic and see the device's own writes") { history in
    return Dictionary(grouping: history.readings, by: \.device).sorted { $0.key < $1.key }.flatMap { device, readings in
      // What the cloud has goes back with it.
      if history.restores > 0, device.hasSuffix(Reading.ofConflicts) { return [String]() }
      var reader = Reader(history, device: device)
      return readings.flatMap { reader.read($0) }
    }
  }
}

/// What one device may still read.
private struct Reader {
  private let history: History
  private let device: String
  private let ancestry: Ancestry
  /// Tags that a decision, somewhere, brought back over what had replaced them.
  private let revived: Set<ChangeTag>
  private let rowsOfTags: [ChangeTag: RowKey]
  private let deletable: Set<RowKey>
  /// After a restore, what was in the backup of these may come back.
  private let undeleted: Set<RowKey>
  private let forgotten: Set<ChangeTag>
  /// Numbers that each row ever had at the cloud.
  private let numbers: [RowKey: Set<Int64>]
  private var last: [RowKey: SeenRow] = [:]
  /// The newest version of each row that was read without changes.
  private var clean: [RowKey: SeenRow] = [:]
  /// Own acknowledged events taken in so far.
  private var taken = 0
  /// Replaced by the device itself.
  private var replaced: Set<ChangeTag> = []
  /// The device's own newest writes that nothing of its own replaced.
  private var own: Set<ChangeTag> = []

  init(_ history: History, device: String) {
    self.history = history
    self.device = device
    ancestry = Ancestry(history)
    revived = Set(history.decisions.filter { $0.choice == .mine && $0.standing != .refused }.map(\.mine))
    var rows: [ChangeTag: RowKey] = [:]
    (undeleted, forgotten) = (history.undeleted, history.forgotten)
    let shares = history.shares[device] ?? [:]
    let told = shares.isEmpty ? [] : history.lost + history.versions
    numbers = Dictionary(grouping: told, by: \.row).mapValues { versions in
      Set(versions.compactMap { version in version.tag.flatMap { history.writes[$0]?.number } })
    }
    for version in history.lost + history.versions { if let tag = version.tag { rows[tag] = version.row } }
    for reading in history.readings {
      for row in reading.rows { rows[row.tag] = RowKey(reading.place, row.row) }
    }
    rowsOfTags = rows
    let deletes = history.writes.values.filter { $0.kind == .delete && $0.standing != .refused }
    // What was deleted may never have been seen elsewhere; what it was made of has.
    let ancestry = ancestry
    deletable = Set(
      deletes.flatMap { ancestry.lineage(of: $0.tag).compactMap { rows[$0] } } + history.decisions.map(\.row)
        + history.versions.filter(\.wentWithZone).map(\.row))
  }

  mutating func read(_ reading: Reading) -> [String] {
    takeIn(reading.ownWrites)
    var found: [String] = []
    for row in reading.rows { found += problems(row, RowKey(reading.place, row.row), reading) }
    guard !reading.lacksTornRows else { return found }
    let seen = Set(reading.rows.map(\.row))
    for tag in own.sorted() {
      guard let key = rowsOfTags[tag], key.place == reading.place, !seen.contains(key.row), !deletable.contains(key),
        !mayHaveLeft(tag, key, reading)
      else { continue }
      found.append("\(device) does not see row \(key) although it wrote \(tag) and nobody deleted it")
    }
    return found
  }

  /// Whether the row may have been left to the cloud: not before the cloud has what the device wrote, and where the
  /// table always kept the same, not as long as that is asked for.
  private func mayHaveLeft(_ tag: ChangeTag, _ key: RowKey, _ reading: Reading) -> Bool {
    guard let shares = history.shares[device]?[key.place], let arrival = history.arrivals[tag],
      arrival < reading.versions
    else { return false }
    guard shares.count == 1, case .numbers(let range) = shares[0] else { return true }
    return !(numbers[key] ?? []).allSatisfy(range.contains)
  }

  private mutating func takeIn(_ count: Int) {
    let events = history.acknowledged[device] ?? []
    while taken < min(count, events.count) {
      switch events[taken] {
      case .write(let tag):
        let below = ancestry.lineage(of: tag)
        replaced.formUnion(below)
        own.subtract(below)
        if history.writes[tag]?.kind != .delete { own.insert(tag) }
      case .decision(let index):
        let decision = history.decisions[index]
        guard case .theirs = decision.choice else { break }
        own.remove(decision.mine)
        // That is what the device has now, whether anybody looks or not.
        if let theirs = decision.theirs { last[decision.row]?.tag = theirs }
      }
      taken += 1
    }
  }

  /// Whether the cloud had it, and has it no more, and the device may have left it to the cloud meanwhile: what was
  /// there before may be seen again.
  private func mayBeUndone(_ tag: ChangeTag, _ key: RowKey, _ reading: Reading) -> Bool {
    forgotten.contains(tag) && mayHaveLeft(tag, key, reading)
  }

  private mutating func problems(_ row: SeenRow, _ key: RowKey, _ reading: Reading) -> [String] {
    var found: [String] = []
    if undeleted.contains(key) { return [] }
    let newest = Set(own.union(last[key].map { [$0.tag] } ?? []).filter { ancestry.lineage(of: $0).contains(row.tag) })
    let isUndone = !newest.isEmpty && newest.allSatisfy { mayBeUndone($0, key, reading) }
    if isUndone { last[key] = nil }
    if !isUndone, replaced.contains(row.tag), !revived.contains(row.tag) {
      found.append("\(device) reads \(row.tag) in \(key) after it had replaced that itself")
    }
    if let before = last[key], before.tag != row.tag, !revived.contains(row.tag),
      ancestry.lineage(of: before.tag).contains(row.tag)
    {
      found.append("\(device) reads \(row.tag) in \(key) after it had read \(before.tag), which replaced it")
    }
    if row.isClean {
      if let before = clean[key], row.seq < before.seq, !mayBeUndone(before.tag, key, reading) {
        found.append("\(device) reads \(key) at version \(row.seq) after it had read \(before.seq)")
      }
      clean[key] = row
    }
    last[key] = row
    return found
  }
}
