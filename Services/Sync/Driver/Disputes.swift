import CaravanModel
import CaravanRuntime
import CaravanSyncCore

/// So many disputes are put to extensions at once, of all devices: what hangs must not hold up everybody's pushes.
final class DisputeLimiter: Sendable {
  private let inside = Mutex(0)
  private let limit: Int

  init(limit: Int = SyncLimits.disputesInFlight) { self.limit = limit }

  /// - Returns: false: there is no room.
  func enter() -> Bool {
    inside.withLock { inside in
      guard inside < limit else { return false }
      inside += 1
      return true
    }
  }

  func leave() { inside.withLock { $0 -= 1 } }
}

/// What came of putting a conflict to an extension.
enum DisputeOutcome: String, CaseIterable {
  /// It made one record of the copies.
  case merged
  /// It let the store's copy stand.
  case kept
  /// It left the conflict to the device.
  case left
  /// Nobody serves its subject.
  case absent
  /// It did not answer in time.
  case late
  /// It answered with an error, or with what cannot be stored.
  case refused
  /// Too many disputes at once, or the record changed too often.
  case busy

  init(_ error: CaravanError) {
    self =
      switch error.code {
      case .unavailable: .absent
      case .timedOut: .late
      case .serverBusy: .busy
      default: .refused
      }
  }
}

struct DisputeMetrics: Sendable {
  private let counters: [DisputeOutcome: Counter]

  init(_ registry: MetricsRegistry) {
    counters = Dictionary(
      uniqueKeysWithValues: DisputeOutcome.allCases.map {
        ($0, registry.counter(.disputes, [.outcome: $0.rawValue]))
      })
  }

  func count(_ outcome: DisputeOutcome) { counters[outcome]?.add() }
}
