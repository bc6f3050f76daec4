internal import Bus
internal import CNats
internal import Model
internal import Synchronization

/// What the library gets as the context of one subscription: takes every message of it. The library holds one
/// reference, which it gives back when the subscription is complete (`SetOnCompleteCB`) and never earlier.
final class Intake: Sendable {
  private let accept: @Sendable (OpaquePointer) -> Void
  private let end: @Sendable () -> Void
  /// Notes what the library itself dropped.
  private let lose: @Sendable (UInt64) -> Void
  private let lost = Mutex<Int64>(0)

  init(
    accept: @escaping @Sendable (OpaquePointer) -> Void, lose: @escaping @Sendable (UInt64) -> Void = { _ in },
    end: @escaping @Sendable () -> Void = {}
  ) {
    self.accept = accept
    self.lose = lose
    self.end = end
  }

  /// The library counts what it dropped since the subscription began.
  func noteLost(_ total: Int64) {
    let new = lost.withLock { lost in
      defer { lost = max(lost, total) }
      return total - lost
    }
    if new > 0 { lose(UInt64(new)) }
  }

  static let onMessage: natsMsgHandler = { _, _, message, context in
    guard let message else { return }
    if let context { Unmanaged<Intake>.fromOpaque(context).takeUnretainedValue().accept(message) }
    natsMsg_Destroy(message)
  }

  static let onComplete: natsOnCompleteCB = { context in
    guard let context else { return }
    let intake = Unmanaged<Intake>.fromOpaque(context).takeRetainedValue()
    intake.end()
  }
}

/// One subscription at the library.
final class LibrarySubscription: Sendable {
  let handle: Handle

  private let context: ConnectionContext

  /// The library's handle is ours to destroy.
  init(_ handle: Handle, _ context: ConnectionContext) {
    self.handle = handle
    self.context = context
  }

  deinit {
    context.forget(handle)
    natsSubscription_Destroy(handle.pointer)
  }

  /// Takes no more; what is on its way is still delivered, then the context's `end` is called.
  func leave(isConnected: Bool) {
    let status =
      isConnected
      ? natsSubscription_DrainTimeout(handle.pointer, NATSLimits.drainTimeout.milliseconds) : NATS_ILLEGAL_STATE
    if status != NATS_OK { natsSubscription_Unsubscribe(handle.pointer) }
  }
}
