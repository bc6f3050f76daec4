import CaravanModel
import CaravanRuntime
import CaravanSyncCore
import CaravanWire

extension CounterName {
  static let limited = CounterName(
    "caravan_sync_rate_limited_total", "Operations refused for their rate, by whose it was.")
  static let admissions = CounterName(
    "caravan_sync_admissions_total", "Operations under load: postponed, or shed of what may be lost.")
}

/// Who may pass now: rates and admission under load.
final class AdmissionControl: Sendable {
  /// Of all frames, by which production's are let in, and of development's against its share of the places.
  private struct Meters {
    var all = LoadMeter()
    var development = LoadMeter(capacity: Limits.developmentShare(of: SyncLimits.framesInFlight))
  }

  private let meters = Mutex(Meters())
  private let rates: RateLimiter
  private let host: Host
  private let postponed: Counter
  private let shed: Counter

  init(_ limits: RateLimits, host: Host) {
    rates = RateLimiter(limits, counting: .limited, host: host)
    self.host = host
    postponed = host.metrics.counter(.admissions, [.outcome: "postponed"])
    shed = host.metrics.counter(.admissions, [.outcome: "shed"])
  }

  /// A frame is being worked on while `body` runs.
  func countingFrame<R: Sendable>(
    of device: EnrolledDevice, _ body: () async throws(CaravanError) -> R
  ) async throws(CaravanError) -> R {
    let isDevelopment = device.environment == .development
    meters.withLock { meters in
      meters.all.begin()
      if isDevelopment { meters.development.begin() }
    }
    defer {
      meters.withLock { meters in
        meters.all.end()
        if isDevelopment { meters.development.end() }
      }
    }
    return try await body()
  }

  /// Charges for bytes of a frame before they are worked on; a frame costs one access at least.
  /// - Returns: how much that was.
  /// - Throws: `rateLimited`.
  func pass(bytes: Int, of device: EnrolledDevice) throws(CaravanError) -> UInt64 {
    let accesses = max(1, Rate.accesses(bytes: bytes))
    try rates.pass(accesses, from: RateLedger.Payer(device: device, container: ""))
    return accesses
  }

  /// - Throws: `rateLimited`; `serverBusy`, for what can wait as a deferral.
  func pass(_ operation: CaravanWire.Operation, of device: EnrolledDevice, _ prepaid: Prepaid) throws(CaravanError) {
    if let intent = operation.intent { try admit(intent, in: device.environment, at: host.clock.now.nanoseconds) }
    try rates.pass(prepaid.cover(operation.accesses), from: operation.payer(device))
  }

  /// What an operation has cost beside what was known of it before.
  func charge(_ result: CaravanWire.Result.Kind, of operation: CaravanWire.Operation, of device: EnrolledDevice) {
    rates.charge(result.accesses, to: operation.payer(device))
  }

  private func admit(
    _ intent: Admission.Intent, in environment: CaravanModel.Environment, at now: UInt64
  ) throws(CaravanError) {
    let load = meters.withLock { meters in
      let all = meters.all.load(at: now)
      return environment == .production ? all : max(all, meters.development.load(at: now))
    }
    guard load > .quiet else { return }
    switch Admission.decide(intent, under: load, random: host.random.next()) {
    case .admit: return
    case .postpone(let milliseconds):
      postponed.add()
      var error = CaravanError(
        .serverBusy, "there is much to do and this can wait: come again in \(milliseconds) ms",
        retryAfterMilliseconds: milliseconds)
      error.isDeferral = true
      throw error
    case .shed(let milliseconds):
      shed.add()
      throw CaravanError(
        .serverBusy, "there is too much to do: give up what may be lost, and come with the rest",
        retryAfterMilliseconds: milliseconds)
    }
  }

  /// What became of an operation says how storage is.
  func note(_ error: CaravanError, of operation: CaravanWire.Operation) {
    guard error.code == .serverBusy, error != Refusal.replyFull, operation.intent != nil else { return }
    meters.withLock { $0.all.turnedAway(at: host.clock.now.nanoseconds) }
  }
}

extension CaravanWire.Operation {
  /// nil: it has none, and is let in.
  fileprivate var intent: Admission.Intent? {
    switch kind {
    case .push(let push):
      Admission.Intent(slackMilliseconds: push.slackMilliseconds, toleratedRows: push.toleratedRows)
    case .pull(let pull): Admission.Intent(slackMilliseconds: pull.slackMilliseconds)
    default: nil
    }
  }

  fileprivate func payer(_ device: EnrolledDevice) -> RateLedger.Payer {
    RateLedger.Payer(device: device, container: container)
  }

  /// How many records it touches, about (CK-101), and what the chunks cost that it brings; acknowledgements are free. A
  /// group's records count when they are uploaded, and its parts once more when they are read to be committed.
  fileprivate var accesses: UInt64 {
    switch kind {
    case .push(let push): UInt64(max(1, push.mutations.count)) + push.chunks.accesses
    case .read(let read): UInt64(max(1, read.names.count))
    case .upload(let part): UInt64(max(1, part.mutations.count)) + part.chunks.accesses
    case .commitGroup(let commit): UInt64(min(max(1, Int(commit.parts)), Limits.groupParts))
    case .syncContinue(let message): UInt64(max(1, message.diffs.count))
    case .schema(let question):
      SyncLimits.schemaAccesses + UInt64(question.call.count / Int(Limits.bytesPerAccess))
    case .query, .subscriptions, .pushTargets: SyncLimits.queryAccesses
    case .ack: 0
    case .hello, .propose, .settle, .pull, .subscribe, .ticket, .drop, .zones, .createZone, .whoAmI, .lock, .unlock,
      .beginGroup, .operation, .removeOperation, .syncBegin, .changedZones, nil:
      1
    }
  }

  /// Empty: it is about none.
  var container: String {
    switch kind {
    case .push(let push): push.container
    case .settle(let settle): settle.container
    case .pull(let pull): pull.container
    case .drop(let drop): drop.container
    case .read(let read): read.container
    case .createZone(let create): create.container
    case .propose(let proposal): proposal.container
    case .ticket(let request): request.container
    case .zones(let list): list.container
    case .whoAmI(let question): question.container
    case .schema(let question): question.container
    case .query(let question): question.container
    case .subscriptions(let question): question.container
    case .pushTargets(let question): question.container
    case .lock(let lock): lock.container
    case .unlock(let unlock): unlock.container
    case .beginGroup(let begin): begin.container
    case .upload(let part): part.container
    case .commitGroup(let commit): commit.container
    case .operation(let question): question.container
    case .removeOperation(let operation): operation.container
    case .syncBegin(let begin): begin.container
    case .syncContinue(let message): message.container
    case .changedZones(let list): list.container
    case .hello, .subscribe, .ack, nil: ""
    }
  }
}

extension CaravanWire.Result.Kind {
  /// What only the answer tells (CK-101): how much has changed since.
  fileprivate var accesses: UInt64 {
    switch self {
    case .pull(let pulled): Rate.accesses(bytes: pulled.page.count)
    case .syncBegin(let begun): UInt64(begun.diffs.count)
    case .query(let found): Rate.accesses(bytes: found.answer.count)
    default: 0
    }
  }
}

extension [Chunk] {
  fileprivate var accesses: UInt64 { Rate.accesses(bytes: reduce(0) { $0 + $1.data.count }) }
}
