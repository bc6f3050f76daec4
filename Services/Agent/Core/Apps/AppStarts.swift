public import CaravanModel

/// When apps that do not run are started for what has arrived for them (CK-85). One that does not come to take it is
/// started again, ever more seldom.
public struct AppStarts: Sendable {
  private struct Wish {
    var due: UInt64
    /// What passes between the next start and the one after it.
    var pause: UInt64
  }

  private let shortest: UInt64
  private let longest: UInt64
  /// Of apps for which something has arrived, or which were started not long ago.
  private var wishes: [ContainerID: Wish] = [:]
  private var waiting: Set<ContainerID> = []

  /// - Parameters: in milliseconds, as all times here, of a clock that never goes back.
  public init(shortest: UInt64, longest: UInt64) {
    precondition(shortest > 0 && shortest <= longest, "apps are started again after a while")
    (self.shortest, self.longest) = (shortest, longest)
  }

  /// Something is there for the app, or may be.
  public mutating func wants(_ app: ContainerID, at now: UInt64) {
    waiting.insert(app)
    if wishes[app] == nil { wishes[app] = Wish(due: now, pause: shortest) }
  }

  /// Those whose time has come.
  public func due(at now: UInt64) -> [ContainerID] {
    precondition(waiting.allSatisfy { wishes[$0] != nil }, "an app waits for no time")
    return waiting.filter { wishes[$0].map { $0.due <= now } ?? true }.sorted { $0.text < $1.text }
  }

  /// When the next one's time comes; nil: nobody waits.
  public var next: UInt64? { waiting.compactMap { wishes[$0]?.due }.min() }

  /// It was started, and is asked to come again after a pause if it does not take what there is.
  public mutating func started(_ app: ContainerID, at now: UInt64) {
    let pause = wishes[app]?.pause ?? shortest
    precondition((shortest...longest).contains(pause), "an app is started again after \(pause) ms")
    wishes[app] = Wish(due: now + pause, pause: min(pause * 2, longest))
  }

  /// It runs: it is told there.
  public mutating func runs(_ app: ContainerID) { waiting.remove(app) }

  /// It has taken what there was, or is not to be started.
  public mutating func isDone(_ app: ContainerID) {
    waiting.remove(app)
    wishes[app] = nil
  }
}
