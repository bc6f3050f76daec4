package import CaravanModel
package import CaravanRuntime
internal import Glibc

/// One end of a connection between an app and its agent, on which frames come and go. One task takes them; any may
/// post.
///
/// The event loop receives; what is posted is sent at once if the peer has room, and otherwise by the loop as soon as
/// it has. So a message costs no change of thread, and a slow reader holds up nobody but itself.
package final class FrameSocket: Sendable {
  package struct Bounds: Sendable {
    /// The longest message taken to begin with, the data behind it included.
    package var messageBytes: Int
    /// The same before `admit`; no more than that is received while so much waits to be taken.
    package var helloBytes: Int
    /// While more than this waits to be sent, nothing is received or taken: who does not read is not read.
    package var backlogBytes: Int
    /// A peer that leaves this much unread is cut off.
    package var maximumBacklogBytes: Int
    /// A peer that takes nothing for this long while bytes wait for it, or stops in the middle of a message, is cut off
    /// before twice the time is over; nil: never.
    package var stall: Duration?

    package init(
      messageBytes: Int, helloBytes: Int? = nil, backlogBytes: Int, maximumBacklogBytes: Int, stall: Duration?
    ) {
      self.messageBytes = messageBytes
      self.helloBytes = helloBytes ?? messageBytes
      self.backlogBytes = backlogBytes
      self.maximumBacklogBytes = maximumBacklogBytes
      self.stall = stall
    }
  }

  package enum Event: Sendable {
    case frame(Frame)
    /// `wake` was called.
    case woken
    /// The peer has gone, or was cut off.
    case closed
  }

  typealias Taken = Result<Event, CaravanError>

  struct State {
    var intake: FrameIntake
    /// While so much waits to be taken, nothing more is received.
    var receiveBytes: Int
    var outgoing = Outgoing()
    var isWoken = false
    /// Nothing more comes in: the peer has gone, was cut off, or cannot be understood.
    var isAtEnd = false
    var waiter: (continuation: TaskContinuation<Taken, Never>, wait: UInt64)?
    var lastWait: UInt64 = 0
    var watch: DescriptorWatch?
    var interest: Readiness = []
    /// Grows with whatever comes, goes, or may come again.
    var progress: UInt64 = 0
    var isStallTimed = false
    var isCutOff = false
    var told: (bytes: Int, tell: @Sendable (Int) -> Void)?
  }

  /// The user id of the process at the other end, as the kernel says.
  package let user: UInt32
  private let bounds: Bounds
  private let descriptor: Int32
  private let loop: EventLoop
  private let state: Mutex<State>

  package static let streamType = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
  private static let shortBytes = 16 << 10
  /// Of a peer that has been let in.
  private static let receiveBytes = 64 << 10
  /// In steps of so many bytes it is told what is here: short messages come and go untold.
  private static let toldBytes = 64 << 10
  private static let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

  /// Takes the descriptor over.
  package init(_ descriptor: Int32, _ bounds: Bounds, loop: EventLoop = .main) throws(CaravanError) {
    self.descriptor = descriptor
    self.bounds = bounds
    self.loop = loop
    state = Mutex(
      State(
        intake: FrameIntake(frameBytes: bounds.helloBytes), receiveBytes: min(bounds.helloBytes, Self.receiveBytes)))
    // Room for a piece of an object while the one before it is taken; as much as the system lets everybody have.
    var bufferBytes: Int32 = 2 * Int32(ClientLimits.objectPieceBytes)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bufferBytes, socklen_t(MemoryLayout<Int32>.size))
    var credentials: [Int32] = [0, -1, -1]  // struct ucred: pid, uid, gid
    var length = socklen_t(MemoryLayout<Int32>.size * credentials.count)
    let status = unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
    let code = errno
    user = UInt32(bitPattern: credentials[1])
    guard status == 0 else {
      throw CaravanError(.unavailable, "a connection cannot be set up (error \(code)): retry")
    }
    state.withLock { follow(&$0) }
  }

  deinit {
    state.withLock { $0.watch }?.cancel()
    Glibc.close(descriptor)
  }

  /// The peer left too much unread, took nothing for too long, or stopped in the middle of a message.
  package var isCutOff: Bool { state.withLock { $0.isCutOff } }

  // MARK: Any thread

  /// Sends a message and the data behind it, now or as soon as the peer takes them. After the end they are dropped.
  package func post(_ message: [UInt8], data: ArraySlice<UInt8> = []) {
    // No copy of what is long.
    var frames = [Frame.head(message: message.count, data: data.count)[...]]
    for part in [message[...], data] where !part.isEmpty {
      let isShort = frames.count == 1 && frames[0].count + part.count <= Self.shortBytes
      if isShort { frames[0] += part } else { frames.append(part) }
    }
    state.withLock { state in
      guard !state.outgoing.isClosed else { return }
      state.outgoing.append(frames)
      flush(&state)
      if state.outgoing.bytes > bounds.maximumBacklogBytes {
        state.isCutOff = true
        cutOff(&state)
      }
      follow(&state)
    }
  }

  /// Has the task that takes frames be told `.woken`; not where the peer has gone, who would miss what it is woken for.
  package func wake() {
    change { state in
      if state.interest.contains(.reading) { receive(&state) }
      state.isWoken = true
    }
  }

  /// Has `tell` hear, about, how many bytes are here that came and were not taken, or were posted and not sent. It is
  /// called under the connection's lock, and must not use the connection.
  package func whenHeld(_ tell: @escaping @Sendable (Int) -> Void) {
    state.withLock { state in
      state.told = (0, tell)
      follow(&state)
    }
  }

  /// The peer has said who it is: from now on it may send messages as long as any.
  package func admit() {
    change { state in
      state.intake.frameBytes = bounds.messageBytes
      state.receiveBytes = Self.receiveBytes
    }
  }

  /// Ends the connection; what was posted and not sent is lost, and so is what came and was not taken.
  package func shutDown() {
    change { state in
      cutOff(&state)
      state.intake.clear()
      (state.isAtEnd, state.isWoken) = (true, false)
    }
  }

  /// The next frame, or what else there is to do. One caller at a time.
  /// - Parameter patience: how long at most; then the connection counts as closed.
  /// - Throws: `limitExceeded` for a message beyond the bound, after which nothing more can be understood.
  package func next(within patience: Duration? = nil) async throws(CaravanError) -> Event {
    if let taken = state.withLock({ take(&$0) }) { return try taken.get() }
    let taken: Taken = await withTaskContinuation { continuation in
      let (taken, wait) = state.withLock { state -> (Taken?, UInt64) in
        precondition(state.waiter == nil, "two tasks wait for one connection's frames")
        state.lastWait += 1
        if let taken = take(&state) { return (taken, 0) }
        state.waiter = (continuation, state.lastWait)
        return (nil, state.lastWait)
      }
      if let taken { return continuation.resume(returning: taken) }
      if let patience { loop.call(after: patience) { [weak self] in self?.giveUp(wait) } }
    }
    return try taken.get()
  }

  private func giveUp(_ wait: UInt64) {
    if state.withLock({ $0.waiter?.wait == wait }) { shutDown() }
  }

  // MARK: What changes, under the lock

  /// Changes the state, and tells the waiting task if there is something for it now.
  private func change(_ body: (inout State) -> Void) {
    let (waiter, taken) = state.withLock { state -> (TaskContinuation<Taken, Never>?, Taken) in
      body(&state)
      defer { follow(&state) }
      guard let waiter = state.waiter, let taken = take(&state) else { return (nil, .success(.closed)) }
      state.waiter = nil
      return (waiter.continuation, taken)
    }
    waiter?.resume(returning: taken)
  }

  private func take(_ state: inout State) -> Taken? {
    let isRead = state.outgoing.bytes <= bounds.backlogBytes
    if isRead, let frame = state.intake.popFirst() {
      follow(&state)
      return .success(.frame(frame))
    }
    if state.isAtEnd, state.intake.bytes == 0 {
      if let failure = state.intake.failure { return .failure(failure) }
      return .success(.closed)
    }
    guard state.isWoken else { return nil }
    state.isWoken = false
    return .success(.woken)
  }

  private func cutOff(_ state: inout State) {
    state.outgoing = Outgoing(isClosed: true)
    _ = shutdown(descriptor, Int32(SHUT_RDWR))
  }

  private func flush(_ state: inout State) {
    while !state.outgoing.isEmpty {
      let sent = state.outgoing.send(through: descriptor, Self.flags)
      if sent < 0 {
        if errno == EINTR { continue }
        // What the peer sent before it went is still to be had.
        if errno != EAGAIN { state.outgoing = Outgoing(isClosed: true) }
        return
      }
      state.progress += 1
      state.outgoing.drop(sent)
    }
  }

  /// Watches the descriptor for what is wanted now, and the peer for standing still.
  private func follow(_ state: inout State) {
    let held = (state.intake.heldBytes + state.outgoing.bytes) / Self.toldBytes * Self.toldBytes
    if let told = state.told, told.bytes != held {
      state.told?.bytes = held
      told.tell(held)
    }
    var wanted: Readiness = []
    let hasRoom = state.intake.bytes < state.receiveBytes && state.outgoing.bytes <= bounds.backlogBytes
    if !state.isAtEnd, hasRoom { wanted.insert(.reading) }
    if state.outgoing.bytes > 0 { wanted.insert(.writing) }
    if wanted != state.interest { watch(for: wanted, &state) }
    guard let stall = bounds.stall, state.isStallable, !state.isStallTimed else { return }
    state.isStallTimed = true
    loop.call(after: stall) { [weak self, seen = state.progress] in self?.checkStall(seen) }
  }

  private func watch(for wanted: Readiness, _ state: inout State) {
    if wanted.contains(.reading), !state.interest.contains(.reading) { state.progress += 1 }
    state.interest = wanted
    if let watch = state.watch, !wanted.isEmpty { return watch.change(to: wanted) }
    // Whom nobody watches cannot report, again and again, that the peer has gone.
    state.watch?.cancel()
    state.watch = nil
    guard !wanted.isEmpty else { return }
    do throws(CaravanError) {
      state.watch = try loop.watch(descriptor, for: wanted) { [weak self] in self?.ready($0) }
    } catch {
      cutOff(&state)
      (state.isAtEnd, state.interest) = (true, [])
    }
  }

  // MARK: On the loop

  private func ready(_ readiness: Readiness) {
    change { state in
      if readiness.contains(.writing) { flush(&state) }
      if readiness.contains(.reading), state.interest.contains(.reading) { receive(&state) }
    }
  }

  /// As much as there is, or as is wanted at one time.
  private func receive(_ state: inout State) {
    while !state.isAtEnd, state.intake.bytes < state.receiveBytes {
      var code: Int32 = 0
      let (got, room) = unsafe state.intake.receive { buffer in
        let got = unsafe recv(descriptor, buffer.baseAddress, buffer.count, Self.flags)
        code = errno
        return got
      }
      if got > 0 {
        state.progress += 1
        state.isAtEnd = state.intake.failure != nil
        if got < room { return }
      } else if got == 0 || code != EINTR {
        state.isAtEnd = got == 0 || code != EAGAIN
        return
      }
    }
  }

  private func checkStall(_ seen: UInt64) {
    change { state in
      state.isStallTimed = false
      guard state.isStallable, state.progress == seen else { return }
      state.isCutOff = true
      cutOff(&state)
      state.isAtEnd = true
    }
  }
}

extension FrameSocket.State {
  /// Whether the next step is the peer's, and it has reason to take it.
  fileprivate var isStallable: Bool {
    outgoing.bytes > 0 || intake.isInFrame && interest.contains(.reading)
  }
}
