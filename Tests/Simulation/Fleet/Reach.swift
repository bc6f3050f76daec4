internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime

/// Whether a device of the fleet reaches the cloud, by everything that may keep it from it.
final class Reach: Sendable {
  enum Obstacle: Hashable, Sendable {
    /// Nobody uses it.
    case asleep
    case away
  }

  private struct State {
    var obstacles: Set<Obstacle> = []
    var link = LinkClass.wifi
  }

  private let device: SimulatedDevice
  private let state = Mutex(State())

  init(_ device: SimulatedDevice) { self.device = device }

  func put(_ obstacle: Obstacle) async {
    state.withLock { _ = $0.obstacles.insert(obstacle) }
    await apply()
  }

  func remove(_ obstacle: Obstacle) async {
    state.withLock { _ = $0.obstacles.remove(obstacle) }
    await apply()
  }

  func use(_ link: LinkClass) async {
    state.withLock { $0.link = link }
    await apply()
  }

  private func apply() async {
    await device.setLink(state.withLock { $0.obstacles.isEmpty ? $0.link : nil })
  }
}
