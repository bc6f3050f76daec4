internal import CaravanModel
internal import CaravanRuntime

extension CounterName {
  static let misconduct = CounterName(
    "caravan_agent_app_misconduct_total",
    "What apps did that they should not have, by app and kind: garbage, excess, standstill, unauthenticated.")
}

/// Counts what apps do that they should not, by app (SIM-45).
final class AppConduct: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    /// It sent what cannot be understood, which ends the connection.
    case garbage
    /// It asked for more than its share, and was refused; or for more in one message than any may have.
    case excess
    /// It did not take what was sent, or began a message and stopped, and was cut off.
    case standstill
    /// It did not show that it is the app that it says.
    case unauthenticated

    /// Nil: that is not the app's doing.
    init?(_ error: CaravanError) {
      switch error.code {
      case .invalidData: self = .garbage
      case .limitExceeded, .serverBusy: self = .excess
      case .notAuthenticated: self = .unauthenticated
      default: return nil
      }
    }
  }

  /// Of whoever has not shown which app it is.
  static let unknown = "(unknown)"
  /// Of apps beyond those that are counted by themselves.
  static let others = "(others)"

  private let metrics: MetricsRegistry
  private let known = Mutex<Set<ContainerID>>([])

  init(_ metrics: MetricsRegistry) { self.metrics = metrics }

  func note(_ kind: Kind, of app: ContainerID?) {
    metrics.counter(.misconduct, [.container: app.map(name) ?? Self.unknown, .kind: kind.rawValue]).add()
  }

  /// Counts what an error says of the app, if anything.
  func note(_ error: CaravanError, of app: ContainerID?) {
    if let kind = Kind(error) { note(kind, of: app) }
  }

  private func name(of app: ContainerID) -> String {
    known.withLock { known in
      guard known.contains(app) || known.count < AppLimits.countedApps else { return Self.others }
      known.insert(app)
      return app.text
    }
  }
}
