/// How one write travels (MOB-01, MOB-02); without one, as its table is registered.
public struct WriteIntent: Sendable, Hashable {
  public enum Loss: Sendable, Hashable {
    case asRegistered
    /// May be lost, within the maximum that the table is registered with.
    case tolerated
    case none
  }

  /// A transfer that takes it begins at most so long after the write; nil: by the table's period and tolerance. A row
  /// that may be lost starts none: if no other comes within this time, it is too old to be sent.
  public var withinMilliseconds: UInt32?
  public var loss: Loss
  /// Of a row that may be lost: not sent later than this after the write. Nil: as registered.
  public var timeToLiveMilliseconds: UInt32?

  public init(
    withinMilliseconds: UInt32? = nil, loss: Loss = .asRegistered, timeToLiveMilliseconds: UInt32? = nil
  ) {
    self.withinMilliseconds = withinMilliseconds
    self.loss = loss
    self.timeToLiveMilliseconds = timeToLiveMilliseconds
  }
}

/// What an acknowledged write may rely on (UNI-16).
public enum WritePromise: Sendable, Hashable {
  /// It is on the disk and will reach the cloud.
  case durable
  /// It goes along with other data, or is lost within the table's maximum.
  case accepted
}

/// Rows of a table may be lost: they never start a transfer, and at most this share of them is given up (MOB-05).
public struct LossTolerance: Sendable, Hashable {
  public var maximumPermille: UInt32
  /// 0: never too late.
  public var timeToLiveMilliseconds: UInt32
  /// Only rows whose intent says so; otherwise every new row whose intent does not forbid it.
  public var isOnRequest: Bool

  public init(maximumPermille: UInt32, timeToLiveMilliseconds: UInt32 = 0, isOnRequest: Bool = false) {
    self.maximumPermille = maximumPermille
    self.timeToLiveMilliseconds = timeToLiveMilliseconds
    self.isOnRequest = isOnRequest
  }

  /// - Returns: nil when the row may not be lost; otherwise how long it is worth sending, 0 for ever.
  public func timeToLive(of intent: WriteIntent) -> UInt32? {
    switch intent.loss {
    case .none: return nil
    case .asRegistered where isOnRequest: return nil
    case .asRegistered, .tolerated:
      let life = intent.timeToLiveMilliseconds ?? timeToLiveMilliseconds
      guard let within = intent.withinMilliseconds else { return life }
      let bounded = life == 0 ? max(1, within) : min(life, max(1, within))
      assert(bounded > 0, "a row that is to go soon would be worth sending for ever")
      return bounded
    }
  }
}

/// What the store tells of a change that is ready to be sent.
public struct LocalChange: Sendable, Hashable {
  /// About as many will be sent.
  public var bytes: Int
  /// By the intent of what was written.
  public var withinMilliseconds: UInt32?
  /// It only rides along.
  public var isTolerated: Bool

  public init(bytes: Int, withinMilliseconds: UInt32? = nil, isTolerated: Bool = false) {
    self.bytes = bytes
    self.withinMilliseconds = withinMilliseconds
    self.isTolerated = isTolerated
  }
}
