public import CaravanRuntime

/// One message on its way from one peer to another.
public struct Passage: Sendable {
  public let sender: String
  public let receiver: String
  /// An inbox, if `isReply`.
  public let subject: String
  public let isReply: Bool
  public let bytes: Int
}

/// Decides what becomes of every message of an in-process bus. Called without locks, in the order of sending.
public protocol FaultPolicy: Sendable {
  /// One delay for each copy that arrives: `[.zero]` is a perfect network, `[]` a loss, two are a duplicate.
  func copies(of passage: Passage, random: any RandomSource) -> [Duration]
}

/// Every message arrives at once, and once.
public struct NoFaults: FaultPolicy {
  public init() {}
  public func copies(of passage: Passage, random: any RandomSource) -> [Duration] { [.zero] }
}
