public import CaravanModel
internal import CaravanPostgreSQL
public import CaravanStore

/// Groups and locks.
extension StorePostgres {
  public func beginGroup(
    _ op: OpID, floor: UInt64, in zone: ZoneID
  ) async throws(CaravanError) -> StagedGroup {
    try await write(to: Partition(of: zone.database)) {
      $0.add(group: op, in: zone)
      if let owner = zone.database.owner { $0.add(groupsOf: owner) }
    } _: { (state) throws(CaravanError) in
      let group = try state.beginGroup(op, floor: floor, in: zone)
      return { _ throws(CaravanError) in group }
    }
  }

  public func stage(_ part: StagedPart) async throws(CaravanError) -> PartStaging {
    try await trusting(Set(part.chunks), in: part.zone.database) { trusted throws(CaravanError) in
      try await write(to: Partition(of: part.zone.database), bytes: part.body.count) {
        $0.add(part)
      } _: { (state) throws(CaravanError) in
        let staging = try state.stage(part, trusting: trusted)
        return { _ throws(CaravanError) in staging }
      }
    }
  }

  public func group(_ op: OpID, in zone: ZoneID) async throws(CaravanError) -> StagedGroup? {
    try await read { (reads) throws(PostgresError) in try reads.group(op, in: zone) }
  }

  public func parts(of op: OpID, in zone: ZoneID) async throws(CaravanError) -> [[UInt8]] {
    try await read { (reads) throws(PostgresError) in try reads.parts(of: op, in: zone) }
  }

  public func removeGroup(_ op: OpID, in zone: ZoneID) async throws(CaravanError) {
    try await write(to: Partition(of: zone.database)) {
      $0.add(group: op, in: zone)
    } _: { (state) throws(CaravanError) in
      try state.removeGroup(op, in: zone)
      return { _ throws(CaravanError) in }
    }
  }

  public func lock(
    _ name: String, _ wish: LockWish, holder: String, in partition: Partition
  ) async throws(CaravanError) -> Lease {
    try await write(to: partition) {
      $0.add(leases: [name])
    } _: { (state) throws(CaravanError) in
      let lease = try state.lock(name, wish, holder: holder)
      return { _ throws(CaravanError) in lease }
    }
  }
}

extension Reads {
  func group(_ op: OpID, in zone: ZoneID) throws(PostgresError) -> StagedGroup? {
    let partition = Int32(Partition(of: zone.database).number)
    let rows = try db.run(GroupStatements.groups, partition, [op.writer], [op.epoch], [op.number])
    guard let row = rows.first else { return nil }
    return try StagedGroup(row)
  }

  func parts(of op: OpID, in zone: ZoneID) throws(PostgresError) -> [[UInt8]] {
    let partition = Int32(Partition(of: zone.database).number)
    return try db.run(GroupStatements.parts, partition, op.writer, op.epoch, op.number).map { $0.bytes(0) }
  }
}

extension PartitionMaintenance {
  /// Gives up groups that nobody goes on with, and those begun before the database's time went back (TRU-12);
  /// removes a part of one that has ended, and forgets the oldest.
  func collectGroups(in partition: Partition, clock: Int64?) throws(PostgresError) {
    let key = Int32(partition.number)
    try holding(partition) { () throws(PostgresError) in
      let now = try self.now(clock)
      var pipeline = Pipeline()
      let expired = try db.run(
        GroupStatements.expired, key, now, Self.latestGroup(now), PostgresLimits.collectedRows)
      if !expired.isEmpty {
        let (writers, epochs) = (expired.map { $0.text(0) }, expired.map { $0.integer(1) })
        let numbers = expired.map { $0.integer(2) }
        // A commit that comes late will never apply.
        let aborted = numbers.map { _ in Bytes(OpOutcome.aborted.encoded) }
        pipeline.add(GroupStatements.abortOps, key, writers, epochs, numbers, aborted)
        pipeline.add(
          GroupStatements.expire, key, writers, epochs, numbers, StagedGroup.Stage.expired.rawValue,
          now + StoreLimits.operationKept.components.seconds * 1_000)
      }
      pipeline.add(GroupStatements.forget, key, now)
      try clearPart(key, now, &pipeline)
      return pipeline
    }
  }

  private func clearPart(_ key: Int32, _ now: Int64, _ pipeline: inout Pipeline) throws(PostgresError) {
    guard let part = try db.run(GroupStatements.toClear, key).first else { return }
    let (writer, epoch, number) = (part.text(0), part.integer(1), part.integer(2))
    let until = now + StoreLimits.stagingLease.components.seconds * 1_000
    let changes = ((try? ChunkHash.list(part.bytes(4))) ?? []).map {
      ChunkChange(hash: $0, references: -1, keptUntil: until)
    }
    if !changes.isEmpty { pipeline.add(changes, to: part.text(5), key) }
    pipeline.add(GroupStatements.removePart, key, writer, epoch, number, part.integer(3))
    pipeline.add(GroupStatements.partRemoved, key, writer, epoch, number)
  }
}
