/// Where a row was given up (MOB-06).
public enum LossPlace: String, Sendable, Hashable, CaseIterable {
  /// On the device: no transfer came, or too many rows waited.
  case queue
  /// The cloud had too much to do; what it refused was not offered again.
  case server
}

/// What became of a table's rows that may be lost, since its tolerance was declared. Says exactly how many more may be
/// lost (I11): at no time is the number of rows lost larger than the maximum share of those accepted.
public struct LossLedger: Sendable, Hashable {
  public let tolerance: LossTolerance
  public private(set) var accepted: UInt64
  /// Taken by the cloud; or changed or deleted by the app, and so no longer to be lost.
  public private(set) var settled: UInt64
  /// Too old to be sent, as the app declared it: no loss, for nobody wants them any more.
  public private(set) var expired: UInt64
  public private(set) var lostInQueue: UInt64
  public private(set) var lostToServer: UInt64

  public init(
    _ tolerance: LossTolerance, accepted: UInt64 = 0, settled: UInt64 = 0, expired: UInt64 = 0,
    lostInQueue: UInt64 = 0, lostToServer: UInt64 = 0
  ) {
    precondition(tolerance.maximumPermille <= 1000, "a maximum loss of more than everything")
    self.tolerance = tolerance
    self.accepted = accepted
    self.settled = settled
    self.expired = expired
    self.lostInQueue = lostInQueue
    self.lostToServer = lostToServer
  }

  public var lost: UInt64 { lostInQueue + lostToServer }
  /// Rows that wait for a transfer to go along with.
  public var waiting: UInt64 { accepted - settled - expired - lost }

  /// So many of those that wait may be given up now.
  public var mayLose: UInt64 { min(waiting, maximum - min(maximum, lost)) }

  /// So many of those that were accepted may be lost.
  private var maximum: UInt64 {
    let (thousands, rest) = accepted.quotientAndRemainder(dividingBy: 1000)
    let permille = UInt64(tolerance.maximumPermille)
    let maximum = thousands * permille + rest * permille / 1000
    assert(maximum <= accepted, "more may be lost than there is")
    return maximum
  }

  public mutating func accept() { accepted += 1 }

  public mutating func settle(_ rows: UInt64 = 1) {
    precondition(rows <= waiting, "\(rows) rows were settled of \(waiting) that waited")
    settled += rows
  }

  public mutating func expire(_ rows: UInt64) {
    precondition(rows <= waiting, "\(rows) rows expired of \(waiting) that waited")
    expired += rows
  }

  public mutating func lose(_ rows: UInt64, to place: LossPlace) {
    precondition(rows <= mayLose, "\(rows) rows were lost where \(mayLose) may be")
    switch place {
    case .queue: lostInQueue += rows
    case .server: lostToServer += rows
    }
    assert(rows == 0 || lost <= maximum, "\(lost) rows are lost of \(accepted), where \(maximum) may be")
  }
}
