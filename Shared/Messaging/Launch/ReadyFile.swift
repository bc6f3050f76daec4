internal import CaravanModel
public import CaravanRuntime
internal import Glibc

extension Flag where Value == String? {
  public static var readyFile: Flag<String?> {
    Flag(
      "ready-file", "FILE", "touched every 2 s while the process does its work",
      environment: "CARAVAN_READY_FILE")
  }
}

/// The tell-tale for whoever looks at the process from outside, a container's health check: a file whose age says
/// whether it does its work. It goes when the process stops in order.
public struct ReadyFile: Service {
  public static let period: Duration = .seconds(2)

  private let path: String
  private let host: Host
  private let doesItsWork: @Sendable () -> Bool
  private let stop = Latch()

  init(_ path: String, host: Host, doesItsWork: @escaping @Sendable () -> Bool) {
    self.path = path
    self.host = host
    self.doesItsWork = doesItsWork
  }

  /// One where `--ready-file` asks for it, else none.
  /// - Parameter doesItsWork: asked every time; false leaves the file to grow old.
  public static func services(
    _ options: Options, host: Host, doesItsWork: @escaping @Sendable () -> Bool = { true }
  ) -> [any Service] {
    options[Flag<String?>.readyFile].map { [ReadyFile($0, host: host, doesItsWork: doesItsWork)] } ?? []
  }

  public func run() async {
    var hasComplained = false
    while !stop.isOpen && !Task.isCancelled {
      if doesItsWork(), let complaint = touch(), !hasComplained {
        host.log.warning("the ready file cannot be touched", [.path: path, .error: complaint])
        hasComplained = true
      }
      await pause()
    }
    _ = unsafe unlink(path)
  }

  public func shutDown() { stop.open() }

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
    // The file may lie where everybody writes: no link is followed, and no pipe holds the process up.
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return SystemError.text(errno) }
    defer { close(descriptor) }
    return futimens(descriptor, nil) == 0 ? nil : SystemError.text(errno)
  }
}
