import CaravanModel
import CaravanRuntime
import CaravanStorageClient

/// Finds out what followers missed. Hints are said once, and may get lost: so storage is asked how far its logs have
/// come, once for all partitions of this instance: when the connection has come back, soon after something moved, and
/// ever more seldom while nothing does.
final class ChangeWatch: Sendable {
  private let storage: StorageClient
  private let host: Host
  private let followers = Mutex<[Partition: ChangeFollower]>([:])
  /// Something moved, or could not be taken in: look soon.
  private let stirred = Signal()
  /// Look now.
  private let urgent = Signal()
  /// Of all partitions together.
  private let outage: Outage

  init(storage: StorageClient, host: Host) {
    self.storage = storage
    self.host = host
    outage = Outage(host, "changes cannot be taken in", over: "changes are taken in again")
  }

  func enter(_ follower: ChangeFollower) {
    followers.withLock { $0[follower.partition] = follower }
    stir()
  }

  func leave(_ follower: ChangeFollower) {
    followers.withLock { if $0[follower.partition] === follower { $0[follower.partition] = nil } }
  }

  func stir() { stirred.raise() }

  func failed(_ error: CaravanError, in partition: Partition) {
    outage.lasts("partition \(partition.number): \(error)")
    stir()
  }

  func lookNow() {
    urgent.raise()
    stirred.raise()
  }

  /// Until cancelled.
  func run() async {
    var quiet: Duration = .zero
    while !Task.isCancelled {
      // A random part keeps instances from asking together.
      let random = Int64(host.random.below(UInt64(quiet.wholeNanoseconds / 4 + 1)))
      await stirred.wait(atMost: quiet + .nanoseconds(random), clock: host.clock)
      await urgent.wait(atMost: FollowLimits.shortestWatch, clock: host.clock)
      if Task.isCancelled { return }
      let isQuiet = await look()
      quiet = isQuiet ? min(max(quiet * 2, FollowLimits.shortestWatch), FollowLimits.longestWatch) : .zero
    }
  }

  /// - Returns: whether nobody lacks anything.
  private func look() async -> Bool {
    let followers = followers.withLock { $0.values.sorted { $0.partition < $1.partition } }
    guard !followers.isEmpty else { return true }
    var positions: [UInt64] = []
    for follower in followers { positions.append(await follower.positionNow) }
    let heads: [UInt64]
    do throws(CaravanError) { heads = try await storage.logHeads() } catch {
      host.log.debug("storage does not say how far its logs have come", [.error: error])
      return false
    }
    var isQuiet = true
    for (follower, position) in zip(followers, positions) {
      let head = heads[Int(follower.partition.number)]
      if await follower.lacks(head, since: position) { isQuiet = false }
    }
    if isQuiet { outage.ended() }
    return isQuiet
  }
}
