/// How much is entrusted to one message (MOB-23). Over a link that breaks before a large one has passed it would break
/// each time: after a loss messages are much smaller, down to a fragment, and after many that passed in a row twice as
/// large. So what a broken link costs is soon less than what it carries.
public struct FragmentSize: Sendable, Hashable {
  public private(set) var bytes = EngineLimits.largestMessage
  private var passes = 0

  public init() {}

  /// Nothing has been lost lately.
  public var isUnbroken: Bool { bytes == EngineLimits.largestMessage }
  public var isLeast: Bool { bytes == EngineLimits.fragmentBytes }

  /// Frames up to this go whole: they are a little larger than the rows in them, for which there are `bytes`.
  public var whole: Int { isUnbroken ? .max : isLeast ? bytes : bytes * 5 / 4 }

  /// A message of so many bytes, or with such an answer, was lost on its way. Those that were on their way together
  /// count once.
  /// - Parameter limit: `bytes` when it was sent.
  public mutating func lost(_ size: Int, sentUnder limit: Int) {
    assert(limit >= EngineLimits.fragmentBytes, "a message was sent under \(limit) bytes, less than a fragment")
    // Of what is small it says nothing.
    guard size >= EngineLimits.fragmentBytes else { return }
    passes = 0
    bytes = min(bytes, max(EngineLimits.fragmentBytes, limit / EngineLimits.fragmentDivisor))
    checkInvariants()
  }

  private func checkInvariants() {
    assert(
      (EngineLimits.fragmentBytes...EngineLimits.largestMessage).contains(bytes), "messages of \(bytes) bytes")
    assert((0..<EngineLimits.passesToDouble).contains(passes), "\(passes) have passed without more being sent")
    assert(!isUnbroken || passes == 0, "what passes is counted though nothing is lost")
  }

  /// One has passed, with its answer.
  public mutating func passed(_ size: Int) {
    guard !isUnbroken, size >= bytes / 2 else { return }
    passes += 1
    guard passes == EngineLimits.passesToDouble else { return }
    passes = 0
    bytes = min(EngineLimits.largestMessage, bytes * 2)
    checkInvariants()
  }
}
