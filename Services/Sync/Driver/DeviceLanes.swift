import CaravanModel
import CaravanRuntime
import CaravanSyncCore

/// What each device has in work, over all its frames. A device that sends more than its share waits for itself; others
/// find the services behind sync free. Only devices with a frame in work are known, so there are no more than frames.
final class DeviceLanes: Sendable {
  private struct Lanes {
    let limiter: Limiter
    var frames: Int
  }

  private let limit: Int
  private let lanes = Mutex<[EnrolledDevice: Lanes]>([:])

  init(limit: Int = SyncLimits.lanesOfDevice) { self.limit = limit }

  /// Runs the work of one frame, whose operations each take a permit of the limiter.
  func withLanes<R: Sendable>(of device: EnrolledDevice, _ body: (Limiter) async -> R) async -> R {
    let limiter = lanes.withLock { lanes in
      // Each frame has no more tasks waiting than it may have lanes.
      let limiter =
        lanes[device]?.limiter
        ?? Limiter(permits: limit, waiters: SyncLimits.framesInFlight * SyncLimits.lanesInFlight)
      lanes[device, default: Lanes(limiter: limiter, frames: 0)].frames += 1
      return limiter
    }
    defer {
      lanes.withLock { lanes in
        lanes[device]?.frames -= 1
        if lanes[device]?.frames == 0 { lanes[device] = nil }
      }
    }
    return await body(limiter)
  }

  /// Devices that have a frame in work.
  var count: Int { lanes.withLock { $0.count } }
}
