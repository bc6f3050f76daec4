internal import CaravanBus
internal import CaravanDiffSync
public import CaravanModel
internal import CaravanRuntime
internal import CaravanSyncClient
internal import CaravanWire

/// What one sync did.
public struct SyncReport: Sendable, Hashable {
  /// Diffs that came.
  public var pulled = 0
  /// Diffs that went.
  public var pushed = 0
  /// Objects with unsent edits that are gone at the server (`DiffSyncClient.setAsideObjects`).
  public var aside = 0
}

/// Bounds of a client's syncs.
public enum DiffSyncLimits {
  /// For one answer.
  public static let deadline: Duration = .seconds(30)
  /// Questions of one sync, each with its page or part.
  public static let questions = 10_000
  /// Times that a turn is asked for before a sync gives up.
  public static let turns = 60
  /// Before asking for a turn again, where the server does not say.
  public static let turnMilliseconds: UInt32 = 100
  /// Refusals in a row after which a sync gives up: each begins again with what the server has by then.
  public static let refusals = 10
}

extension DiffSyncClient {
  /// What an app does before its user sees anything: agrees on its types and syncs, so that a new device is complete
  /// before it is used first. One that is complete works without a connection ever after (DIF-02).
  /// - Returns: nil on a complete device that could not sync now: it has what it had, and `sync()` may be called later.
  /// - Throws: what `agree(on:)` and `sync()` throw; on a complete device only what does not pass by itself.
  @discardableResult
  public func signIn(_ types: [String: [CaravanModel.FieldDefinition]]) async throws(CaravanError) -> SyncReport? {
    do throws(CaravanError) {
      for (objtype, fields) in types.sorted(by: { $0.key < $1.key }) { try await agree(on: objtype, fields) }
      return try await sync()
    } catch {
      guard isComplete, error.isTransient, error.code != .cancelled else { throw error }
      return nil
    }
  }

  /// Brings everything from the server and everything pending to it. After an error call it again, at any time: it goes
  /// on where it was, and what was sent without an answer is asked about first.
  /// - Throws: `serverBusy` when other clients of the user sync all the time; `invalidData` when the server will not
  ///   have what is pending; `limitExceeded` when too much was put aside; what the connection says.
  @discardableResult
  public func sync() async throws(CaravanError) -> SyncReport {
    guard !isSyncing else {
      throw CaravanError(.serverBusy, "this client syncs already: wait for that", retryAfterMilliseconds: 100)
    }
    isSyncing = true
    defer { isSyncing = false }
    if !replica.standing.lost.isEmpty, replica.standing.isRestarting { try await agreeAgain() }
    try requireRoomAside()
    var report = SyncReport()
    foundAside = 0
    var (turns, refusals) = (0, 0)
    for _ in 0..<DiffSyncLimits.questions {
      let (step, answer) = try await askNext(&report)
      switch step {
      case .finished(let token):
        // Others wait no longer than they would for a client that vanished.
        if !token.isEmpty { _ = try? await ask(.syncContinue(message(token: token))) }
        report.aside = foundAside
        return report
      case .failed(let refusal): throw CaravanError(.invalidData, refusal.message)
      case .again:
        guard case .refused(let refusal) = answer else { continue }
        refusals += 1
        guard refusals < DiffSyncLimits.refusals else {
          throw CaravanError(.serverBusy, refusal.message, retryAfterMilliseconds: DiffSyncLimits.turnMilliseconds)
        }
      case .later:
        guard case .later(let wait) = answer else { continue }
        turns += 1
        guard turns < DiffSyncLimits.turns else {
          throw CaravanError(
            .serverBusy, "another client of '\(configuration.device.user)' syncs: try later",
            retryAfterMilliseconds: wait)
        }
        // Some of it at random, so that those who wait do not come back together.
        let milliseconds = Int64(wait / 2) + Int64(host.random.below(UInt64(wait) + 1))
        try? await host.clock.sleep(for: .milliseconds(milliseconds))
        if Task.isCancelled { throw CaravanError(.cancelled, "the sync was given up") }
      }
    }
    throw CaravanError(.serverBusy, "a sync did not end within \(DiffSyncLimits.questions) questions: try later")
  }

  enum Answer {
    case page
    case later(UInt32)
    case done
    case refused(Refusal)
  }

  func askNext(_ report: inout SyncReport) async throws(CaravanError) -> (Step, Answer) {
    switch replica.question {
    case .begin(let height, let incarnation, let cursor, let pushes):
      let begin = SyncBegin(
        container: configuration.container.text, zone: configuration.zone, lastSyncHeight: height,
        incarnation: incarnation, cursor: cursor, pushes: pushes)
      guard case .syncBegin(let result) = try await ask(.syncBegin(begin)) else { throw Self.strange }
      let answer = try result.model()
      let step = try hear(answer)
      if case .invalidHeight(let lost) = answer, !lost.isEmpty { try await agreeAgain() }
      report.pulled += result.diffs.count
      guard result.status == .serverBusy else { return (step, .page) }
      return (step, .later(max(result.retryAfterMilliseconds, DiffSyncLimits.turnMilliseconds)))
    case .continue(let attempt):
      var message = SyncContinue(attempt)
      (message.container, message.zone) = (configuration.container.text, configuration.zone)
      guard case .syncContinue(let result) = try await ask(.syncContinue(message)) else { throw Self.strange }
      let answer = result.model()
      let step = try hear(answer)
      if case .refused(let refusal) = answer { return (step, .refused(refusal)) }
      report.pushed += attempt.diffs.count
      return (step, .done)
    }
  }

  private func message(token: [UInt8]) -> SyncContinue {
    SyncContinue(container: configuration.container.text, zone: configuration.zone, token: token)
  }

  func propose(_ type: CaravanModel.RecordType) async throws(CaravanError) -> CaravanModel.RecordType {
    let proposal = ProposeTable(container: configuration.container.text, type: CaravanWire.RecordType(type))
    guard case .type(let agreed) = try await ask(.propose(proposal)) else { throw Self.strange }
    return try agreed.model()
  }

  private static var strange: CaravanError {
    CaravanError(.internalError, "the server answered with something else: update client or server")
  }

  private func ask(_ kind: CaravanWire.Operation.Kind) async throws(CaravanError) -> CaravanWire.Result.Kind {
    try await SyncClient(bus: bus, device: configuration.device, epoch: epoch).ask(
      kind, deadline: DiffSyncLimits.deadline)
  }
}
