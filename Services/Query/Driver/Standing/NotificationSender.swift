import CaravanModel
import CaravanQueryCore
import CaravanRuntime
import CaravanStorageClient
import CaravanWire

/// Carries notifications of one partition from the outbox to the logs of users, each once: what a log has already, as
/// another instance has written it or this one did not hear the answer, is not written again.
actor NotificationSender {
  private struct LogState {
    /// Of the next notification.
    var number: UInt64 = 1
    /// Of the first one since none of this source was there.
    var since: UInt64 = 1
    /// Versions of the log's records of this source, by their names.
    var versions: [String: Seq] = [:]
    /// What the log has, of this source.
    var known: Set<String> = []
    var order: [String] = []

    mutating func add(_ mark: String) {
      guard known.insert(mark).inserted else { return }
      order.append(mark)
      if order.count > Int(NotificationLog.kept) { known.remove(order.removeFirst()) }
    }
  }

  private let partition: Partition
  private let index: IndexWriter
  private let storage: StorageClient
  private let types: TypeSource
  private let metrics: QueryMetrics
  private let host: Host
  private var logs = BoundedCache<LogKey, LogState>(capacity: QueryLimits.cachedLogs)
  /// Logs that could not be written, until when others go first.
  private var resting: [LogKey: Instant] = [:]

  init(
    _ partition: Partition, index: IndexWriter, storage: StorageClient, types: TypeSource, metrics: QueryMetrics,
    host: Host
  ) {
    self.partition = partition
    self.index = index
    self.storage = storage
    self.types = types
    self.metrics = metrics
    self.host = host
  }

  /// Numbers of a log are its source's own: one source has one writer.
  private var source: UInt32 { partition.number + 1 }

  /// Returns when it is cancelled.
  /// - Throws: what is wrong with the index file.
  func run() async throws(CaravanError) {
    while !Task.isCancelled {
      for log in try await index.logs(in: partition) where resting[log].map({ $0 <= host.clock.now }) ?? true {
        resting[log] = nil
        while !Task.isCancelled, try await sendSome(of: log) {}
      }
      await index.hits(in: partition).wait(atMost: QueryLimits.logPause, clock: host.clock)
    }
  }

  /// - Returns: whether there may be more to send.
  private func sendSome(of log: LogKey) async throws(CaravanError) -> Bool {
    // One that lags behind further than it reaches back would not show them.
    if try await index.hitCount(of: log, in: partition) > NotificationLog.kept { try await giveUp(log) }
    let hits = try await index.hits(of: log, in: partition)
    guard let last = hits.last else { return false }
    do throws(CaravanError) { try await write(hits, to: log) } catch {
      // Whether the log has them is to be seen there.
      logs.remove(log)
      guard !error.isTransient, error.code != .serverRecordChanged else {
        resting[log] = host.clock.now + (error.code == .quotaExceeded ? QueryLimits.fullLogPause : QueryLimits.logPause)
        return false
      }
      // What is wrong with one of them keeps no others: in place of all each subscription is told that it missed some.
      host.log.warning(
        "notifications cannot be written to their log and are given up",
        [.user: log.user.text, .count: hits.count, .error: error])
      try await giveUp(log)
      return false
    }
    try await index.remove(hitsUpTo: last.id, of: log, in: partition)
    return true
  }

  private func giveUp(_ log: LogKey) async throws(CaravanError) {
    metrics.notificationsLost.add(Int(try await index.hitCount(of: log, in: partition)))
    try await index.giveUpHits(of: log, in: partition, at: host.clock.wallTime)
    resting[log] = host.clock.now + QueryLimits.fullLogPause
  }

  /// - Throws: `serverRecordChanged`: another instance has written to the log since this one read it.
  private func write(_ hits: [PendingHit], to log: LogKey) async throws(CaravanError) {
    let database = DatabaseID(container: log.container, environment: log.environment, owner: log.user)
    let zone = try ZoneID(database, NotificationLog.name)
    var state = try await state(of: log, in: zone)
    var mutations: [CaravanModel.Mutation] = []
    for hit in hits where !state.known.contains(hit.mark) {
      guard try await isVisible(hit, to: log.user) else { continue }
      mutations.append(mutation(of: hit, showing: try await shown(by: hit), state))
      state.number += 1
      state.add(hit.mark)
    }
    if !mutations.isEmpty {
      guard case .applied(let outcomes, _, _, _) = try await storage.commit(to: zone, mutations) else {
        throw CaravanError(.internalError, "the log of notifications has not taken what it has to take")
      }
      for (mutation, outcome) in zip(mutations, outcomes) {
        switch outcome {
        case .accepted(let version): state.versions[mutation.name] = version
        case .refused(let error): throw error
        case .conflict, .aborted, .merged, .read:
          throw CaravanError(.serverRecordChanged, "another instance writes to the log of notifications")
        }
      }
    }
    logs.insert(state, for: log)
    metrics.notifications.add(mutations.count)
  }

  /// What a notification shows now: values of fields that were removed since are not told any more.
  private func shown(by hit: PendingHit) async throws(CaravanError) -> RecordFields {
    let shown = try RecordFields(body: hit.shown)
    guard shown.hasValues else { return shown }
    do { return shown.current(in: try await types.type(named: hit.type, of: hit.database, isFresh: false)) } catch {
      guard error.code == .tableNotFound else { throw error }
      return shown.current(in: nil)
    }
  }

  private func mutation(
    of hit: PendingHit, showing shown: RecordFields, _ state: LogState
  ) -> CaravanModel.Mutation {
    let number = state.number
    typealias Field = NotificationLog.Field
    let happening = hit.happening
    var fields = shown
    func set(_ field: Field, _ value: CaravanModel.Value) { fields[field.rawValue] = value }
    set(.subscription, .text(hit.subscription))
    set(.reason, .text(hit.reason.rawValue))
    set(.source, .integer(Int64(source)))
    set(.number, .integer(Int64(number)))
    if state.since > 1 { set(.since, .integer(Int64(state.since))) }
    set(.isPublic, .integer(hit.database.isPublic ? 1 : 0))
    set(.at, .integer(happening.at.milliseconds))
    for (field, text) in [
      (Field.type, hit.type), (.zone, happening.zone), (.record, happening.record), (.device, happening.writer),
    ] where !text.isEmpty { set(field, .text(text)) }
    if happening.version > 0 { set(.version, .integer(Int64(clamping: happening.version))) }
    let expiry = CaravanModel.WriteTerms(expiry: .after(NotificationLog.keptMilliseconds))
    let name = "\(source)-\(number % NotificationLog.kept)"
    return CaravanModel.Mutation(
      name: name, base: state.versions[name].map { .version($0) } ?? .absent,
      change: .save(type: NotificationLog.type.id, body: fields.body, chunks: []), terms: expiry)
  }

  /// What this source has written to a log before.
  private func state(of log: LogKey, in zone: ZoneID) async throws(CaravanError) -> LogState {
    if let known = logs.value(for: log) { return known }
    var found: [PastNotification] = []
    var state = LogState()
    let (entries, head) = try await everything(in: zone)
    // Each notification is a version of the zone, or more: no number was given that is beyond them. Whoever follows the
    // log would not look at one again after all that had it have expired.
    (state.number, state.since) = (head + 1, head + 1)
    for entry in entries where !entry.deleted {
      guard let fields = try? RecordFields(body: entry.body), let past = PastNotification(fields),
        past.source == source
      else { continue }
      found.append(past)
      state.versions[entry.name] = entry.version
    }
    for past in found.sorted(by: { $0.number < $1.number }) {
      (state.number, state.since) = (past.number + 1, past.since)
      state.add(past.mark)
    }
    logs.insert(state, for: log)
    return state
  }

  private func everything(
    in zone: ZoneID
  ) async throws(CaravanError) -> (entries: [CaravanWire.Entry], head: Seq) {
    var request = ReadChangesRequest(
      zone: ZoneRef(zone), maxRecords: UInt32(Limits.queryRows), maxBytes: UInt32(Limits.pageBytes))
    var entries: [CaravanWire.Entry] = []
    while true {
      let reply = try await storage.changes(of: zone, request)
      entries += try EntryPage.decode(reply.page).entries
      guard reply.more, let next = reply.next else { return (entries, reply.head) }
      request.from = next
    }
  }

  /// Whether the subscriber sees the record now, with the roles that they have by now; of one that is gone, whether
  /// they would.
  private func isVisible(_ hit: PendingHit, to user: UserID) async throws(CaravanError) -> Bool {
    guard let viewer = hit.viewer, !hit.type.isEmpty, hit.reason != .missed else { return true }
    do {
      let type = try await types.type(named: hit.type, of: hit.database, isFresh: false)
      let maker = hit.happening.maker
      if type.isVisible(to: viewer, madeBy: maker) { return true }
      let roles = try await types.roles(of: user, among: type.grants?.ownRoles ?? [], in: hit.database)
      return type.isVisible(to: viewer, having: roles, madeBy: maker)
    } catch {
      guard error.code == .tableNotFound else { throw error }
      return false
    }
  }
}

extension PendingHit {
  /// What tells it from every other.
  fileprivate var mark: String {
    NotificationMark.text(
      subscription, isPublic: database.isPublic, reason: reason, zone: happening.zone, record: happening.record,
      version: happening.version, at: happening.at.milliseconds)
  }
}

/// A notification that a log has.
private struct PastNotification {
  let source: UInt32
  let number: UInt64
  let since: UInt64
  let mark: String

  init?(_ fields: RecordFields) {
    typealias Field = NotificationLog.Field
    func text(_ field: Field) -> String {
      if case .text(let text) = fields[field.rawValue] { text } else { "" }
    }
    func number(_ field: Field) -> Int64 {
      if case .integer(let number) = fields[field.rawValue] { number } else { 0 }
    }
    guard let reason = NotificationLog.Reason(rawValue: text(.reason)) else { return nil }
    source = UInt32(clamping: number(.source))
    self.number = UInt64(clamping: number(.number))
    since = UInt64(clamping: number(.since))
    mark = NotificationMark.text(
      text(.subscription), isPublic: number(.isPublic) == 1, reason: reason, zone: text(.zone), record: text(.record),
      version: UInt64(clamping: number(.version)), at: number(.at))
  }
}

private enum NotificationMark {
  /// A version of a record is one notification of a subscription, and so is the beginning or end of a zone's life; that
  /// something was missed is told apart by its time.
  static func text(
    _ subscription: String, isPublic: Bool, reason: NotificationLog.Reason, zone: String, record: String,
    version: UInt64, at: Int64
  ) -> String {
    let moment =
      if record.isEmpty { "\(reason.rawValue)\u{0}\(reason == .missed ? "\(at)" : "\(version)")" } else { "\(version)" }
    return [subscription, isPublic ? "public" : "", zone, record, moment].joined(separator: "\u{0}")
  }
}
