#if THREAD_SANITIZER
  internal import CCaravanThreadSanitizer
#endif

/// A task that waits to be resumed, once: `CheckedContinuation`, of which the thread sanitizer can be told. A task that
/// is resumed before it has suspended goes on without a word to the sanitizer, which then takes whatever it was given
/// for a race.
public struct TaskContinuation<Value, Failure: Error>: Sendable {
  @usableFromInline let base: CheckedContinuation<Value, Failure>

  #if THREAD_SANITIZER
    /// The address of a byte that nobody reads or writes, freed when the task goes on.
    fileprivate let token: UInt

    fileprivate init(_ base: CheckedContinuation<Value, Failure>, _ token: UInt) {
      self.base = base
      self.token = token
    }
  #else
    @inlinable init(_ base: CheckedContinuation<Value, Failure>) { self.base = base }
  #endif

  @inlinable public func resume(returning value: sending Value) {
    release()
    base.resume(returning: value)
  }

  @inlinable public func resume(throwing error: Failure) {
    release()
    base.resume(throwing: error)
  }

  @inlinable public func resume(with result: sending Result<Value, Failure>) {
    release()
    base.resume(with: result)
  }

  #if THREAD_SANITIZER
    @usableFromInline func release() { unsafe __tsan_release(UnsafeMutableRawPointer(bitPattern: token)) }
  #else
    @inlinable func release() {}
  #endif
}

extension TaskContinuation where Value == Void {
  @inlinable public func resume() { resume(returning: ()) }
}

#if THREAD_SANITIZER
  private struct Token: ~Copyable {
    let address = UInt(bitPattern: UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

    consuming func acquire() { unsafe __tsan_acquire(UnsafeMutableRawPointer(bitPattern: address)) }

    deinit { unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
  }

  public func withTaskContinuation<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: (TaskContinuation<Value, Never>) -> Void
  ) async -> sending Value {
    let token = Token()
    let value = await withCheckedContinuation(isolation: isolation) { body(TaskContinuation($0, token.address)) }
    token.acquire()
    return value
  }

  public func withThrowingTaskContinuation<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: (TaskContinuation<Value, any Error>) -> Void
  ) async throws -> sending Value {
    let token = Token()
    let result: Result<Value, any Error>
    do {
      result = .success(
        try await withCheckedThrowingContinuation(isolation: isolation) { body(TaskContinuation($0, token.address)) })
    } catch { result = .failure(error) }
    token.acquire()
    return try result.get()
  }
#else
  /// Suspends the task until `body`'s continuation is resumed.
  @inlinable public func withTaskContinuation<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: (TaskContinuation<Value, Never>) -> Void
  ) async -> sending Value {
    await withCheckedContinuation(isolation: isolation) { body(TaskContinuation($0)) }
  }

  /// Suspends the task until `body`'s continuation is resumed.
  /// - Throws: what it is resumed with.
  @inlinable public func withThrowingTaskContinuation<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: (TaskContinuation<Value, any Error>) -> Void
  ) async throws -> sending Value {
    try await withCheckedThrowingContinuation(isolation: isolation) { body(TaskContinuation($0)) }
  }
#endif
