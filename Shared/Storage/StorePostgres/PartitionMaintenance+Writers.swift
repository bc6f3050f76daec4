internal import CaravanModel
internal import CaravanPostgreSQL
internal import CaravanStore

/// Outcomes of ops that nobody asks for any more (TRU-03, TRU-19): of epochs that their writers have left behind, and
/// of a device that never says what it has heard.
extension PartitionMaintenance {
  func forgetOutcomes() throws(PostgresError) {
    for partition in Partition.all {
      let crowded = try db.run(
        MaintenanceStatements.crowdedWriters, Int32(partition.number), Int64(StoreLimits.epochsOfDevice),
        Int64(StoreLimits.outcomesKept), PostgresLimits.collectedRows)
      for row in crowded {
        try forgetEpochs(of: row.text(0), in: partition)
        if row.integer(1) > StoreLimits.outcomesKept { try raiseWatermarks(of: row.text(0), in: partition) }
      }
    }
  }

  private func forgetEpochs(of writer: String, in partition: Partition) throws(PostgresError) {
    let key = Int32(partition.number)
    let kept = Int64(StoreLimits.epochs(of: writer)) - 1
    guard let oldest = try db.run(MaintenanceStatements.oldestEpochKept, key, writer, kept).first?.integer(0) else {
      return
    }
    var hasMore = true
    while hasMore {
      var removed = 0
      // So many that nobody waits long for the partition.
      try holding(partition) { () throws(PostgresError) in
        removed = try db.run(
          MaintenanceStatements.forgetEpochs, key, writer, oldest, PostgresLimits.forgottenOutcomes
        ).count
        return Pipeline()
      }
      hasMore = removed >= PostgresLimits.forgottenOutcomes
    }
    try holding(partition) { () throws(PostgresError) in
      var pipeline = Pipeline()
      pipeline.add(MaintenanceStatements.forgetFloors, key, writer, oldest)
      return pipeline
    }
  }

  /// As SQLite's writer does with each commit: three in four of what is kept stay.
  private func raiseWatermarks(of writer: String, in partition: Partition) throws(PostgresError) {
    let key = Int32(partition.number)
    let most = Int64(StoreLimits.outcomesKept)
    for epoch in try db.run(MaintenanceStatements.crowdedEpochs, key, writer, most, PostgresLimits.collectedRows) {
      try holding(partition) { () throws(PostgresError) in
        var pipeline = Pipeline()
        let (number, count) = (epoch.integer(0), epoch.integer(1))
        let floor = try db.run(MaintenanceStatements.outcomeBehind, key, writer, number, count - most / 4 * 3).first
        guard let floor else { return pipeline }
        pipeline.add(Statements.saveFloors, key, [writer], [number], [floor.integer(0)])
        pipeline.add(Statements.forgetOps, key, [writer], [number], [floor.integer(0)])
        return pipeline
      }
    }
  }
}
