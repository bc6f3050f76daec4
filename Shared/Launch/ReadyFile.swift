internal import BusNATS
internal import Glibc
internal import Model
public import Runtime

extension Flag where Value == String? {
  public static var readyFile: Flag<String?> {
    Flag(
      "ready-file", "FILE", "touched every 2 s while the process is connected and serves",
      environment: "CARAVAN_READY_FILE")
  }
}

/// The tell-tale for whoever looks at the process from outside, a container's health check: a file whose age says
/// whether it is connected and serves. It goes when the process stops in order.
struct ReadyFile: Service {
  static let period: Duration = .seconds(2)

  let path: String
  let bus: NATSBus
  let host: Host
  private let stop = Latch()

  init(_ path: String, bus: NATSBus, host: Host) {
    self.path = path
    self.bus = bus
    self.host = host
  }

  func run() async {
    var hasComplained = false
    while !stop.isOpen && !Task.isCancelled {
      if bus.isConnected, let complaint = touch(), !hasComplained {
        host.log.warning("the ready file cannot be touched", [.path: path, .error: complaint])
        hasComplained = true
      }
      await pause()
    }
    _ = unsafe unlink(path)
  }

  func shutDown() { stop.open() }

  private func pause() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await host.clock.sleep(for: Self.period) }
      group.addTask { await stop.wait() }
      await group.next()
      group.cancelAll()
    }
  }

  /// What the system says when it does not work.
  private func touch() -> String? {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return SystemError.text(errno) }
    defer { close(descriptor) }
    return futimens(descriptor, nil) == 0 ? nil : SystemError.text(errno)
  }
}
