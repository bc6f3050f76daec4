public import CaravanModel
public import CaravanRuntime
internal import Glibc

/// A process that this one started, and waits for. It gets SIGKILL when this process dies, however that happens
/// (`setpriv --pdeathsig`, where util-linux is there), and shares no file with it but its output.
public final class ChildProcess: Service {
  public enum Exit: Sendable, Equatable {
    case code(Int32)
    case signal(Int32)
  }

  private enum State {
    case running
    case over(Exit)
  }

  public let identifier: Int32
  private let program: String
  private let thread: ChildThread
  private let state = Mutex(State.running)
  private let wasAsked = Latch()

  private init(_ identifier: Int32, _ program: String, _ thread: ChildThread) {
    self.identifier = identifier
    self.program = program
    self.thread = thread
  }

  /// A backstop: whoever starts a process waits for its end.
  deinit {
    kill()
    _ = reapBlocking()
  }

  /// - Throws: `invalidData` when the program cannot be started.
  public static func start(_ command: ChildCommand, host: Host) async throws(CaravanError) -> ChildProcess {
    // The parent of the kernel's memory is the thread: it must live as long as the child may.
    let thread = ChildThread(host.executors.makeSerial("child"))
    let identifier = try await thread.run { () throws(CaravanError) in try command.spawnBlocking() }
    return ChildProcess(identifier, command.program, thread)
  }

  public var isRunning: Bool {
    state.withLock { state in
      guard case .running = state else { return false }
      var information = unsafe siginfo_t()
      // With nothing to tell, it succeeds and leaves the number 0.
      let status = unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | WNOHANG)
      return unsafe status == 0 && information.si_signo == 0
    }
  }

  /// Waits for the end; does not ask for it.
  public func wait() async -> Exit { await thread.run { self.reapBlocking() } }

  /// SIGTERM: asks it to end in order.
  public func terminate() {
    wasAsked.open()
    send(SIGTERM)
  }

  /// SIGKILL: as a crash.
  public func kill() {
    wasAsked.open()
    send(SIGKILL)
  }

  /// SIGTERM, and SIGKILL after `deadline`.
  @discardableResult
  public func stop(within deadline: Duration = .seconds(5), clock: any Clock) async -> Exit {
    terminate()
    return await withTaskGroup(of: Void.self) { group in
      group.addTask {
        guard (try? await clock.sleep(for: deadline)) != nil else { return }
        self.kill()
      }
      defer { group.cancelAll() }
      return await wait()
    }
  }

  /// - Throws: `internalError` when it ends without having been asked to.
  public func run() async throws {
    let exit = await withTaskCancellationHandler {
      await wait()
    } onCancel: {
      kill()
    }
    if !wasAsked.isOpen { throw CaravanError(.internalError, "\(program) ended unasked: \(exit)") }
  }

  public func shutDown() { terminate() }

  /// The lock keeps the number from being given to another process between the look and the signal.
  private func send(_ signal: Int32) {
    state.withLock { state in
      if case .running = state { _ = Glibc.kill(identifier, signal) }
    }
  }

  private func reapBlocking() -> Exit {
    var information = unsafe siginfo_t()
    // Leaves it a zombie, so that nobody else gets its number before the state says so.
    while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    return state.withLock { state in
      if case .over(let exit) = state { return exit }
      var status: Int32 = 0
      _ = unsafe waitpid(identifier, &status, 0)
      let exit: Exit = status & 0x7f == 0 ? .code(status >> 8 & 0xff) : .signal(status & 0x7f)
      state = .over(exit)
      return exit
    }
  }
}

/// The thread that started a process, and waits for it.
actor ChildThread {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  init(_ executor: any SerialExecutor) { self.executor = executor }

  func run<R: Sendable, E: Error>(_ body: @Sendable () throws(E) -> R) throws(E) -> R { try body() }
}
