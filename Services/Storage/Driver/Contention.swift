import CaravanModel
import CaravanRuntime
import CaravanStorageCore

extension CounterName {
  static let contention = CounterName(
    "caravan_storage_mutations_total",
    "Mutations decided, by container, environment, zone and outcome. Where many end in conflict, writers meet at the "
      + "same records: spread them over more records or zones, or give the record type a conflict policy.")
}

/// How often writers meet in each zone (CK-106). Zones of one name are one here, whoever owns them: a table of an app;
/// the first that are written to are told apart, all others together.
final class Contention: Sendable {
  private struct Place: Hashable {
    let container: ContainerID
    let environment: CaravanModel.Environment
    let zone: String
  }

  /// One zone's counters.
  private struct Counts: Sendable {
    let accepted: Counter
    let conflicts: Counter
    let merged: Counter

    init(_ registry: MetricsRegistry, container: String, environment: String, zone: String) {
      func counter(_ outcome: String) -> Counter {
        registry.counter(
          .contention, [.container: container, .environment: environment, .zone: zone, .outcome: outcome])
      }
      (accepted, conflicts, merged) = (counter("accepted"), counter("conflict"), counter("merged"))
    }
  }

  private let registry: MetricsRegistry
  private let rest: Counts
  private let known = Mutex<[Place: Counts]>([:])

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    rest = Counts(registry, container: "", environment: "", zone: "")
  }

  func count(_ outcomes: [Outcome], in zone: ZoneID) {
    let counts = counts(of: zone)
    for outcome in outcomes {
      switch outcome {
      case .accepted: counts.accepted.add()
      case .conflict: counts.conflicts.add()
      case .merged: counts.merged.add()
      case .aborted, .read, .refused: break
      }
    }
  }

  private func counts(of zone: ZoneID) -> Counts {
    let place = Place(
      container: zone.database.container, environment: zone.database.environment, zone: zone.name)
    return known.withLock { known in
      if let counts = known[place] { return counts }
      guard known.count < StorageLimits.zonesCounted, place.container != .system else { return rest }
      let counts = Counts(
        registry, container: place.container.text, environment: place.environment.rawValue, zone: place.zone)
      known[place] = counts
      return counts
    }
  }
}
