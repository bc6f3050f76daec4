import CaravanModel

/// Bounds of the device protocol.
package enum SyncLimits {
  /// Zones of one frame worked on at the same time.
  package static let lanesInFlight = 16
  /// Operations of one device worked on at the same time, over all its frames.
  package static let lanesOfDevice = 16
  package static let framesInFlight = 128
  /// Chunks that a device is asked for with one hello.
  package static let chunksWanted = 32
  /// And records.
  package static let recordsWanted = 64
  /// Tags and lengths around a frame's body.
  package static let envelopeBytes = 64
  /// Kept free in a reply for each operation's refusal or small answer.
  package static let replyBytesPerOperation = 512
  /// Of one outcome without the server's copy.
  package static let outcomeBytes = 48
  /// Of one changed zone without its name.
  package static let zoneBytes = 8
  /// A pull that has less than this left in its frame is told to come again.
  package static let smallestPull = 1 << 10
  package static let recordsPerPage: UInt32 = 4_096
  /// A reply below this is not worth a compressor.
  package static let smallestCompressed = 512
  /// A reply from here on is compressed at zstd's quickest level: half the time, and of so many rows not a byte in a
  /// hundred more (measured).
  package static let largeReply = 128 << 10
  /// Most bytes that one ticket moves: an object of the greatest size.
  package static let ticketBytes = UInt64(Limits.chunksPerObject * Limits.chunkBytes)
  /// When a refusal may be gone and its author did not say.
  package static let retryAfterMilliseconds: UInt32 = 100
  /// An agent that is too old for the cloud need not ask more often: only an update helps.
  package static let oldAgentRestMilliseconds: UInt32 = 600_000
  /// After storage has turned work away, so long it is taken to have too much to do.
  package static let overloadNanoseconds: UInt64 = 1_000_000_000
  /// What can wait less than this is not put off, and nothing is for longer than that.
  package static let leastSlackMilliseconds: UInt32 = 20
  package static let longestPostponementMilliseconds: UInt32 = 60_000
  /// Looks at a device's list before one that is being changed is given up.
  package static let subscribeAttempts = 4
  /// A lock that does not say how long it is for.
  package static let lockMilliseconds: UInt32 = 60_000
  /// How often a server extension is asked about one row whose record changes meanwhile.
  package static let disputesPerRow = 4
  /// Disputes that are put to server extensions at once; those beyond are decided by their types' fallbacks.
  package static let disputesInFlight = 64
  /// How records of a type behave is asked for again after so long; a device in conflict waits no longer for it.
  package static let behaviourFreshness: Duration = .seconds(2)
  package static let behaviourDeadline: Duration = .milliseconds(500)
  package static let behavioursKnown = 1_024
  /// What a look at a container's whole schema costs a device's rate, in accesses (CK-101).
  package static let schemaAccesses: UInt64 = 16
  /// What a question to the query service costs a device's rate before it is answered, in accesses.
  package static let queryAccesses: UInt64 = 4
  package static let queryDeadline: Duration = .seconds(8)
  /// Grants of a container's types are asked for again after so long, and where the registry does not answer, those
  /// that are known count for so long more.
  package static let grantsFreshness: Duration = .seconds(1)
  package static let grantsPatience: Duration = .seconds(10)
  /// So long somebody's own records wait for what the registry says of removed types.
  package static let visibilityDeadline: Duration = .milliseconds(500)
  package static let containersGranted = 1_024
  /// Aliases that are remembered, so that a row costs no question about its writer (CK-02).
  package static let aliasesKnown = 16_384
  /// What is remembered of a device's alias is confirmed after so long: a restored store may lack it.
  package static let aliasFreshness: Duration = .seconds(10)
  /// How often aliases are looked at again that others write at the same time.
  package static let aliasAttempts = 4
  /// Of chance, in a new alias: nobody guesses it, and no two are alike.
  package static let aliasBytes = 16
  /// Devices of which aliases are written down at once: each has four records, in one commit.
  package static let devicesPerPage = Limits.recordsPerCommit / 4
  /// How many zones storage lists; there may be more than it says.
  package static let zonesListed = 10_000
  /// How often somebody looks whether a store has the aliases of before, and after a failure.
  package static let aliasMigrationLooks: Duration = .seconds(60)
  package static let aliasMigrationRest: Duration = .seconds(2)
  package static let notifyDeadline: Duration = .seconds(1)
  /// How long a client has its turn between SYNC_BEGIN and SYNC_CONTINUE; one that vanishes keeps others out no longer
  /// (DIF-14).
  package static let turn: Duration = .seconds(30)
  /// When to ask for a turn again that another client has, at the latest.
  package static let turnRetryMilliseconds: UInt32 = 1_000
  /// A page of records is asked for so much smaller than the frame's room, as their diffs are larger.
  package static let diffBytesPerRecordByte = 4
  /// Of one diff, beside its names and values.
  package static let diffOverheadBytes = 32
  /// For the push service, which asks a webhook's server.
  package static let pushDeadline: Duration = .seconds(12)
  /// A push target is saved again so often where others save it at the same time.
  package static let pushSaves = 3
}
