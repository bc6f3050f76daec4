internal import CaravanCLICore
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// Keeps one process of the suite running: starts it again when it dies, ends it in order when told to.
struct Keeper: Service {
  /// What a process gets between SIGTERM and SIGKILL.
  static let patience: Duration = .seconds(5)

  let name: String
  let processes: ProcessTable
  let host: Host
  let start: @Sendable () async throws(CaravanError) -> ChildProcess
  private let stop = Latch()

  init(
    _ name: String, processes: ProcessTable, host: Host,
    start: @escaping @Sendable () async throws(CaravanError) -> ChildProcess
  ) {
    self.name = name
    self.processes = processes
    self.host = host
    self.start = start
  }

  func run() async {
    var policy = RestartPolicy()
    while !stop.isOpen && !Task.isCancelled {
      let begin = host.clock.now
      let end = await live()
      guard !stop.isOpen && !Task.isCancelled else { break }
      processes.died(name)
      let wait = policy.died(after: host.clock.now - begin)
      host.log.warning("a process ended unasked and is started again", [.service: name, .reason: end, .duration: wait])
      await pause(wait)
    }
    processes.ended(name)
  }

  func shutDown() { stop.open() }

  /// One life of the process; says how it ended.
  private func live() async -> String {
    let child: ChildProcess
    do throws(CaravanError) { child = try await start() } catch { return error.message }
    processes.started(name, child.identifier)
    host.log.info("started", [.service: name, .process: Int(child.identifier)])
    return await withTaskCancellationHandler {
      await withTaskGroup(of: String?.self) { group in
        group.addTask { await Self.text(child.wait()) }
        group.addTask {
          await stop.wait()
          guard !Task.isCancelled else { return nil }
          await child.stop(within: Self.patience, clock: host.clock)
          return nil
        }
        let end = await group.next() ?? nil
        group.cancelAll()
        await group.waitForAll()
        return end ?? "it was told to"
      }
    } onCancel: {
      child.kill()
    }
  }

  private static func text(_ exit: ChildProcess.Exit) -> String {
    switch exit {
    case .code(let code): "exit code \(code)"
    case .signal(let signal): "signal \(signal)"
    }
  }

  private func pause(_ wait: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await host.clock.sleep(for: wait) }
      group.addTask { await stop.wait() }
      await group.next()
      group.cancelAll()
    }
  }
}
