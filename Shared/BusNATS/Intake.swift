internal import Bus
internal import CNats
internal import Model
internal import Runtime

/// What the library gets as the context of one subscription: takes every message of it. The library holds one
/// reference, which it gives back when the subscription is complete (`SetOnCompleteCB`) and never earlier.
final class Intake: Sendable {
  private let accept: @Sendable (OpaquePointer) -> Void
  private let end: @Sendable () -> Void
  /// Notes what the library itself dropped.
  private let lose: @Sendable (UInt64) -> Void
  /// As far as we know; nil while the library has dropped nothing.
  private let lost = Mutex<Int64?>(nil)

  init(
    accept: @escaping @Sendable (OpaquePointer) -> Void, lose: @escaping @Sendable (UInt64) -> Void = { _ in },
    end: @escaping @Sendable () -> Void = {}
  ) {
    self.accept = accept
    self.lose = lose
    self.end = end
  }

  /// The library counts what it dropped since the subscription began, and says when it begins to drop, but not when
  /// it goes on: whoever calls this once is asked again with every message.
  func noteLost(by subscription: OpaquePointer) {
    var total: Int64 = 0
    guard natsSubscription_GetDropped(subscription, &total) == NATS_OK else { return }
    let new = lost.withLock { lost in
      let known = lost ?? 0
      lost = max(known, total)
      return total - known
    }
    if new > 0 { lose(UInt64(new)) }
  }

  static let onMessage: natsMsgHandler = { _, subscription, message, context in
    guard let message, let context else { return }
    let intake = Unmanaged<Intake>.fromOpaque(context).takeUnretainedValue()
    intake.accept(message)
    natsMsg_Destroy(message)
    if let subscription, intake.lost.withLock({ $0 != nil }) { intake.noteLost(by: subscription) }
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
