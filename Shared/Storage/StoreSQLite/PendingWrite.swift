internal import CaravanModel
internal import CaravanRuntime

/// A write that waits for its group, or has its result.
protocol PendingWrite: AnyObject, Sendable {
  /// What it brings into the transaction, about.
  var byteCount: Int { get }
  /// Whether it survives a power cut on return, or only once a later write does.
  var isDurable: Bool { get }
  var isDone: Bool { get }
  /// Why it was refused, once it is done.
  var failure: CaravanError? { get }
  /// Does its work inside the open transaction, for the first time or again. The result shows once `finish` is called.
  /// - Returns: whether it did not fail. What a failed one has done is undone only under a savepoint.
  @discardableResult
  func run(_ state: FileState, under guarding: WriteGuard) -> Bool
  /// The transaction is durable, or `error` says why nothing of it is.
  func finish(_ error: CaravanError?)
}

/// What undoes a write that fails.
enum WriteGuard {
  /// The end of the whole transaction.
  case transaction
  case savepoint
}

final class Write<Value: Sendable>: PendingWrite {
  private struct State {
    var result: Result<Value, CaravanError>?
    var isDone = false
  }

  let byteCount: Int
  let isDurable: Bool
  private let work: @Sendable (FileState) throws(CaravanError) -> Value
  private let state = Mutex(State())

  init(
    byteCount: Int, isDurable: Bool = true, _ work: @escaping @Sendable (FileState) throws(CaravanError) -> Value
  ) {
    self.byteCount = byteCount
    self.isDurable = isDurable
    self.work = work
  }

  var isDone: Bool { state.withLock { $0.isDone } }

  var failure: CaravanError? {
    state.withLock { if case .failure(let error)? = $0.result { error } else { nil } }
  }

  func run(_ file: FileState, under guarding: WriteGuard) -> Bool {
    let result: Result<Value, CaravanError>
    do throws(CaravanError) {
      switch guarding {
      case .transaction: result = .success(try work(file))
      case .savepoint: result = .success(try file.perform(work))
      }
    } catch { result = .failure(error) }
    state.withLock { $0.result = result }
    if case .failure = result { return false }
    return true
  }

  func finish(_ error: CaravanError?) {
    state.withLock { state in
      // A refusal of its own says more than the failure of its group.
      let isRefused = if case .failure? = state.result { true } else { false }
      if let error, !isRefused { state.result = .failure(error) }
      state.isDone = true
    }
  }

  func value() throws(CaravanError) -> Value {
    guard let result = state.withLock({ $0.isDone ? $0.result : nil }) else {
      preconditionFailure("a write was asked for its result before its group ended")
    }
    return try result.get()
  }
}
