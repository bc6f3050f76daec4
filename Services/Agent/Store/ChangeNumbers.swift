internal import CaravanAgentCore
public import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite

/// Numbers under which an app's changes of cloud records are known at the cloud, so that one that is asked for again
/// happens once (UNI-07). They grow with each change and, as far as nobody sets the clock back, with the time: a store
/// that was put back to an older state gives out none a second time. Each app has its own, so that none can use up or
/// outdate those of another.
struct ChangeNumbers {
  /// Unix milliseconds of 1 January 2025, where the numbers begin.
  private static let origin: Int64 = 1_735_689_600_000

  let context: StoreContext

  private func key(_ app: ContainerID) -> String { "changes.\(app)" }

  private func newest(of app: ContainerID) throws(CaravanError) -> UInt64 {
    try context.database.first("SELECT value FROM meta WHERE key = ?", key(app)) { row in row.unsigned(0) } ?? 0
  }

  private var clock: UInt64 { UInt64(max(0, context.host.clock.wallTime.milliseconds - Self.origin)) }

  /// - Returns: the first of `count` numbers that follow each other.
  /// - Throws: `limitExceeded` for more than one request may have.
  func reserve(_ count: Int, for app: ContainerID) throws(CaravanError) -> UInt64 {
    guard (1...Limits.recordsPerCommit).contains(count) else {
      throw CaravanError(
        .limitExceeded, "\(count) changes of cloud records at once: the limit is \(Limits.recordsPerCommit), split them"
      )
    }
    let first = max(try newest(of: app) + 1, clock)
    try context.transaction { () throws(CaravanError) in
      try context.database.run(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", key(app),
        first + UInt64(count) - 1)
    }
    return first
  }

  /// - Throws: `noOperationId` for numbers that were not reserved, were by a store that has begun anew since, or so
  ///   long ago that the cloud may have forgotten what became of them.
  func check(_ numbers: [UInt64], epoch: UInt64, of app: ContainerID) throws(CaravanError) {
    let newest = try newest(of: app)
    guard epoch == context.meta.epoch, numbers.allSatisfy({ (1...max(1, newest)).contains($0) }) else {
      throw CaravanError(
        .noOperationId, "the changes were begun on another state of this device: fetch the records, and begin anew")
    }
    let oldest = numbers.min() ?? 0
    guard max(newest, clock) < oldest + EngineLimits.changesRemembered else {
      throw CaravanError(
        .noOperationId,
        "the changes were begun too long ago to be asked for again: fetch the records, and begin anew with what is left"
      )
    }
  }
}

/// Numbers for changes of cloud records.
public struct NumberReservation: Sendable, Hashable {
  /// Of the device's store.
  public let epoch: UInt64
  /// The others follow it.
  public let first: UInt64
}

extension LocalStore {
  private var numbers: ChangeNumbers { ChangeNumbers(context: context) }

  /// Gives an app numbers for changes of cloud records, which no other change of the app ever gets.
  /// - Throws: `limitExceeded` for more than `Limits.recordsPerCommit`.
  public func reserveNumbers(_ count: Int, for app: ContainerID) throws(CaravanError) -> NumberReservation {
    NumberReservation(epoch: context.meta.epoch, first: try numbers.reserve(count, for: app))
  }

  /// - Throws: `noOperationId` for numbers that are none of the app's, or are too old.
  public func checkNumbers(_ list: [UInt64], epoch: UInt64, of app: ContainerID) throws(CaravanError) {
    try numbers.check(list, epoch: epoch, of: app)
  }
}
