internal import CaravanRuntime

public struct NeverHappened: Error, CustomStringConvertible {
  public let what: String
  public let deadline: Duration
  public var description: String { "\(what): not within \(deadline.wholeMilliseconds) ms" }
}

/// For tests with real processes, threads and sockets: polls until `condition` holds.
/// - Throws: `NeverHappened` after `deadline`; what `condition` throws.
public func eventually(
  _ what: String, within deadline: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Bool
) async throws {
  let clock = Host.live().clock
  let end = clock.now + deadline
  while true {
    if try await condition() { return }
    guard clock.now < end else { throw NeverHappened(what: what, deadline: deadline) }
    try await clock.sleep(for: .milliseconds(5))
  }
}
