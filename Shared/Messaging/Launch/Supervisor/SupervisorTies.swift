public import CaravanRuntime

/// Tells a supervisor that asked for it that the process is ready, that it still does its work, and that it stops:
/// systemd's `Type=notify` with `WatchdogSec=`. A process that no longer answers itself feeds no watchdog, and is
/// started anew by its supervisor.
public struct SupervisorTies: Service {
  private let socket: NotifySocket
  /// How often the watchdog is fed: at half its patience, as sd_watchdog_enabled(3) recommends; nil: there is none.
  let period: Duration?
  private let clock: any Clock
  private let doesItsWork: @Sendable () async -> Bool
  private let stop = Latch()

  /// While a process that is not ready yet, or ailing, is asked again.
  static let impatience: Duration = .seconds(1)

  /// - Parameter process: this one's number; a watchdog may be meant for another.
  /// - Returns: nil when there is no supervisor that wants to know.
  init?(
    environment: [String: String], process: Int, clock: any Clock, doesItsWork: @escaping @Sendable () async -> Bool
  ) {
    guard let socket = NotifySocket(environment: environment) else { return nil }
    self.socket = socket
    self.clock = clock
    self.doesItsWork = doesItsWork
    let isMine = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
    let patience = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
    period = isMine && patience > 0 ? .microseconds(max(1, patience / 2)) : nil
  }

  /// One where a supervisor wants to know, else none. They come last in a group: whoever is told that the process stops
  /// is told first.
  /// - Parameter doesItsWork: asked at each meal of the watchdog; whoever does not answer is not fed.
  public static func services(
    host: Host, environment: [String: String] = Command.environment,
    doesItsWork: @escaping @Sendable () async -> Bool
  ) -> [any Service] {
    let ties = SupervisorTies(
      environment: environment, process: host.process.identifier, clock: host.clock, doesItsWork: doesItsWork)
    return ties.map { [$0] } ?? []
  }

  public func run() async {
    var isReady = false
    while !stop.isOpen && !Task.isCancelled {
      let isWell = await doesItsWork()
      if isWell, !stop.isOpen {
        socket.tell(isReady ? "WATCHDOG=1" : "READY=1\nWATCHDOG=1")
        isReady = true
      }
      await pause(isWell ? period : min(Self.impatience, period ?? Self.impatience))
    }
    socket.tell("STOPPING=1")
  }

  public func shutDown() { stop.open() }

  /// - Parameter duration: nil: until the end.
  private func pause(_ duration: Duration?) async {
    await withTaskGroup(of: Void.self) { group in
      if let duration { group.addTask { try? await clock.sleep(for: duration) } }
      group.addTask { await stop.wait() }
      await group.next()
      group.cancelAll()
    }
  }
}
