internal import CCaravanNats
internal import CaravanRuntime
internal import Glibc

/// Reads and writes the broker's socket on the event loop, for libnats (nats.h, `natsOptions_SetEventLoop`): what
/// arrives is handed out in the turn that reads it, and what a turn publishes leaves in one write at its end.
final class BrokerSocket: Sendable {
  private struct State {
    var connection: Handle?
    var watch: DescriptorWatch?
    /// The library has something to write.
    var isWriting = false
    var isAwaitingRoom = false
  }

  private let loop: EventLoop
  private let state = Mutex(State())
  private let traffic = Traffic()
  /// Called on the loop's thread after what had arrived was parsed, with the number of messages.
  private let received: @Sendable (Int) -> Void

  init(loop: EventLoop, received: @escaping @Sendable (Int) -> Void) {
    self.loop = loop
    self.received = received
  }

  // MARK: What the library asks for, on any thread, with its locks held

  /// There is a connection, with a new socket after each reconnection.
  func attach(_ connection: Handle, _ descriptor: Int32) -> Bool {
    Self.keepAlive(descriptor)
    let watch = try? loop.watch(descriptor, for: .reading) { [weak self] in self?.process($0) }
    guard let watch else { return false }
    state.withLock { $0 = State(connection: connection, watch: watch) }
    return true
  }

  /// Signs of life are the kernel's affair (tcp(7)): asking by pings wakes three threads each time. A system that has
  /// no such option has pings still.
  private static func keepAlive(_ descriptor: Int32) {
    func set(_ option: Int32, of level: Int32, to value: Int32) {
      var value = value
      setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
    let (idle, interval, count) = NATSLimits.keepAlive
    let tcp = Int32(IPPROTO_TCP)
    set(TCP_KEEPIDLE, of: tcp, to: idle)
    set(TCP_KEEPINTVL, of: tcp, to: interval)
    set(TCP_KEEPCNT, of: tcp, to: count)
    set(SO_KEEPALIVE, of: SOL_SOCKET, to: 1)
  }

  /// The library closes the socket after this.
  func stop() {
    let watch = state.withLock { state in
      defer { state = State() }
      return state.watch
    }
    watch?.cancel()
  }

  func startWriting() {
    state.withLock { $0.isWriting = true }
    loop.callAtEndOfTurn { [weak self] in self?.write() }
  }

  func stopWriting() { state.withLock { $0.isWriting = false } }

  func flush() { if loop.isCurrent { write() } }

  // MARK: On the loop

  private func process(_ readiness: Readiness) {
    if readiness.contains(.reading), let connection = state.withLock({ $0.connection }) {
      natsConnection_ProcessReadEvent(connection.pointer)
      received(traffic.arrived(over: connection))
    }
    if readiness.contains(.writing) { write() }
  }

  private func write() {
    let connection = state.withLock { $0.isWriting ? $0.connection : nil }
    guard let connection else { return }
    natsConnection_ProcessWriteEvent(connection.pointer)
    // What the socket did not take has to wait until it does.
    let change = state.withLock { state -> (DescriptorWatch, Bool)? in
      guard state.isWriting != state.isAwaitingRoom, let watch = state.watch else { return nil }
      state.isAwaitingRoom = state.isWriting
      return (watch, state.isWriting)
    }
    if let (watch, isWriting) = change { watch.change(to: isWriting ? [.reading, .writing] : .reading) }
  }
}

/// How many messages a connection brings.
private final class Traffic: Sendable {
  private let figures: Handle?
  private let counted = Mutex<UInt64>(0)

  init() {
    var pointer: OpaquePointer?
    natsStatistics_Create(&pointer)
    figures = pointer.map { Handle(pointer: $0) }
  }

  deinit { natsStatistics_Destroy(figures?.pointer) }

  /// - Returns: since it was asked last; more than any could be where the library does not say.
  func arrived(over connection: Handle) -> Int {
    var messages: UInt64 = 0
    guard let figures, natsConnection_GetStats(connection.pointer, figures.pointer) == NATS_OK,
      natsStatistics_GetCounts(figures.pointer, &messages, nil, nil, nil, nil) == NATS_OK
    else { return .max }
    return counted.withLock { counted in
      defer { counted = messages }
      return Int(clamping: messages &- counted)
    }
  }
}
