public import CaravanModel
internal import CaravanPostgreSQL
public import CaravanStore

extension StorePostgres {
  public func objectTasks(atMost count: Int) async throws(CaravanError) -> [ObjectTask] {
    let clock = clock
    return try await read { (reads) throws(PostgresError) in try reads.objectTasks(atMost: count, clock: clock) }
  }

  public func finish(
    _ task: ObjectTask, _ outcome: ObjectOutcome, paths: [String]
  ) async throws(CaravanError) {
    let (partition, clock) = (Partition(of: task.zone.database), clock)
    try await perform(in: partition) { (maintenance) throws(PostgresError) in
      try maintenance.finish(task, outcome, paths: paths, in: partition, clock: clock)
    }
  }

  public func objectCounts(of group: OpID?, in zone: ZoneID?) async throws(CaravanError) -> ObjectCounts {
    try await read { (reads) throws(PostgresError) in try reads.objectCounts(of: group, in: zone) }
  }
}

extension Reads {
  func objectTasks(atMost count: Int, clock: Int64?) throws(PostgresError) -> [ObjectTask] {
    let now = try db.run(Statements.clock, clock).first?.integer(0) ?? 0
    var tasks: [ObjectTask] = []
    for partition in try db.run(ObjectStatements.survey, now).map({ Int32($0.integer(0)) }) {
      guard tasks.count < count else { break }
      let rows = try db.run(ObjectStatements.due, partition, now, Int64(count - tasks.count))
      guard let life = try db.run(Statements.logHead, partition).first?.unsigned(1) else { continue }
      for row in rows {
        let (zone, name) = (try row.zone(from: 5), row.text(1))
        var entry: Entry?
        if row.integer(7) == ZoneStage.alive {
          entry = try db.run(Statements.entries, partition, [zone.database.key], [zone.name], [name]).first.map {
            Entry($0, name: name)
          }
        }
        tasks.append(
          ObjectTask(
            zone: zone, incarnation: Layout.incarnation(life: life, zone: row.integer(0)), name: name,
            version: row.unsigned(2), attempts: Int(row.integer(3)),
            paths: row.text(4).split(separator: "\n").map(String.init), entry: entry))
      }
    }
    return tasks
  }

  func objectCounts(of group: OpID?, in zone: ZoneID?) throws(PostgresError) -> ObjectCounts {
    guard let group, let zone else {
      var counts = Self.sum(try db.run(ObjectStatements.counts))
      if counts.failing + counts.refused > 0 {
        counts.problem = try db.run(ObjectStatements.problem).first?.text(0) ?? ""
      }
      return counts
    }
    let partition = Int32(Partition(of: zone.database).number)
    var counts = Self.sum(
      try db.run(ObjectStatements.countsOfGroup, partition, group.writer, group.epoch, group.number))
    guard counts.failing + counts.refused > 0 else { return counts }
    let problems = try db.run(ObjectStatements.problemOfGroup, partition, group.writer, group.epoch, group.number)
    counts.problem = problems.first?.text(0) ?? ""
    return counts
  }

  /// From columns stage, whether it was tried, count.
  private static func sum(_ rows: Rows) -> ObjectCounts {
    rows.reduce(ObjectCounts()) { counts, row in
      let count = Int(row.integer(2))
      let isWaiting = row.integer(0) == ObjectStage.waiting
      return counts
        + ObjectCounts(
          waiting: isWaiting ? count : 0, failing: isWaiting && row.flag(1) ? count : 0,
          refused: isWaiting ? 0 : count)
    }
  }
}

extension PartitionMaintenance {
  /// Records that a restore brought go to the object store that there is now.
  func queueRestoredObjects() throws(PostgresError) {
    var pipeline = Pipeline()
    for partition in Partition.all { pipeline.add(ObjectStatements.queueRestored, Int32(partition.number)) }
    _ = try db.run(pipeline)
  }

  /// On the connection that writes the partition.
  func finish(
    _ task: ObjectTask, _ outcome: ObjectOutcome, paths: [String], in partition: Partition, clock: Int64?
  ) throws(PostgresError) {
    let key = Int32(partition.number)
    let zone = Int64(task.incarnation & 0xff_ffff)
    let now = try self.now(clock)
    var pipeline = Pipeline()
    pipeline.add("BEGIN ISOLATION LEVEL READ COMMITTED")
    // What was written meanwhile is a task of its own; where its objects lie is known all the same. Were they brought
    // there meanwhile, by a process that thought this one dead, these have taken their place: it is to be done again.
    pipeline.add(
      ObjectStatements.savePaths, key, zone, task.name, paths.joined(separator: "\n"), task.version, now)
    func settle(_ stage: Int64, attempts: Int, due: Int64, _ problem: String) {
      pipeline.add(
        ObjectStatements.settle, key, zone, task.name, task.version, stage, Int64(attempts), due, problem)
    }
    switch outcome {
    case .done where paths.isEmpty: pipeline.add(ObjectStatements.forget, key, zone, task.name, task.version)
    case .done: settle(ObjectStage.done, attempts: 0, due: now, "")
    case .failed(let problem, let wait):
      let due = now + wait.components.seconds * 1_000
      settle(ObjectStage.waiting, attempts: task.attempts + 1, due: due, problem)
    case .refused(let problem): settle(ObjectStage.refused, attempts: task.attempts, due: now, problem)
    }
    pipeline.add("COMMIT")
    _ = try db.run(pipeline)
  }
}

extension Pipeline {
  mutating func add(objectsOf state: PartitionState) {
    guard !state.objects.isEmpty else { return }
    let objects = state.objects.sorted { ($0.key.zone, $0.key.name) < ($1.key.zone, $1.key.name) }
    add(
      ObjectStatements.queue, Int32(state.partition.number), objects.map(\.key.zone), objects.map(\.key.name),
      objects.map(\.value.version), objects.map { $0.value.group?.writer ?? "" },
      objects.map { $0.value.group?.epoch ?? 0 }, objects.map { $0.value.group?.number ?? 0 }, state.now)
  }
}
