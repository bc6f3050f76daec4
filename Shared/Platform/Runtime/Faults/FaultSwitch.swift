public import CaravanModel

/// Where a service can be told to fail (REC-29).
public enum FaultPoint: String, Sendable, Hashable, CaseIterable {
  /// A group is begun.
  case setup
  /// A part is marked as uploaded.
  case inProgressMark = "in-progress-mark"
  /// The commit of a group is asked for.
  case commit
  /// The commit of a group is written: the store's transaction writes records and index at once.
  case indexUpdate = "index-update"
  /// An object goes to the object store.
  case transfer
  case lockRemoval = "lock-removal"
  /// A lock is taken.
  case lockForDownload = "lock-for-download"
  /// What there is to download, or how an operation stands, is told.
  case downloadInfo = "download-info"
}

/// A switch for debugging that lets operations fail where they are told to, so many times: before anything is done, or
/// when it is done and the answer is lost. Off in every process that is not told otherwise.
public final class FaultSwitch: Sendable {
  public enum Side: String, Sendable, Hashable, CaseIterable {
    case before
    case after
  }

  private struct Place: Hashable {
    let point: FaultPoint
    let side: Side
  }

  private let armed: Mutex<[Place: Int]>

  /// - Parameter text: `POINT[:after][=TIMES]`, several with commas between them; empty: none.
  /// - Throws: `invalidData`.
  public init(_ text: String = "") throws(CaravanError) {
    var armed: [Place: Int] = [:]
    for item in text.split(separator: ",") {
      let parts = item.split(separator: "=", maxSplits: 1)
      let names = parts[0].split(separator: ":", maxSplits: 1)
      let side = names.count > 1 ? Side(rawValue: String(names[1])) : .before
      let times = parts.count > 1 ? Int(parts[1]) : 1
      guard let point = names.first.flatMap({ FaultPoint(rawValue: String($0)) }), let side, let times, times > 0 else {
        throw CaravanError(
          .invalidData,
          "'\(item)' is no fault: use POINT[:after][=TIMES] with "
            + FaultPoint.allCases.map(\.rawValue).joined(separator: ", "))
      }
      armed[Place(point: point, side: side)] = times
    }
    self.armed = Mutex(armed)
  }

  private init() { armed = Mutex([:]) }

  public static let off = FaultSwitch()

  /// How often it will still fail there.
  public func left(_ point: FaultPoint, _ side: Side = .before) -> Int {
    armed.withLock { $0[Place(point: point, side: side)] ?? 0 }
  }

  /// Passes, unless it was told to fail here.
  /// - Throws: `timedOut`: it did or did not happen, as far as the caller can tell.
  public func pass(_ point: FaultPoint, _ side: Side = .before) throws(CaravanError) {
    let fails = armed.withLock { armed in
      guard let times = armed[Place(point: point, side: side)] else { return false }
      armed[Place(point: point, side: side)] = times > 1 ? times - 1 : nil
      return true
    }
    if fails {
      throw CaravanError(.timedOut, "told to fail \(side.rawValue) \(point.rawValue): ask again")
    }
  }

  /// Runs `work` between both sides of a point.
  public func around<Value>(
    _ point: FaultPoint, _ work: () async throws(CaravanError) -> Value
  ) async throws(CaravanError) -> Value {
    try pass(point, .before)
    let value = try await work()
    try pass(point, .after)
    return value
  }
}
