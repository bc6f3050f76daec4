/// How long to wait before a process that died is started again: at once the first time, then twice as long from death
/// to death, up to a limit. One that ran for a while begins anew.
public struct RestartPolicy: Sendable, Hashable {
  public static let first: Duration = .milliseconds(100)
  public static let longest: Duration = .seconds(5)
  /// Who ran so long has recovered.
  public static let recovery: Duration = .seconds(30)

  /// In a row, each after a short life.
  public private(set) var deaths = 0

  public init() {}

  /// - Parameter life: how long it ran.
  /// - Returns: the wait before the next start.
  public mutating func died(after life: Duration) -> Duration {
    precondition(life >= .zero, "a process died before it began")
    deaths = life >= Self.recovery ? 1 : deaths + 1
    guard deaths > 1 else { return .zero }
    let wait = min(Self.first * (1 << min(deaths - 2, 16)), Self.longest)
    precondition(wait >= Self.first, "a process that dies again and again is started without a pause")
    return wait
  }
}
