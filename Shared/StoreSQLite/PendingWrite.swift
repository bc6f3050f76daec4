internal import Model
internal import Runtime

/// A write that waits for its group, or has its result.
protocol PendingWrite: AnyObject, Sendable {
  /// What it brings into the transaction, about.
  var byteCount: Int { get }
  var isDone: Bool { get }
  /// Does its work inside the open transaction. The result shows once `finish` is called.
  func run(_ state: FileState)
  /// The transaction is durable, or `error` says why nothing of it is.
  func finish(_ error: CaravanError?)
}

final class Write<Value: Sendable>: PendingWrite {
  private struct State {
    var result: Result<Value, CaravanError>?
    var isDone = false
  }

  let byteCount: Int
  private let work: @Sendable (FileState) throws(CaravanError) -> Value
  private let state = Mutex(State())

  init(byteCount: Int, _ work: @escaping @Sendable (FileState) throws(CaravanError) -> Value) {
    self.byteCount = byteCount
    self.work = work
  }

  var isDone: Bool { state.withLock { $0.isDone } }

  func run(_ file: FileState) {
    let result: Result<Value, CaravanError>
    do { result = .success(try file.perform(work)) } catch { result = .failure(error) }
    state.withLock { $0.result = result }
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
