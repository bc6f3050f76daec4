public import CaravanModel

/// Decides what becomes of a group when somebody works on it; every store finds out what is known and carries the
/// decision out. Times are the store's, in Unix milliseconds.
public enum GroupRules {
  private static func milliseconds(_ time: Duration) -> Int64 { time.components.seconds * 1_000 }

  // MARK: Beginning

  /// - Parameters:
  ///   - known: under the op.
  ///   - isDecided: whether an outcome of the op is known.
  ///   - census: of the zone's owner; asked for only where nothing is known.
  /// - Returns: what is to be kept from now on; nil: the group was begun before.
  /// - Throws: `invalidData` when the op is another commit's, `quotaExceeded` when the user has too many groups.
  public static func begin(
    _ op: OpID, in zone: ZoneID, known: StagedGroup?, isDecided: Bool,
    census: () throws(CaravanError) -> GroupCensus, now: Int64
  ) throws(CaravanError) -> StagedGroup? {
    if let known {
      guard known.zone == zone else { throw op.foreign(to: zone) }
      return nil
    }
    guard !isDecided else {
      throw CaravanError(.invalidData, "op \(op) was no group's: every op has its own number")
    }
    let census = try census()
    guard census.open < Limits.openGroupsPerUser else {
      throw CaravanError(
        .quotaExceeded,
        "\(census.open) groups of this user are open: commit, settle or remove one, the limit is "
          + "\(Limits.openGroupsPerUser)")
    }
    guard census.known < Limits.operationsPerUser else {
      throw CaravanError(
        .quotaExceeded,
        "\(census.known) operations of this user are remembered: remove those you have heard of, the limit is "
          + "\(Limits.operationsPerUser)")
    }
    return StagedGroup(zone: zone, until: now + milliseconds(StoreLimits.groupLease))
  }

  // MARK: Parts

  public enum Staging: Sendable, Hashable {
    /// Write the part, and what the group is with it.
    case write(StagedGroup)
    /// The part is there: write that the group goes on.
    case renew(StagedGroup)
    case done(StagedGroup)
  }

  /// - Parameter stored: the body under the part's number, if there is one.
  /// - Throws: `noOperationId`, `limitExceeded`, and `invalidData` when the number is another part's.
  public static func stage(
    _ part: StagedPart, in group: StagedGroup?, stored: [UInt8]?, now: Int64
  ) throws(CaravanError) -> Staging {
    var group = try known(group, part.op, in: part.zone)
    guard group.isOpen else { return .done(group) }
    group.until = now + milliseconds(StoreLimits.groupLease)
    if let stored {
      guard stored == part.body else {
        throw CaravanError(
          .invalidData, "part \(part.number) of op \(part.op) is there with other content: give this one its own number"
        )
      }
      return .renew(group)
    }
    guard (0..<Limits.groupParts).contains(part.number) else {
      throw CaravanError(
        .limitExceeded,
        "a group has no part \(part.number): 0 to \(Limits.groupParts - 1) are allowed, send larger ones")
    }
    group.parts += 1
    group.held += 1
    group.records += part.records
    group.bytes += part.body.count
    group.chunks += part.chunks.count
    try check(group.records, "records", Limits.groupRecords, part.op)
    try check(group.bytes, "bytes", Limits.groupBytes, part.op)
    try check(group.chunks, "chunks", Limits.groupChunks, part.op)
    return .write(group)
  }

  private static func check(_ count: Int, _ what: String, _ limit: Int, _ op: OpID) throws(CaravanError) {
    guard count <= limit else {
      throw CaravanError(
        .limitExceeded, "the group of op \(op) would have \(count) \(what): the limit is \(limit), commit it before")
    }
  }

  /// - Throws: `noOperationId` when there is no such group.
  public static func known(
    _ group: StagedGroup?, _ op: OpID, in zone: ZoneID
  ) throws(CaravanError) -> StagedGroup {
    guard let group, group.stage != .removed else {
      throw CaravanError(.noOperationId, "there is no operation \(op): begin it, or it was removed")
    }
    guard group.zone == zone else { throw op.foreign(to: zone) }
    return group
  }

  // MARK: Ends

  /// Whether a commit under this op may take `group`.
  /// - Throws: `noOperationId` without one, `invalidData` when parts are missing or a group is committed as if it was
  ///   none.
  public static func check(_ commit: Commit, closes group: StagedGroup?) throws(CaravanError) {
    guard let parts = commit.parts else { return }
    let group = try known(group, commit.op, in: commit.zone)
    guard group.isOpen else {
      throw CaravanError(.noOperationId, "the group of op \(commit.op) is no more: begin another")
    }
    guard group.parts == parts, group.records == commit.mutations.count else {
      throw CaravanError(
        .invalidData,
        "\(group.parts) parts of op \(commit.op) are here and the commit says \(parts): upload the others first")
    }
  }

  /// The group after its commit was decided.
  public static func closed(
    _ group: StagedGroup, by verdicts: [ZoneCommit.Verdict], isAtomic: Bool, now: Int64
  ) -> StagedGroup {
    let isRefused = isAtomic && verdicts.contains(where: \.isFailure)
    return ended(group, as: isRefused ? .refused : .committed, now: now)
  }

  /// - Parameter stage: not `open`.
  public static func ended(_ group: StagedGroup, as stage: StagedGroup.Stage, now: Int64) -> StagedGroup {
    var group = group
    switch stage {
    case .open: preconditionFailure("a group does not end by being open")
    // What became of it stays known.
    case .aborted, .expired, .committed, .refused:
      guard group.isOpen else { return group }
      group.until = now + milliseconds(StoreLimits.operationKept)
    case .removed: group.until = 0
    }
    group.stage = stage
    return group
  }
}
