import CaravanModel

@testable import CaravanDiffSync

/// A server of diff sync in a few lines: the state of objects with a seq and a timestamp a field, and no log.
struct ModelServer {
  private(set) var objects: [String: ServerObject] = [:]
  private(set) var seq: Seq = 0
  private(set) var incarnation: Incarnation = 1
  /// Purged of tombstones up to here.
  private(set) var floor: Seq = 0
  /// What restores took back.
  private(set) var lost: [LostRange] = []
  private static let gap: Seq = 1_000
  /// By client: up to where it may have created something.
  private var reach: [String: Seq] = [:]
  /// Given back: everybody is shown their tombstones.
  private var regained: Set<String> = []
  private var outcomes: [String: ContinueAnswer] = [:]
  private var turn: (client: String, number: UInt64)?
  private var turns: UInt64 = 0
  /// Where pages go on, and what had been purged by when their first was made.
  private var scans: [[UInt8]: (start: Seq, floor: Seq)] = [:]
  private var cursors = 0
  /// Records of a page.
  var pageRecords = 3

  /// What clients see.
  var state: [String: [String: Value]] {
    objects.filter { !$0.value.isDeleted }.mapValues { $0.fields.mapValues(\.value).filter { $0.value != .null } }
  }

  mutating func begin(_ question: Question, of client: String, now: UInt64) -> BeginAnswer {
    guard case .begin(let height, let incarnation, let cursor, let pushes) = question else { return .busy }
    if pushes, let turn, turn.client != client { return .busy }
    let isOld = incarnation != 0 && incarnation != self.incarnation
    let beginning = cursor.isEmpty ? (start: height, floor: height == 0 ? floor : height) : nil
    guard let scan = scans[cursor] ?? beginning, scan.start <= seq, scan.floor >= floor,
      !isOld || scan.start == 0 && lost.isEmpty
    else { return .invalidHeight(lost: isOld ? lost : []) }
    let start = scan.start
    // A tombstone of what the client cannot hold is left out, as far as the server can tell.
    let known = max(start, reach[client] ?? 0)
    let news = objects.values.filter {
      $0.version > start && (!$0.isDeleted || $0.created <= known || regained.contains($0.uuid))
    }.sorted { $0.version < $1.version }
    let page = news.prefix(pageRecords)
    var token: [UInt8] = []
    if pushes {
      turns += 1
      turn = (client, turns)
      token = [UInt8(truncatingIfNeeded: turns)]
    }
    let more = page.count < news.count
    cursors += 1
    let next = [UInt8(truncatingIfNeeded: cursors), UInt8(truncatingIfNeeded: cursors >> 8)]
    if more { scans[next] = (start: page.last?.version ?? seq, floor: max(scan.floor, page.last?.version ?? 0)) }
    return .page(
      BeginAnswer.Page(
        diffs: page.flatMap { $0.diffs(after: height) }, currentHeight: more ? page.last?.version ?? seq : seq,
        incarnation: self.incarnation, more: more, cursor: more ? next : [], token: token, serverTime: Int64(now)))
  }

  mutating func `continue`(_ attempt: Attempt, of client: String, now: UInt64) -> ContinueAnswer {
    let op = "\(client)/\(attempt.op)"
    if let known = outcomes[op] { return known }
    let answer = apply(attempt, client, now)
    outcomes[op] = answer
    turn = nil
    return answer
  }

  private mutating func apply(_ attempt: Attempt, _ client: String, _ now: UInt64) -> ContinueAnswer {
    guard let turn, turn.client == client, attempt.token == [UInt8(truncatingIfNeeded: turn.number)] else {
      return .refused(Refusal(.invalidSyncToken, ""))
    }
    for diff in attempt.diffs {
      let known = objects[diff.uuid]
      let isLive = known.map { !$0.isDeleted } ?? false
      if diff.isCreate, isLive { return .refused(Refusal(.objectExists, uuid: diff.uuid, "")) }
      if let created = diff.created, lost.contains(where: { $0.contains(created) }) {
        let isForgotten = known == nil && lost.contains { $0.contains(created) && floor > $0.through }
        if isForgotten || diff.isCreate && known?.version ?? 0 > created {
          return .refused(Refusal(.noSuchObject, uuid: diff.uuid, ""))
        }
        regained.insert(diff.uuid)
        continue
      }
      if !diff.isCreate, !isLive { return .refused(Refusal(.noSuchObject, uuid: diff.uuid, "")) }
    }
    for diff in attempt.diffs { write(diff) }
    reach[client] = seq
    return .done(height: seq, incarnation: incarnation)
  }

  /// As the store does: in its own order, stamps as they are.
  private mutating func write(_ diff: Diff) {
    seq += 1
    func field(_ value: Value, _ time: HybridStamp) -> ServerObject.Field {
      ServerObject.Field(value, seq: seq, timestamp: time)
    }
    switch diff.change {
    case .create(let fields):
      objects[diff.uuid] = ServerObject(
        uuid: diff.uuid, objtype: diff.objtype, version: seq, created: seq,
        fields: fields.mapValues { field($0.value, $0.timestamp) })
    case .update(let name, let value):
      objects[diff.uuid]?.fields[name] = field(value, diff.timestamp)
      objects[diff.uuid]?.version = seq
    case .delete:
      objects[diff.uuid] = ServerObject(
        uuid: diff.uuid, objtype: "", version: seq, created: objects[diff.uuid]?.created ?? seq, isDeleted: true)
    }
  }

  /// The turn of a client that vanished is over.
  mutating func expireTurn() { turn = nil }

  /// It cannot read the tokens any more that it gave: it still knows what became of what was sent, but not the height.
  mutating func loseKey() {
    turn = nil
    for (op, answer) in outcomes {
      if case .done(_, let incarnation) = answer { outcomes[op] = .done(height: 0, incarnation: incarnation) }
    }
  }

  /// As it was when `backup` was made.
  mutating func restore(_ backup: ModelServer) {
    let (incarnation, cursors) = (incarnation, cursors)
    self = backup
    (self.incarnation, self.cursors) = (incarnation + 1, cursors)
    lost.append(LostRange(after: seq, through: seq + Self.gap))
    seq += Self.gap + 1
    (turn, scans) = (nil, [:])
  }

  mutating func purge() {
    objects = objects.filter { !$0.value.isDeleted }
    floor = seq
  }
}
