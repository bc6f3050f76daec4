internal import CaravanModel

/// Bounds of the storage service.
package enum StorageLimits {
  /// Commits at once; beside them the store bounds what waits for its disk.
  package static let commitsInFlight = 1_024
  /// Batches of commits at once.
  package static let batchesInFlight = 64
  /// Requests about groups at once; of these, commits, which each take twice `Limits.groupBytes` of memory.
  package static let groupsInFlight = 32
  package static let groupCommitsInFlight = 2
  package static let readsInFlight = 128
  package static let leasesInFlight = 256
  /// Each may bring or take `Limits.chunkBatchBytes`. One device has an eighth of them: an agent moves the chunks of
  /// three tables at once, and no fewer.
  package static let chunkRequestsInFlight = 64
  /// A whole request, with the hashes of what it brings, asks for and names as bases.
  package static let chunkMessageBytes = 2 * Limits.chunkBatchBytes
  /// Of a ticket as it is sent: five names and a seal.
  package static let ticketMessageBytes = 2 << 10
  /// When a device may try again what was refused to it, where the refusal does not say.
  package static let retryAfterMilliseconds: UInt32 = 100
  /// Chunks that patches of one request are made of.
  package static let basesPerRequest = 256
  /// Chunks that the records of one commit may name, with those in lists.
  package static let chunksPerCommit = 1 << 17
  /// Entries of a commit that ride along in its change event; a larger commit is announced without them. And of one
  /// change event.
  package static let announcedBytes = 8 << 10
  package static let hintBytes = 64 << 10
  /// Commits announced in one change event.
  package static let commitsPerHint = 512
  /// Commit groups that wait to be announced. When they are more, change events are lost: consumers see the gap.
  package static let groupsWaiting = 1_024
  /// After so many commits announced at once, the next wait this long for others of their partitions.
  package static let changesInStorm = 16
  package static let hintLinger: Duration = .milliseconds(25)
  /// Commit groups announced together.
  package static let groupsTogether = 256
  /// Ways to the object store at once.
  package static let objectLanes = 4
  /// Records whose objects are looked up together.
  package static let objectsPerRound = 64
  /// Between looks for objects when there are none.
  package static let objectPause: Duration = .seconds(1)
  /// Between counts of those that wait: of many it takes a while.
  package static let objectCountPause: Duration = .seconds(5)
  /// How long one process moves objects before it asks again whether it may; and how long they wait when it dies.
  package static let objectTenure: Duration = .seconds(10)
  /// Upload tickets whose use is remembered at once.
  package static let ticketsRemembered = 16_384
  /// Records whose time is over that one step of maintenance deletes, and how long one process does so alone.
  package static let expiredPerStep = 256
  package static let expiryTenure: Duration = .seconds(30)
  /// How long a deletion can be put off.
  package static let longestGrace: Duration = .seconds(366 * 86_400)
  /// Actions whose time has come that one step of maintenance sees to, and zones that one of them deletes in it.
  package static let actionsPerStep = 4
  package static let zonesPerStep = 64
  /// Zones whose contention is counted apart; three series each.
  package static let zonesCounted = 128
  package static let actionsListed = 1_000
  /// Looks at an action that is being changed before it is given up.
  package static let actionAttempts = 4
  /// How long a user's writes wait for a move before it is given up for now; what they are told; how often it is tried,
  /// and how long after the last time.
  package static let longestHold: Duration = .seconds(30)
  package static let heldRetryMilliseconds: UInt32 = 200
  package static let moveAttempts = 10
  package static let movePause: Duration = .seconds(2)
  /// How long a backup waits for a moment at which nobody is being moved, and how often it looks.
  package static let archivePatience: Duration = .seconds(60)
  package static let archivePause: Duration = .milliseconds(100)
  /// Entries of another store's log that are entered together, and how often it is looked at unasked.
  package static let relayedTogether = 512
  package static let relayPause: Duration = .seconds(5)
  /// Milliseconds that the clocks of storage's machine and of the database's server may differ by.
  package static let clockDifference: Int64 = 60_000
  /// Maintenance follows a commit after so long, and comes anyway after the longer time.
  package static let maintenanceInterval: Duration = .seconds(5)
  package static let idleUpkeepInterval: Duration = .seconds(60)
  /// With so many requests in flight maintenance lets them go first, for so long at most; how often it looks; and after
  /// that time it rests so many times as long as each step took: a tenth of the time is its.
  package static let busyRequests = 8
  package static let longestUpkeepDelayNanoseconds: UInt64 = 30_000_000_000
  package static let maintenanceLookNanoseconds: UInt64 = 250_000_000
  package static let maintenanceRests: UInt64 = 9
  /// All chunks are read within this time, to find those that the disk has lost: in steps of so many bytes, at least so
  /// many steps in that time, and no more than so many at once after a pause.
  package static let scrubPeriodNanoseconds: UInt64 = 7 * 86_400 * 1_000_000_000
  package static let scrubStepBytes = 4 << 20
  package static let scrubStepsOfPeriod = 168
  package static let scrubStepsTogether = 16
  /// How long one process scrubs alone.
  package static let scrubTenure: Duration = .seconds(60)
  /// Damaged chunks that are listed at once, and records of each database that name some.
  package static let damageListed = 1_000
  package static let damagedRecordsListed = 1_000
}
