public import CaravanModel

/// A client of diff sync as a value: its objects with its own changes in them, the log of those pending, and where it
/// stands. Asks with `question` and goes on with what `hear` makes of the answer; whoever carries it out keeps objects,
/// log and standing in one transaction, before the next question is sent.
public struct Replica: Sendable, Hashable {
  /// D. Those that the log and the next answer speak of are enough.
  public var objects: [String: Object] = [:]
  /// L: pending diffs, in the order they were made.
  public private(set) var log: [Diff]
  public private(set) var standing: Standing
  /// Objects whose deletion is pending.
  private var deleted: Set<String> = []
  /// Merged with the last page and not committed: it waits for the answer to the SYNC_CONTINUE (step 9).
  private var round: Round?
  /// What this value put aside, of objects that turned out to be gone: to be kept with the rest.
  public var aside: [String: UnsentObject] = [:]
  /// How often this value began again at height 0, with all its objects stale, those outside `objects`, too.
  public private(set) var restarts = 0

  private struct Round: Hashable {
    let merge: Merge
    /// Of U, what had no room in the SYNC_CONTINUE.
    let rest: [Diff]
    let serverTime: Int64
    /// Up to which the page has shown everything.
    let height: Seq
  }

  public init(log: [Diff] = [], standing: Standing = Standing()) {
    self.log = log
    self.standing = standing
    deleted = Self.deleted(log)
  }

  private static func deleted(_ log: [Diff]) -> Set<String> { Set(log.lazy.filter(\.isDelete).map(\.uuid)) }

  private mutating func replaceLog(_ diffs: [Diff]) {
    log = diffs
    deleted = Self.deleted(diffs)
  }

  // MARK: What the app does

  /// - Throws: `objectExists`, also for one that was deleted here and not at the server yet; `limitExceeded`.
  public mutating func create(
    _ uuid: String, _ objtype: String, _ fields: [String: Value], at wall: Int64
  ) throws(CaravanError) {
    guard objects[uuid] == nil, !deleted.contains(uuid) else {
      throw CaravanError(.objectExists, "there is or was an object '\(uuid)': give each object a uuid of its own")
    }
    let stamp = standing.clock.stamp(at: wall)
    let present = fields.filter { $0.value != .null }
    try record(
      Diff(timestamp: stamp, objtype: objtype, uuid: uuid, .create(present.mapValues { Stamped($0, at: stamp) })))
  }

  /// - Throws: `noSuchObject`; `invalidData` for the field `uuid`; `limitExceeded`.
  public mutating func update(_ uuid: String, _ field: String, _ value: Value, at wall: Int64) throws(CaravanError) {
    guard field != Diff.uuidField else {
      throw CaravanError(.invalidData, "the uuid of object '\(uuid)' cannot change: create another object")
    }
    let stamp = standing.clock.stamp(at: wall)
    try record(
      Diff(timestamp: stamp, objtype: try objtype(of: uuid), uuid: uuid, .update(field: field, value)))
  }

  /// - Throws: `noSuchObject`.
  public mutating func delete(_ uuid: String, at wall: Int64) throws(CaravanError) {
    let stamp = standing.clock.stamp(at: wall)
    try record(
      Diff(
        timestamp: stamp, objtype: try objtype(of: uuid), uuid: uuid, .delete, created: objects[uuid]?.created))
  }

  private func objtype(of uuid: String) throws(CaravanError) -> String {
    guard let object = objects[uuid] else {
      throw CaravanError(.noSuchObject, "there is no object '\(uuid)'")
    }
    return object.objtype
  }

  private mutating func record(_ diff: Diff) throws(CaravanError) {
    try diff.check()
    guard log.count < DiffLimits.pendingDiffs else {
      throw CaravanError(.limitExceeded, "\(log.count) diffs are pending, which is the limit: sync first")
    }
    log.append(diff)
    if diff.isDelete { deleted.insert(diff.uuid) }
    objects.apply(diff)
  }

  // MARK: Questions

  public var question: Question {
    if let attempt = standing.attempt { return .continue(attempt) }
    return .begin(
      height: standing.height, incarnation: standing.incarnation, cursor: standing.cursor, pushes: !log.isEmpty)
  }

  /// Objects that must be in `objects` when an answer is heard, if they are anywhere, and that it may change.
  public func touched(by answer: BeginAnswer) -> Set<String> {
    switch answer {
    case .page(let page): Set(log.lazy.map(\.uuid)).union(page.diffs.lazy.map(\.uuid))
    case .busy: []
    case .invalidHeight: Set(log.lazy.map(\.uuid))
    }
  }

  /// Whether the answer ends a restart after a restore: then objects that are still stale must be in `objects`, too.
  public func givesBack(_ answer: BeginAnswer) -> Bool {
    guard case .page(let page) = answer else { return false }
    return !page.more && standing.isRestarting && !standing.lost.isEmpty
  }

  public func touched(by answer: ContinueAnswer) -> Set<String> {
    switch answer {
    case .done:
      Set(log.lazy.map(\.uuid)).union(round?.merge.touched ?? []).union(standing.attempt?.diffs.map(\.uuid) ?? [])
    case .refused(let refusal): [refusal.uuid]
    }
  }

  /// - Parameter wall: Unix milliseconds on the client.
  public mutating func hear(_ answer: BeginAnswer, at wall: Int64) -> Step {
    switch answer {
    case .busy: return .later
    case .invalidHeight(let lost): return restart(lost)
    case .page(let page): return hear(page, at: wall)
    }
  }

  /// From the beginning, with everything that is pending. The server is told of the life the client comes from, until
  /// it has said what of that life is lost.
  private mutating func restart(_ lost: [LostRange] = []) -> Step {
    (standing.height, standing.cursor) = (0, [])
    if !lost.isEmpty { standing.incarnation = 0 }
    if !lost.isEmpty || !standing.isRestarting { standing.lost = lost }
    standing.isRestarting = true
    restarts += 1
    let created = Set(log.lazy.filter(\.isCreate).map(\.uuid))
    for uuid in objects.keys { objects[uuid]?.isStale = !created.contains(uuid) }
    return .again
  }

  private mutating func hear(_ page: BeginAnswer.Page, at wall: Int64) -> Step {
    let serverTime = HybridStamp(milliseconds: page.serverTime)
    standing.clock.hear(serverTime: page.serverTime, at: wall)
    standing.clock.see(page.diffs)
    // For good: what the app does next is stamped by the corrected clock, and is later.
    replaceLog(log.map { $0.made(by: serverTime) })
    var merge = Merge(objects: objects, log: log, server: page.diffs, serverTime: serverTime, isLast: !page.more)
    if standing.isRestarting { merge.giveBack(standing.lost) }
    merge.run(after: page.currentHeight)
    if !page.more, standing.isRestarting { merge.settleStale(standing.lost, after: page.currentHeight) }
    // Without its turn the client sends nothing: what is pending came up after it had asked.
    guard !page.more, !page.token.isEmpty, !merge.upstream.isEmpty else {
      objects = merge.objects
      aside.merge(merge.aside) { $1 }
      replaceLog(merge.upstream.map(\.pending))
      standing.incarnation = page.incarnation
      standing.cursor = page.cursor
      if page.more { return .again }
      finish(at: page.currentHeight)
      return log.isEmpty ? .finished(release: page.token) : .again
    }
    let portion = merge.portion()
    standing.incarnation = page.incarnation
    standing.attempt = Attempt(
      op: standing.nextOp, token: page.token, diffs: merge.upstream[..<portion].map(standing.lost.claiming),
      covers: log.count)
    round = Round(
      merge: merge, rest: merge.upstream[portion...].map(\.pending), serverTime: page.serverTime,
      height: page.currentHeight)
    return .again
  }

  /// A server that cannot read the token any more says no height, and one that was restored meanwhile says a height of
  /// another life: the client has what the page has shown, and asks for the rest from there.
  private mutating func finish(_ round: Round, at height: Seq, _ incarnation: Incarnation) {
    let isSameLife = standing.incarnation == 0 || incarnation == standing.incarnation
    guard height > 0, isSameLife else { return finish(at: round.height) }
    standing.incarnation = incarnation
    finish(at: height)
  }

  private mutating func finish(at height: Seq) {
    (standing.height, standing.cursor) = (height, [])
    standing.isComplete = true
    standing.isRestarting = false
  }

  // MARK: Step 9

  public mutating func hear(_ answer: ContinueAnswer) -> Step {
    guard let attempt = standing.attempt else { return .again }
    defer { round = nil }
    standing.attempt = nil
    standing.nextOp = attempt.op + 1
    switch answer {
    case .done(let height, let incarnation):
      guard let round else {
        prune(attempt, at: height)
        // From height 0 no server can tell that it has forgotten the delete of what was sent.
        return standing.height == 0 ? restart() : .again
      }
      commit(round, attempt, at: height)
      finish(round, at: height, incarnation)
      // From height 0 no server can tell that it has forgotten the delete of what was sent.
      guard standing.height > 0 else { return restart() }
      return log.isEmpty ? .finished(release: []) : .again
    case .refused(let refusal): return rollBack(refusal)
    }
  }

  /// The merge becomes the client's state. What the app did meanwhile is merged the same way, with what took effect.
  private mutating func commit(_ round: Round, _ attempt: Attempt, at height: Seq) {
    let later = Array(log[min(attempt.covers, log.count)...])
    let merged = round.merge.objects
    for uuid in round.merge.touched { objects[uuid] = merged[uuid] }
    aside.merge(round.merge.aside) { $1 }
    replaceLog(round.rest + later)
    settle(attempt, at: height)
    guard !later.isEmpty else { return }
    for diff in later { objects.apply(diff) }
    var second = Merge(
      objects: objects, log: Array(log[round.rest.count...]), server: round.merge.applied,
      serverTime: max(HybridStamp(milliseconds: round.serverTime), standing.clock.last))
    second.run(after: 0)
    objects = second.objects
    replaceLog(round.rest + second.upstream.map(\.pending))
  }

  /// The answer came in another life than the question: what was sent is at the server, and the diffs it was merged
  /// with come again, as the height stays.
  private mutating func prune(_ attempt: Attempt, at height: Seq) {
    let sent = Set(attempt.diffs.map(\.uuid))
    replaceLog(log.enumerated().filter { $0 >= attempt.covers || !sent.contains($1.uuid) }.map(\.element))
    settle(attempt, at: height)
  }

  /// The server has what was sent. Where others wrote meanwhile it says no height, and shows by and by where it put it.
  private mutating func settle(_ attempt: Attempt, at height: Seq) {
    guard let first = attempt.diffs.first?.height else { return }
    let created = height >= first ? height : nil
    for diff in attempt.diffs { objects.settle(diff, at: created) }
    let creates = Set(attempt.diffs.lazy.filter(\.isCreate).map(\.uuid))
    for index in log.indices where log[index].isDelete && creates.contains(log[index].uuid) {
      log[index].created = created
    }
  }

  /// Nothing happened here or there; from SYNC_BEGIN once more.
  private mutating func rollBack(_ refusal: Refusal) -> Step {
    switch refusal.status {
    case .ok, .objectExists, .invalidSyncToken: return .again
    case .noSuchObject:
      // Everything the server knows was merged before: it is gone there, and what is pending on it is moot.
      replaceLog(log.filter { $0.uuid != refusal.uuid })
      objects[refusal.uuid] = nil
      return .again
    case .invalidData, .malformedUpdate, .malformedUpdateUUID: return .failed(refusal)
    }
  }
}
