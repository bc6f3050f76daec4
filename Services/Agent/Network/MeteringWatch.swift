internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// Whether the link's bytes cost, by NetworkManager's word, as long as there is a system bus to hear it on.
final class MeteringWatch: Sendable {
  /// Between two looks for a bus that is not there: hardly ever does one come later.
  private static let retry: Duration = .seconds(600)

  private let systemBus: String
  private let host: Host
  private let changed: Signal
  private let socket = Mutex<SystemBusSocket?>(nil)

  init(systemBus: String, host: Host, changed: Signal) {
    self.systemBus = systemBus
    self.host = host
    self.changed = changed
  }

  /// Nil: nobody knows.
  var isMetered: Bool? { socket.withLock { $0 }?.isMetered }

  /// Until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      do throws(CaravanError) {
        let connection = try SystemBusSocket(systemBus, changed: changed)
        socket.withLock { $0 = connection }
        await connection.untilClosed()
        socket.withLock { $0 = nil }
        changed.raise()
      } catch {
        host.log.debug("nobody says whether the link is metered", [.error: error])
      }
      try? await host.clock.sleep(for: Self.retry)
    }
  }
}

/// A connection with the system's D-Bus.
final class SystemBusSocket: Sendable {
  private static let bufferBytes = 16 << 10

  private let descriptor: Int32
  private let changed: Signal
  private let dialogue = Mutex(MeteringDialogue())
  private let watch = Mutex<DescriptorWatch?>(nil)
  private let closed = Latch()

  init(_ path: String, changed: Signal) throws(CaravanError) {
    self.changed = changed
    descriptor = try Self.connect(to: path)
    guard post(MeteringDialogue.opening(user: geteuid())) else {
      throw CaravanError(.unavailable, "the system bus at '\(path)' does not listen")
    }
    let watch = try EventLoop.main.watch(descriptor, for: .reading) { [weak self] _ in self?.read() }
    self.watch.withLock { $0 = watch }
  }

  deinit {
    watch.withLock { $0 }?.cancel()
    Glibc.close(descriptor)
  }

  private static func connect(to path: String) throws(CaravanError) -> Int32 {
    let address = try UnixAddress(path)
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0, address.connect(descriptor) else {
      let code = errno
      if descriptor >= 0 { Glibc.close(descriptor) }
      throw CaravanError(.unavailable, "there is no system bus at '\(path)' (error \(code))")
    }
    return descriptor
  }

  var isMetered: Bool? { closed.isOpen ? nil : dialogue.withLock { $0.isMetered } }

  /// Or until the task is cancelled.
  func untilClosed() async { await closed.wait() }

  // MARK: On the loop

  private func read() {
    var count = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.bufferBytes) { buffer, filled in
      count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      filled = max(0, count)
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    let (answer, hasChanged) = dialogue.withLock { dialogue -> ([UInt8]?, Bool) in
      let before = dialogue.isMetered
      let answer = count > 0 ? try? dialogue.receive(bytes) : nil
      return (answer, dialogue.isMetered != before)
    }
    if hasChanged { changed.raise() }
    guard let answer, post(answer) else { return close() }
  }

  private func close() {
    watch.withLock { $0 }?.cancel()
    closed.open()
  }

  /// What is said fits into an empty socket; where it does not, nobody listens.
  private func post(_ bytes: [UInt8]) -> Bool {
    unsafe send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) == bytes.count
  }
}
