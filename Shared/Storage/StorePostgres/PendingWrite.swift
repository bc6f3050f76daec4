internal import CaravanModel
internal import CaravanRuntime

/// A write that waits for its group, or has its result. A group that is lost with its connection is tried again as a
/// whole, so each step may happen more than once; `finish` ends it.
protocol PendingWrite: AnyObject, Sendable {
  var partition: UInt32 { get }
  /// What it brings into the transaction, about.
  var byteCount: Int { get }
  /// Until when it waits for a server that cannot be reached.
  var deadline: Instant { get }
  var isDone: Bool { get }
  func want(_ wants: inout Wants)
  /// Decides on what was read. One that refuses leaves the state as it was.
  func decide(_ state: PartitionState)
  /// The decision has been sent, and what became of it was never heard.
  func leaveInDoubt()
  /// The transaction is durable, or `error` says why nothing of it is.
  func finish(_ outcome: Result<PartitionState, CaravanError>)
}

/// What a write answers once its group is durable; conflicts show what the store holds then.
typealias Answer<Value> = @Sendable (PartitionState) throws(CaravanError) -> Value

final class Write<Value: Sendable>: PendingWrite {
  private struct State {
    var decision: Result<Answer<Value>, CaravanError>?
    var isInDoubt = false
    var result: Result<Value, CaravanError>?
  }

  let partition: UInt32
  let byteCount: Int
  let deadline: Instant
  private let wants: @Sendable (inout Wants) -> Void
  private let work: @Sendable (PartitionState) throws(CaravanError) -> Answer<Value>
  private let state = Mutex(State())

  init(
    _ partition: Partition, bytes: Int, deadline: Instant, wants: @escaping @Sendable (inout Wants) -> Void,
    _ work: @escaping @Sendable (PartitionState) throws(CaravanError) -> Answer<Value>
  ) {
    self.partition = partition.number
    byteCount = bytes
    self.deadline = deadline
    self.wants = wants
    self.work = work
  }

  var isDone: Bool { state.withLock { $0.result != nil } }

  func want(_ wants: inout Wants) { self.wants(&wants) }

  func decide(_ partition: PartitionState) {
    let decision: Result<Answer<Value>, CaravanError>
    do { decision = .success(try work(partition)) } catch { decision = .failure(error) }
    state.withLock { $0.decision = decision }
  }

  func leaveInDoubt() { state.withLock { $0.isInDoubt = true } }

  func finish(_ outcome: Result<PartitionState, CaravanError>) {
    let (decision, isInDoubt) = state.withLock { ($0.decision, $0.isInDoubt) }
    let result: Result<Value, CaravanError>
    switch (outcome, decision) {
    case (.success, nil): preconditionFailure("a write was finished before it was decided")
    // A refusal of its own says more than the failure of its group.
    case (_, .failure(let refusal)): result = .failure(refusal)
    case (.success(let partition), .success(let answer)):
      do { result = .success(try answer(partition)) } catch { result = .failure(error) }
    case (.failure(let error), _): result = .failure(isInDoubt ? Self.doubtful : error)
    }
    state.withLock { $0.result = result }
  }

  private static var doubtful: CaravanError {
    CaravanError(.timedOut, "it may have been written, storage's PostgreSQL was lost before it said so: ask again")
  }

  func value() throws(CaravanError) -> Value {
    guard let result = state.withLock({ $0.result }) else {
      preconditionFailure("a write was asked for its result before its group ended")
    }
    return try result.get()
  }
}
