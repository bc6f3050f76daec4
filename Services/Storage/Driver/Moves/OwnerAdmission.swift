import CaravanModel
import CaravanRuntime
import CaravanStorageCore

/// Knows in which store each user is, and keeps writers away from one that is being moved.
final class OwnerAdmission: Sendable {
  /// A user's time in a store: in the same one again it is another.
  struct Stay: Sendable, Hashable {
    fileprivate(set) var store = Placement.main
    /// Arrivals until then.
    fileprivate var number = 0
  }

  private struct Owner {
    var stay = Stay()
    /// Under way.
    var writes = 0
    var isHeld = false

    var isUsual: Bool { stay == Stay() && writes == 0 && !isHeld }
  }

  /// Those of whom there is something to know.
  private let owners = Mutex<[UserID: Owner]>([:])
  /// The last write of one that is held has ended.
  private let quiet = Signal()

  private func change<Value>(
    _ owner: UserID, _ body: (inout Owner) throws(CaravanError) -> Value
  ) throws(CaravanError) -> Value {
    try owners.withLock { owners throws(CaravanError) in
      var known = owners[owner] ?? Owner()
      defer { owners[owner] = known.isUsual ? nil : known }
      return try body(&known)
    }
  }

  func stay(of owner: UserID) -> Stay { owners.withLock { $0[owner]?.stay } ?? Stay() }

  /// Of all who are not where everybody begins.
  var stays: [UserID: Stay] { owners.withLock { $0.mapValues(\.stay).filter { $0.value != Stay() } } }

  /// Something is to be written; `leave` follows.
  /// - Throws: `serverBusy` while the owner is held.
  func enter(_ owner: UserID) throws(CaravanError) -> String {
    try change(owner) { known throws(CaravanError) in
      guard !known.isHeld else {
        throw CaravanError(
          .serverBusy, "the data of user '\(owner)' is being moved: retry",
          retryAfterMilliseconds: StorageLimits.heldRetryMilliseconds)
      }
      known.writes += 1
      return known.stay.store
    }
  }

  func leave(_ owner: UserID) {
    let isQuiet = owners.withLock { owners in
      guard var known = owners[owner] else { return false }
      known.writes -= 1
      owners[owner] = known.isUsual ? nil : known
      return known.isHeld && known.writes == 0
    }
    if isQuiet { quiet.raise() }
  }

  // MARK: For who moves one; one at a time

  func place(_ owner: UserID, in store: String) {
    try? change(owner) { $0.stay = Stay(store: store, number: $0.stay.number + 1) }
  }
  func release(_ owner: UserID) { try? change(owner) { $0.isHeld = false } }

  /// Lets nobody write any more, and waits for those that do.
  /// - Throws: `timedOut` when they do not end in time; the owner is held all the same.
  func hold(_ owner: UserID, until deadline: Instant, clock: any Clock) async throws(CaravanError) {
    try change(owner) { $0.isHeld = true }
    while owners.withLock({ $0[owner]?.writes ?? 0 }) > 0 {
      let left = deadline - clock.now
      guard left > .zero else { throw CaravanError(.timedOut, "writes of user '\(owner)' do not come to their end") }
      await quiet.wait(atMost: left, clock: clock)
      if Task.isCancelled { throw CaravanError(.cancelled, "the task was cancelled") }
    }
  }
}
