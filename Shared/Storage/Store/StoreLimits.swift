public import CaravanModel

/// Bounds and times that every store keeps.
public enum StoreLimits {
  /// How long a staged chunk is promised to be there without a record that refers to it, since it was last asked for;
  /// also a chunk whose last record went away, for those who still read that.
  public static let stagingLease: Duration = .seconds(3_600)
  /// After the lease, before the chunk is removed: who counts the lease from an answer counts it from a later moment.
  public static let stagingGrace: Duration = .seconds(600)
  /// Chunks that one user may have staged in one public database at one time, named by a record or not: four objects
  /// of the largest size within a lease.
  public static let chunksStagedByUser = Limits.chunksPerObject * 4
  /// How long a group waits for its next part, or its commit.
  public static let groupLease: Duration = .seconds(3_600)
  /// How long it is told what became of a group, unless the operation is removed.
  public static let operationKept: Duration = .seconds(7 * 86_400)
  /// Longest time a lease is granted for at once.
  public static let longestLease: Duration = .seconds(3_600)
  public static let leasesPerRequest = 256
  /// How long a lease or a lock that has ended is remembered.
  public static let endedLeasesKept: Duration = .seconds(86_400)
  public static let leaseNameBytes = 255
  public static let fetchedNames = Limits.recordsPerCommit
  /// Records that refer to one record, of which a commit is told: one more than it may delete.
  public static let referrersAsked = Limits.cascadedRecords + 1
  public static let hashesPerRequest = Limits.chunksPerObject * 4
  public static let zonesListed = 10_000
  /// Zones in one answer to which have changed.
  public static let zonesPerPage = 1_000
  public static let recordsPerPage = 4_096
  /// Index entries looked at for one page, elided tombstones included.
  public static let scannedPerPage = 16_384
  /// An op low watermark is written, and outcomes below it are forgotten, when it has moved this far: most commits then
  /// write nothing about it, and the outcomes of many writers share a page (64 instead of 8 costs a sixth more CPU).
  public static let opFloorStep: UInt64 = 8
  /// Outcomes kept of one writer in one epoch, whatever low watermark it says; devices have some hundreds of ops under
  /// way.
  public static let outcomesKept = 16_384
  /// Epochs kept of one device: it begins one when it is enrolled, and when it finds itself an older copy.
  public static let epochsOfDevice = 32
  /// Of a service: each start of each of its processes begins one.
  public static let epochsOfService = 1_024
  /// Of all devices that a user ever had, in one file.
  public static let epochsOfUser = 8_192
  /// How long outcomes of an epoch that has no more ops are kept when its writer has begun another.
  public static let deadEpochsRemembered: Duration = .seconds(30 * 86_400)
  /// Zones in the databases of one owner, in one file or partition, with those that are remembered after their
  /// deletion: of a user, or of the public database of a container.
  public static let zonesOfOwner = 16_384
  /// How long a deleted zone is remembered by name, at least. Ids of zones do not come back, so this is also what keeps
  /// an owner from using up those of a file: with all of their share, made and deleted without end, one needs 40 years
  /// for half of them.
  public static let deadZonesKept: Duration = .seconds(30 * 86_400)
  /// How far ahead of a writer's commits its footprint is written: one more write for so many records.
  public static let reachStep: Seq = 4_096
  /// How long a device that does not pull keeps tombstones from being purged.
  public static let deviceActivity: Duration = .seconds(30 * 86_400)
  /// How long a tombstone is kept at least: longer than any request is under way.
  public static let tombstoneGrace: Duration = .seconds(3_600)
  /// Devices' positions that wait to be written.
  public static let sightingsWaiting = 16_384
  /// Those that one step of maintenance writes.
  public static let sightingsWritten = 512
  /// How long a device that reads a snapshot may stay away before what only the snapshot has is removed.
  public static let snapshotPatience: Duration = .seconds(600)
  /// Zones that one step of maintenance looks at for tombstones.
  public static let zonesPerPurge = 8
  /// Accounts whose use by partition is remembered, or waits to be summed.
  public static let spreadAccounts = 16_384
  /// Those that one step of maintenance sums.
  public static let spreadAccountsSummed = 32
  /// How old that may be where an account is in several partitions, and where it is in none but its own.
  public static let spreadFreshness: Duration = .seconds(5)
  public static let homeFreshness: Duration = .seconds(300)
  public static let logEntriesPerPage = 4_096
  /// Entries of a partition's log that are kept at least, but for those before the deletion of a zone that is not
  /// remembered any more; consumers further behind rebuild from the zones.
  public static let logEntriesKept: UInt64 = 200_000
  /// Seqs, op numbers and log positions stay below this (34 years of 1,000 a second).
  public static let highestNumber: UInt64 = (1 << 40) - 1

  /// - Parameter zones: how many the owner has, remembered ones counted.
  /// - Throws: `limitExceeded` where there is room for no more.
  public static func checkShare(zones: Int64) throws(CaravanError) {
    guard zones >= zonesOfOwner else { return }
    throw CaravanError(
      .limitExceeded,
      "\(zones) zones are in databases of this owner, which is the most, and deleted ones count for "
        + "\(deadZonesKept.components.seconds / 86_400) days: use fewer, or wait until those are forgotten")
  }

  public static func epochs(of writer: String) -> Int {
    WriterName.isService(writer) ? epochsOfService : epochsOfDevice
  }
}
