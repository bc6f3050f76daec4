/// Lets a process that mostly waits be small: a while after it has started, the code that only its start needed leaves
/// memory (of the agent's 20 MB, 5 to 8), and so does what the start has freed.
public struct Settling: Service {
  /// By then a connection has been made, and what waited for it has been sent.
  static let patience: Duration = .seconds(10)

  private let clock: any Clock
  private let giveBack: @Sendable () -> Void
  private let stop = Latch()

  public init(host: Host) {
    self.init(clock: host.clock) {
      FreeMemory.giveBack()
      MappedCode.giveBack()
    }
  }

  init(clock: any Clock, giveBack: @escaping @Sendable () -> Void) {
    self.clock = clock
    self.giveBack = giveBack
  }

  public func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await clock.sleep(for: Self.patience) }
      group.addTask { await stop.wait() }
      await group.next()
      group.cancelAll()
    }
    if !stop.isOpen, !Task.isCancelled { giveBack() }
    await stop.wait()
  }

  public func shutDown() { stop.open() }
}
