public import Synchronization

#if THREAD_SANITIZER
  internal import CCaravanThreadSanitizer
#endif

/// The one lock of this house: `Synchronization.Mutex`, of which the thread sanitizer can be told. That one locks
/// inside a library that is not instrumented, so without help the sanitizer takes whatever it guards for a race.
public struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let base: Synchronization.Mutex<Value>

  #if THREAD_SANITIZER
    /// The address of a byte that nobody reads or writes.
    private let token = UInt(bitPattern: UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

    public init(_ value: consuming sending Value) { base = Synchronization.Mutex(value) }

    deinit { unsafe UnsafeMutableRawPointer(bitPattern: token)?.deallocate() }

    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      let token = token
      return try base.withLock { (value) throws(Failure) -> sending Result in
        unsafe __tsan_acquire(UnsafeMutableRawPointer(bitPattern: token))
        defer { unsafe __tsan_release(UnsafeMutableRawPointer(bitPattern: token)) }
        return try body(&value)
      }
    }
  #else
    @inlinable public init(_ value: consuming sending Value) { base = Synchronization.Mutex(value) }

    /// Runs `body` with the value, alone. Never resume, log, call out or wait in it.
    @inlinable public borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try base.withLock(body)
    }
  #endif
}
