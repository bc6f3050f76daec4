internal import CaravanModel

/// Every write of a history that is known, in the order of versions: those that were answered, and those whose answer
/// was lost and whose value somebody saw.
struct ZoneWrites {
  struct Write: Hashable {
    let name: String
    let version: Seq
    let content: ZoneCall.Observation.Content
    /// nil: a deletion by one of those whose answer was lost.
    let call: Int?
  }

  /// The versions of one commit, (low, high].
  struct Range {
    var low: Seq
    var high: Seq
  }

  private let calls: [ZoneCall]
  private(set) var findings: [ZoneHistory.Finding] = []
  /// Of each record, by version.
  private var records: [String: [Write]] = [:]
  private var versions: [Seq: Write] = [:]
  private var ranges: [Int: Range] = [:]
  private var bounds: [Range] = []
  /// Saves by value, each with its call; and what became of it.
  private var saves: [String: Int] = [:]
  /// Changes of unknown calls that nobody has seen.
  private var hidden: [String: [(call: Int, isDelete: Bool)]] = [:]

  init(_ calls: [ZoneCall]) {
    self.calls = calls
    addAnswered()
  }

  /// Records that somebody wrote.
  private(set) var names: [String] = []

  // MARK: Answered

  private mutating func addAnswered() {
    var claims: [Claim: [Int]] = [:]
    for (index, call) in calls.enumerated() {
      if case .commit(let changes, _) = call.request {
        for change in changes { if case .save(let value) = change.action { saves[value] = index } }
      }
      for change in call.doubtful { hidden[change.name, default: []].append((index, change.action == .delete)) }
      for (change, verdict) in call.decided {
        guard case .accepted(let version) = verdict else { continue }
        switch change.action {
        case .save(let value):
          if version == 0 { find(.scatteredBatch, "a save was accepted under no version: \(call)") }
          add(Write(name: change.name, version: version, content: .value(value), call: index))
        case .delete: if version > 0 { claims[Claim(name: change.name, version: version), default: []].append(index) }
        case .read: continue
        }
      }
    }
    for (claim, callers) in claims.sorted(by: { $0.key.version < $1.key.version }) { settle(claim, callers) }
    for index in calls.indices { measure(index) }
  }

  /// A deletion, which everybody is told of who deletes the same record again.
  private struct Claim: Hashable {
    let name: String
    let version: Seq
  }

  /// Who deleted a record that was there left the zone at an earlier seq than those who found it done.
  private mutating func settle(_ claim: Claim, _ callers: [Int]) {
    let firstHeard = callers.compactMap { calls[$0].returned }.min() ?? 0
    let mayBeUnknown = hidden[claim.name, default: []].contains { $0.isDelete && calls[$0.call].invoked < firstHeard }
    let certain = callers.first { didDelete(claim, $0) }
    let possible = callers.filter { mayHaveDeleted(claim, $0) }
    let writer = mayBeUnknown ? nil : possible.min { rank($0) < rank($1) }
    add(Write(name: claim.name, version: claim.version, content: .tombstone, call: certain ?? writer))
  }

  /// It did not ask for nothing to be there, and the other versions up to its end are its own.
  private func mayHaveDeleted(_ claim: Claim, _ call: Int) -> Bool {
    guard case .committed(_, let seq) = calls[call].answer, claim.version <= seq else { return false }
    let accepted = calls[call].decided.compactMap { change, verdict -> Seq? in
      if case .accepted(let version) = verdict { version } else { nil }
    }
    let isFree = calls[call].decided.contains { $0.change.name == claim.name && $0.change.base != .absent }
    return isFree && Set(accepted).isSuperset(of: claim.version...seq)
  }

  /// It was based on a version, and so the record was there; or the deletion lies in the range that the call's other
  /// writes begin.
  private func didDelete(_ claim: Claim, _ call: Int) -> Bool {
    guard case .committed(_, let seq) = calls[call].answer else { return false }
    return calls[call].decided.contains { change, verdict in
      if change.name == claim.name, case .version(let base) = change.base { return base != claim.version }
      guard case .accepted(let version) = verdict, let write = versions[version] else { return false }
      return write.call == call && write.name == change.name && version < claim.version && claim.version <= seq
    }
  }

  private func rank(_ call: Int) -> (Seq, UInt64) {
    guard case .committed(_, let seq) = calls[call].answer else { return (Seq.max, 0) }
    return (seq, calls[call].invoked)
  }

  private mutating func add(_ write: Write) {
    guard write.version > 0 else { return }
    if let other = versions[write.version] {
      if other.name == write.name, other.content == write.content, other.call == write.call { return }
      return find(
        .sharedVersion,
        "\(ZoneHistory.text(other)) and \(ZoneHistory.text(write)) have one version, \(write.version)")
    }
    versions[write.version] = write
    let place = records[write.name, default: []].firstIndex(from: { $0.version > write.version })
    records[write.name, default: []].insert(write, at: place)
  }

  private mutating func find(_ rule: ZoneHistory.Rule, _ explanation: String) {
    findings.append(ZoneHistory.Finding(rule: rule, explanation: explanation))
  }

  /// The range of a commit that was answered.
  private mutating func measure(_ index: Int) {
    guard case .committed(_, let seq) = calls[index].answer else { return }
    let own = calls[index].decided.compactMap { version(of: $0.change, $0.verdict, by: index) }
    guard let first = own.min() else { return }
    // Deletions that may be its own: they fill what would else be holes in its range.
    let possible = calls[index].decided.compactMap { change, verdict -> Seq? in
      guard case .accepted(let version) = verdict, let write = versions[version], write.name == change.name else {
        return nil
      }
      return write.call == nil || write.call == index ? version : nil
    }
    let isWhole = Set(possible).isSuperset(of: first...max(first, seq)) && own.allSatisfy { $0 <= seq }
    if !isWhole || own != own.sorted() {
      find(.scatteredBatch, "the versions \(own) do not lead to \(seq): \(calls[index])")
    }
    note(Range(low: first - 1, high: max(first, seq)), of: index)
  }

  private mutating func note(_ range: Range, of index: Int) {
    ranges[index] = range
    bounds.insert(range, at: bounds.firstIndex(from: { $0.low > range.low }))
  }

  // MARK: Seen

  /// Finds out which of the unknown calls happened, and whether what was seen was ever written.
  mutating func addObservations() {
    for (index, call) in calls.enumerated() {
      for observation in call.observations { add(observation, by: index) }
    }
    findHoles()
    names = records.keys.sorted()
  }

  private mutating func add(_ observation: ZoneCall.Observation, by reader: Int) {
    if let known = versions[observation.version] {
      guard known.name != observation.name || known.content != observation.content else { return }
      return find(
        .nobodyWrote,
        "\(observation) was seen, version \(observation.version) is \(ZoneHistory.text(known)): \(calls[reader])")
    }
    switch observation.content {
    case .value(let value): addValue(value, observation, by: reader)
    case .tombstone:
      guard hidden[observation.name, default: []].contains(where: \.isDelete) else {
        return find(.nobodyWrote, "\(observation) was seen, nobody deleted it then: \(calls[reader])")
      }
      add(Write(name: observation.name, version: observation.version, content: .tombstone, call: nil))
    }
  }

  private mutating func addValue(_ value: String, _ observation: ZoneCall.Observation, by reader: Int) {
    guard let call = saves[value], let name = change(value, of: call)?.name, name == observation.name else {
      return find(.nobodyWrote, "\(observation) was seen, nobody wrote that: \(calls[reader])")
    }
    let first = records[name]?.first { $0.content == observation.content }
    if let first {
      return find(.appliedTwice, "\(observation) was seen, and \(ZoneHistory.text(first)): \(calls[call])")
    }
    guard calls[call].answer == .unknown else {
      return find(.refusedButApplied, "\(observation) was seen by \(calls[reader].process): \(calls[call])")
    }
    happened(call, value, at: observation.version)
  }

  private func change(_ value: String, of call: Int) -> ZoneCall.Change? {
    guard case .commit(let changes, _) = calls[call].request else { return nil }
    return changes.first { $0.action == .save(value) }
  }

  /// An unknown call did. All of it, if it is atomic; and where it only saves, its other versions are known then.
  private mutating func happened(_ call: Int, _ value: String, at version: Seq) {
    guard case .commit(let changes, let isAtomic) = calls[call].request else { return }
    let written = changes.filter { $0.action != .read }
    let isKnown = isAtomic && !written.contains { $0.action == .delete }
    guard isKnown, let place = written.firstIndex(where: { $0.action == .save(value) }), version > Seq(place) else {
      if let change = change(value, of: call) { show(change, of: call, at: version) }
      return
    }
    let low = version - Seq(place) - 1
    for (offset, change) in written.enumerated() { show(change, of: call, at: low + 1 + Seq(offset)) }
    note(Range(low: low, high: low + Seq(written.count)), of: call)
  }

  private mutating func show(_ change: ZoneCall.Change, of call: Int, at version: Seq) {
    guard case .save(let value) = change.action else { return }
    hidden[change.name]?.removeAll { $0.call == call }
    add(Write(name: change.name, version: version, content: .value(value), call: call))
  }

  /// Versions that nobody is known to have written: as many as the unknown calls can have.
  private mutating func findHoles() {
    let highest = max(versions.keys.max() ?? 0, calls.map { $0.highestSeen }.max() ?? 0)
    let holes = Int(clamping: highest) - versions.count
    let possible = hidden.values.reduce(0) { $0 + $1.count }
    guard holes > possible else { return }
    let first = (1...max(1, highest)).first { versions[$0] == nil } ?? 0
    find(.hole, "\(holes) of \(highest) versions were written by nobody, \(first) for one; \(possible) may be unknown")
  }

  // MARK: Questions

  /// What the zone holds under a name at a position; nil: nothing yet.
  func latest(_ name: String, at position: Seq) -> Write? {
    guard let list = records[name] else { return nil }
    let later = list.firstIndex(from: { $0.version > position })
    return later > 0 ? list[later - 1] : nil
  }

  /// The next version of the same record.
  func next(_ name: String, after position: Seq) -> Seq? {
    guard let list = records[name] else { return nil }
    let later = list.firstIndex(from: { $0.version > position })
    return later < list.count ? list[later].version : nil
  }

  /// The version that this call gave the record; nil: none.
  func version(of change: ZoneCall.Change, _ verdict: ZoneCall.Verdict, by call: Int) -> Seq? {
    guard case .accepted(let version) = verdict, versions[version]?.call == call,
      versions[version]?.name == change.name
    else { return nil }
    return version
  }

  func write(to name: String, by call: Int) -> Write? { records[name]?.first { $0.call == call } }
  func range(of call: Int) -> Range? {
    if let range = ranges[call] { return range }
    // An unknown call of which one write was seen.
    guard calls[call].answer == .unknown, case .commit(let changes, _) = calls[call].request else { return nil }
    let seen = changes.compactMap { write(to: $0.name, by: call)?.version }
    guard let first = seen.min() else { return nil }
    return Range(low: first - 1, high: first)
  }

  /// Where a commit found the zone.
  func start(of call: Int) -> Seq {
    if let range = ranges[call] { return range.low }
    if case .committed(_, let seq) = calls[call].answer { return seq }
    return 0
  }

  /// Whether somebody whose answer was lost may have changed the record, and nobody saw it.
  func mayHide(_ name: String, from time: UInt64?) -> Bool {
    hidden[name, default: []].contains { calls[$0.call].invoked < time ?? .max }
  }

  /// No commit is half done there.
  func isBoundary(_ position: Seq) -> Bool { boundary(from: position) == position }

  private func boundary(from position: Seq) -> Seq {
    let later = bounds.firstIndex(from: { $0.low >= position })
    return later > 0 ? max(position, bounds[later - 1].high) : position
  }
}

extension Array {
  /// Index of the first element of which this is true, in an array in which it is true of all from some point on.
  fileprivate func firstIndex(from isBeyond: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension ZoneCall {
  /// The zone had come at least so far.
  fileprivate var highestSeen: Seq {
    switch answer {
    case .unknown, .failed, .fetched: 0
    case .committed(_, let seq): seq
    case .pulled(let page): max(page.last, page.head ?? 0)
    }
  }
}

// MARK: Where a read can stand

extension ZoneWrites {
  /// What an answer says of one record.
  enum View {
    /// This version is there.
    case at(String, Seq)
    /// Nothing is there, or a tombstone.
    case gone(String)
    /// What is there was not written in (after, last], or was deleted so that nobody need hear of it.
    case outside(String, after: Seq, last: Seq)
  }

  /// nil: nothing.
  func view(of name: String, by call: ZoneCall) -> View? {
    switch call.answer {
    case .unknown, .failed: return nil
    case .committed:
      for (change, verdict) in call.decided where change.name == name {
        switch verdict {
        case .accepted(let version): return version > 0 ? .at(name, version) : .gone(name)
        case .conflict(let observation), .read(let observation):
          return observation.map { .at(name, $0.version) } ?? .gone(name)
        case .aborted, .refused: return nil
        }
      }
      return nil
    case .fetched(let observations):
      guard case .fetch(let names) = call.request, names.contains(name) else { return nil }
      return observations.first { $0.name == name }.map { .at(name, $0.version) } ?? .gone(name)
    case .pulled(let page):
      if let observation = page.entries.first(where: { $0.name == name }) { return .at(name, observation.version) }
      guard case .pull(let after) = call.request else { return nil }
      return .outside(name, after: after, last: page.last)
    }
  }

  func views(of call: ZoneCall) -> [View] { names.compactMap { view(of: $0, by: call) } }

  /// The first position, not before `floor`, at which the zone is as all of the views say and no commit half done.
  func earliest(_ views: [View], boundFor call: ZoneCall, from floor: Seq) -> Seq? {
    var place = floor
    var highest = Seq.max
    if case .pulled(let page) = call.answer {
      place = max(floor, page.head ?? page.last)
      if let head = page.head ?? (page.more ? nil : page.last) { highest = head }
    }
    while place <= highest {
      var next = boundary(from: place)
      for view in views {
        guard let fitting = earliest(view, from: next) else { return nil }
        next = fitting
      }
      if next == place { return place }
      place = next
    }
    return nil
  }

  func earliest(_ view: View, from floor: Seq) -> Seq? {
    switch view {
    case .at(let name, let version):
      let place = max(floor, version)
      return latest(name, at: place)?.version == version ? place : nil
    case .gone(let name):
      var place = floor
      while let held = latest(name, at: place), held.content != .tombstone {
        if mayHide(name, from: nil) { return place }
        guard let next = next(name, after: place) else { return nil }
        place = next
      }
      return place
    case .outside(let name, let after, let last):
      var place = floor
      while let held = latest(name, at: place), held.version > after, held.version <= last {
        let wasUnknown = records[name]?.first.map { $0.version > after } ?? true
        // Or somebody wrote it anew, and nobody saw what.
        if held.content == .tombstone && wasUnknown || mayHide(name, from: nil) { return place }
        guard let next = next(name, after: place) else { return nil }
        place = next
      }
      return place
    }
  }
}
