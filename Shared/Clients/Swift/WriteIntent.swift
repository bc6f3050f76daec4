internal import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// How one write travels; without one, as its table is registered.
public struct WriteIntent: Sendable, Hashable {
  /// Whether the write may be lost.
  public enum Loss: Sendable, Hashable {
    case asRegistered
    /// A new row that may be lost, within the maximum that its table is registered with.
    case tolerated
    case never
  }

  /// Sent at most so long after the write, whatever the table's period; a row that may be lost is too old then.
  public var within: Duration?
  /// Whether the write may be lost; as its table is registered, where the app does not say.
  public var loss: Loss
  /// A row that may be lost is not sent later than this after the write.
  public var timeToLive: Duration?

  /// A write that travels as its table is registered, but for what is said here.
  public init(within: Duration? = nil, loss: Loss = .asRegistered, timeToLive: Duration? = nil) {
    self.within = within
    self.loss = loss
    self.timeToLive = timeToLive
  }

  var wire: CaravanWire.WriteIntent {
    let wireLoss: WriteLoss =
      switch loss {
      case .asRegistered: .asRegistered
      case .tolerated: .tolerated
      case .never: .none
      }
    return CaravanWire.WriteIntent(
      hasDeadline: within != nil, withinMilliseconds: UInt32(clamping: within?.wholeMilliseconds ?? 0), loss: wireLoss,
      timeToLiveMilliseconds: UInt32(clamping: timeToLive?.wholeMilliseconds ?? 0))
  }
}

/// New rows of a table never start a transfer, and at most this share of them is lost (MOB-05).
public struct LossTolerance: Sendable, Hashable {
  /// In thousandths.
  public var maximumPermille: UInt32
  /// Not sent later than this after the write.
  public var timeToLive: Duration?
  /// Only rows whose intent says so.
  public var isOnRequest: Bool

  /// - Parameters:
  ///   - maximumPermille: of the rows that may be lost, in thousandths.
  ///   - timeToLive: rows are too old to be sent after so long; nil: they never are.
  ///   - isOnRequest: only rows whose `WriteIntent` says so may be lost.
  public init(maximumPermille: UInt32, timeToLive: Duration? = nil, isOnRequest: Bool = false) {
    self.maximumPermille = maximumPermille
    self.timeToLive = timeToLive
    self.isOnRequest = isOnRequest
  }

  var wire: CaravanWire.LossTolerance {
    CaravanWire.LossTolerance(
      maximumPermille: maximumPermille, timeToLiveMilliseconds: UInt32(clamping: timeToLive?.wholeMilliseconds ?? 0),
      onRequest: isOnRequest)
  }

  init(_ tolerance: CaravanWire.LossTolerance) {
    self.init(
      maximumPermille: tolerance.maximumPermille,
      timeToLive: tolerance.timeToLiveMilliseconds == 0
        ? nil : .milliseconds(Int64(tolerance.timeToLiveMilliseconds)), isOnRequest: tolerance.onRequest)
  }
}

/// What an acknowledged write may rely on (UNI-16).
public enum WritePromise: String, Sendable, Hashable {
  /// It is on the disk and will reach the cloud.
  case durable
  /// It goes along with other data, or is lost within the table's maximum.
  case accepted

  init(_ promise: WriteClass) {
    switch promise {
    case .durable: self = .durable
    case .accepted: self = .accepted
    }
  }
}

/// The answer to a write.
public struct WriteReceipt: Sendable, Hashable {
  /// The new row's id.
  public let row: String
  /// What the app may rely on.
  public let promise: WritePromise
}
