internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStore
internal import CaravanTestKit
internal import CaravanWire

/// Writes down what happens in a run, for the checkers and for people.
final class Recorder: Sendable {
  private struct State {
    var history = History()
    var lines: [String] = []
    /// All of them, where the cluster's path is kept.
    var notes: [(step: UInt64, line: String)] = []
    var numbers: [String: Int] = [:]
    /// Commits of the second store, whose versions are known before they are entered into the log.
    var elsewhere: Set<Elsewhere> = []
  }

  private struct Elsewhere: Hashable {
    let incarnation: Incarnation
    let high: Seq
    let isDeletion: Bool

    init(_ log: LoggedCommit) { (incarnation, high, isDeletion) = (log.incarnation, log.high, log.isDeletion) }
  }

  /// Lines of the trace that a report shows.
  private static let linesKept = 400

  private let simulation: Simulation
  private let state = Mutex(State())
  /// Called with every line; for people who watch.
  private let listener: (@Sendable (String) -> Void)?

  init(_ simulation: Simulation, listener: (@Sendable (String) -> Void)?) {
    self.simulation = simulation
    self.listener = listener
  }

  var history: History { state.withLock { $0.history } }
  var lines: [String] { state.withLock { $0.lines } }
  var notes: [(step: UInt64, line: String)] { state.withLock { $0.notes } }
  var writeCount: Int { state.withLock { $0.history.writes.count } }
  var versionCount: Int { state.withLock { $0.history.committed } }

  /// Part of the trace, and so of its hash.
  func note(_ event: String) {
    simulation.trace(event)
    let line = "\(Self.time(simulation.now)) \(event)"
    listener?(line)
    let step = simulation.settings.isComparable ? simulation.steps : nil
    state.withLock { state in
      if let step { state.notes.append((step, line)) }
      if state.lines.count >= 2 * Self.linesKept { state.lines.removeFirst(Self.linesKept) }
      state.lines.append(line)
    }
  }

  static func time(_ instant: Instant) -> String {
    let milliseconds = instant.nanoseconds / 1_000_000
    let fraction = String(milliseconds % 1_000)
    return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)s"
  }

  // MARK: What apps do

  func newTag(_ device: String) -> ChangeTag {
    state.withLock { state in
      state.numbers[device, default: 0] += 1
      return ChangeTag(device: device, number: state.numbers[device] ?? 0)
    }
  }

  func attempt(_ write: LocalWrite) {
    note("\(write.tag) \(write.kind) in \(write.place)\(write.parents.isEmpty ? "" : " over \(write.parents)")")
    state.withLock { $0.history.writes[write.tag] = write }
  }

  func overwrites(_ tag: ChangeTag) { state.withLock { _ = $0.history.overwritten.insert(tag) } }

  func conclude(_ tag: ChangeTag, _ standing: Standing) {
    note("\(tag) \(standing)")
    state.withLock { state in
      state.history.writes[tag]?.standing = standing
      if standing == .acknowledged { state.history.acknowledged[tag.device, default: []].append(.write(tag)) }
    }
  }

  /// - Returns: names it for `conclude`.
  func attempt(_ decision: Decision) -> Int {
    let theirs = decision.theirs.map { "\($0)" } ?? "nothing"
    note("\(decision.device) decides \(decision.row): \(decision.mine) against \(theirs), \(decision.choice)")
    return state.withLock { state in
      state.history.decisions.append(decision)
      return state.history.decisions.count - 1
    }
  }

  func conclude(decision index: Int, _ standing: Standing) {
    state.withLock { state in
      state.history.decisions[index].standing = standing
      let device = state.history.decisions[index].device
      if standing == .acknowledged { state.history.acknowledged[device, default: []].append(.decision(index)) }
    }
  }

  /// Acknowledged events of the device so far.
  func ownWrites(_ device: String) -> Int { state.withLock { $0.history.acknowledged[device]?.count ?? 0 } }

  func read(_ reading: Reading) {
    note("\(reading.device) read \(reading.rows.count) rows of \(reading.place)")
    state.withLock { $0.history.readings.append(reading) }
  }

  func witnessed(_ calls: [ZoneCall]) {
    note("\(calls.count) calls were witnessed, \(calls.count { $0.answer == .unknown }) of them without an answer")
    state.withLock { $0.history.calls = calls }
  }

  /// Whose table it is in; nil: nobody wrote it.
  func owner(of tag: ChangeTag) -> String? { state.withLock { $0.history.writes[tag]?.place.user } }

  func intruded(_ what: String) {
    note(what)
    state.withLock { $0.history.intrusions.append(what) }
  }

  func denied(_ what: String) {
    note(what)
    state.withLock { $0.history.denials.append(what) }
  }

  func trespassed(_ what: String) {
    note(what)
    state.withLock { $0.history.trespasses.append(what) }
  }

  func read(_ snapshot: SeenSnapshot) {
    note("a snapshot of \(snapshot.place) at \(snapshot.seq) has \(snapshot.rows.count) rows")
    state.withLock { $0.history.snapshots.append(snapshot) }
  }

  /// What the cloud holds now: of each zone the versions up to here, of each partition's log the positions.
  func restored(_ zones: [Place: UInt64], _ heads: [UInt32: UInt64]) {
    note("the cloud is as it was in its backup")
    state.withLock { state in
      state.history.restores += 1
      let isLost = { (version: Version) in version.seq > zones[version.row.place] ?? 0 }
      state.history.forget(isLost)
      state.history.pastPairs.append(state.history.pairs)
      let kept = zones.first { $0.key.app == AtomicPairs.container }?.value ?? 0
      state.history.pairs.removeAll { $0.high > kept }
      state.history.log.removeAll { $0.position > heads[$0.partition] ?? 0 }
    }
  }

  /// What somebody saw who looks at one promise only.
  func saw(_ what: String, _ keep: (inout History) -> Void) {
    note(what)
    state.withLock { keep(&$0.history) }
  }

  func watched(_ event: WatchEvent, by user: String) {
    saw("\(user): \(event)") { $0.watches[user, default: []].append(event) }
  }

  func pushed(_ event: PushEvent) { saw("\(event)") { $0.pushes.append(event) } }

  func starved(_ reader: String) { state.withLock { $0.history.starved.append(reader) } }
  func ownersDisagree(_ problem: String) { state.withLock { $0.history.end.ownerProblems.append(problem) } }
  func stalled(_ reasons: [String]) { state.withLock { $0.history.end.stalled = reasons } }
  func diffSyncEnded(_ problems: [String]) { state.withLock { $0.history.end.diffSyncProblems = problems } }
  func end(_ outcome: History.Outcome) { state.withLock { $0.history.end = outcome } }

  // MARK: What tables keep

  /// Nil: everything, always.
  func share(of device: String, _ place: Place) -> Share? { state.withLock { $0.history.shares[device]?[place]?.last } }

  func keeps(_ share: Share, of place: Place, on device: String) {
    note("\(device) keeps \(share) of \(place)")
    state.withLock { $0.history.shares[device, default: [:]][place, default: []].append(share) }
  }

  // MARK: What the cloud commits

  func committed(_ change: CommittedChange) {
    let log = change.log
    if state.withLock({ $0.elsewhere.contains(Elsewhere(log)) }) {
      return record(log, partition: change.partition, [])
    }
    guard let owner = log.zone.database.owner?.text else { return record(log, partition: change.partition, []) }
    let place = Place(user: owner, app: log.zone.database.container.text, table: log.zone.name)
    let versions = isOfApps(log) ? versions(of: change, in: place) : []
    record(log, partition: change.partition, change.entries.map(\.version))
    take(versions)
    takePairs(change, in: place)
    for event in Self.watched(change) { watched(event, by: owner) }
    Self.pushed(change).forEach(pushed)
  }

  /// In the second store.
  func committedElsewhere(_ change: CommittedChange) {
    let log = change.log
    guard let owner = log.zone.database.owner?.text else { return }
    state.withLock { _ = $0.elsewhere.insert(Elsewhere(log)) }
    let place = Place(user: owner, app: log.zone.database.container.text, table: log.zone.name)
    if isOfApps(log) { take(versions(of: change, in: place)) }
    takePairs(change, in: place)
    for event in Self.watched(change) { watched(event, by: owner) }
    Self.pushed(change).forEach(pushed)
  }

  private func takePairs(_ change: CommittedChange, in place: Place) {
    guard place.app == AtomicPairs.container else { return }
    let pairs = change.entries.filter { AtomicPairs.isHalf($0.name) }
    let versions = Dictionary(pairs.map { ($0.name, $0.isDeleted ? nil : $0.version) }) { $1 }
    let commit = PairCommit(writer: Self.device(of: change.log.writer), versions: versions, high: change.log.high)
    state.withLock { $0.history.pairs.append(commit) }
  }

  private func isOfApps(_ log: LoggedCommit) -> Bool {
    ![.system, Witnesses.container, Rot.container, ContainerID(unchecked: Subscribers.container)].contains(
      log.zone.database.container)
  }

  private func take(_ versions: [Version]) {
    for version in versions {
      note(
        "cloud has \(version.row) at \(version.seq): \(version.tag.map { "\($0)" } ?? "deleted by \(version.writer)")")
    }
    state.withLock { state in
      state.history.commit(versions)
      for case (let tag?, let row) in versions.map({ ($0.tag, $0.row) })
      where state.history.shares[tag.device]?[row.place]?.last == .own {
        state.history.strays.append("\(tag) in \(row) is at the cloud, where it is to stay on its device")
      }
    }
  }

  private func versions(of change: CommittedChange, in place: Place) -> [Version] {
    let log = change.log
    guard !log.isDeletion else {
      var rows: [RowKey: Version] = [:]
      for version in history.versions where version.row.place == place { rows[version.row] = version }
      return rows.values.filter { $0.tag != nil }.map {
        Version(
          $0.row, seq: log.high, tag: nil, writer: Self.device(of: log.writer), incarnation: log.incarnation,
          wentWithZone: true)
      }.sorted { $0.row < $1.row }
    }
    return change.entries.map {
      Version(
        RowKey(place, $0.name), seq: $0.version, tag: Self.tag(of: $0), writer: Self.device(of: $0.writer),
        incarnation: log.incarnation)
    }
  }

  private func record(_ log: LoggedCommit, partition: Partition, _ seqs: [Seq]) {
    state.withLock { state in
      state.history.log.append(
        Logged(
          partition: partition.number, position: log.position, zone: "\(log.zone)", low: log.low, high: log.high,
          seqs: seqs, life: state.history.restores))
    }
  }

  /// The cloud names a writer by user, name and enrolment number; of a name there is one device here.
  private static func device(of writer: String) -> String {
    let parts = writer.split(separator: "/")
    return parts.count == 3 ? String(parts[1]) : writer
  }

  /// The only cell that looks like one.
  static func tag(of entry: CaravanModel.Entry) -> ChangeTag? {
    guard !entry.isDeleted, let record = try? RecordFields(body: entry.body) else { return nil }
    for (_, value) in record.ascending {
      if case .text(let text) = value, let tag = ChangeTag(text) { return tag }
    }
    return nil
  }
}

/// Writes commits down, and passes them on. What a dead process still commits goes nowhere: its files are others now.
final class RecordingObserver: CommitObserver {
  private let recorder: Recorder
  private let next: any CommitObserver
  private let isElsewhere: Bool
  private let isCurrent: @Sendable () -> Bool

  /// - Parameter isElsewhere: they are entered into the log of another store, which is heard too.
  init(
    _ recorder: Recorder, next: any CommitObserver, isElsewhere: Bool = false,
    isCurrent: @escaping @Sendable () -> Bool
  ) {
    self.recorder = recorder
    self.isElsewhere = isElsewhere
    self.next = next
    self.isCurrent = isCurrent
  }

  func committed(_ group: [CommittedChange]) {
    guard isCurrent() else { return }
    for change in group {
      if isElsewhere { recorder.committedElsewhere(change) } else { recorder.committed(change) }
    }
    next.committed(group)
  }
}
