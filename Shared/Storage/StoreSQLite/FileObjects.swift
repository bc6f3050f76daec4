internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// Records whose objects go to the object store. They are noted in the commit that writes them, so none is forgotten.
struct FileObjects: FilePart {
  let context: FileContext
  let writers: WriterEpochs
  /// Whether there is an object store.
  let queues: Bool

  func queue(
    of writes: [ZoneCommit.Write], _ commit: Commit, in zone: Int64
  ) throws(CaravanError) {
    let group = try commit.parts == nil ? nil : Key.make(writers.writer(commit.op).id, commit.op.number)
    for write in writes {
      try db.run(
        """
        INSERT INTO objects(zone, name, seq, op, stage, attempts, due, paths, problem)
        VALUES (?, ?, ?, ?, 0, 0, ?, '', '')
        ON CONFLICT (zone, name) DO UPDATE SET seq = excluded.seq, op = excluded.op, stage = 0, attempts = 0,
          due = excluded.due, problem = ''
        """, zone, write.name, write.version, group, now)
    }
  }

  func note(ofRestored entry: Entry, in zone: Int64) throws(CaravanError) {
    try db.run(
      """
      INSERT INTO objects(zone, name, seq, op, stage, attempts, due, paths, problem)
      VALUES (?, ?, ?, NULL, ?, 0, 0, '', '')
      """, zone, entry.name, entry.version, ObjectStage.restored)
  }

  /// Records that a restore brought go to the object store that there is now.
  func queueRestored() throws(CaravanError) {
    guard try reads.reach > 0 else { return }
    try db.run(
      "UPDATE objects SET stage = ? WHERE stage = ?", ObjectStage.waiting, ObjectStage.restored)
  }

  /// Of a record that goes with its zone.
  func queue(of name: String, in zone: Int64) throws(CaravanError) {
    try db.run(
      "UPDATE objects SET stage = 0, attempts = 0, due = ?, problem = '' WHERE zone = ? AND name = ?", now, zone, name)
  }

  func finish(_ task: ObjectTask, _ outcome: ObjectOutcome, paths: [String]) throws(CaravanError) {
    guard let zone = try reads.zoneNumber(task.incarnation) else { return }
    let text = paths.joined(separator: "\n")
    // What was written meanwhile is a task of its own; where its objects lie is known all the same. Were they brought
    // there meanwhile, by a process that thought this one dead, these have taken their place: it is to be done again.
    try db.run(
      """
      UPDATE objects SET paths = ?, stage = iif(seq = ?, stage, 0), due = iif(seq = ? OR stage = 0, due, ?)
      WHERE zone = ? AND name = ?
      """, text, task.version, task.version, now, zone, task.name)
    switch outcome {
    case .done where paths.isEmpty:
      try db.run("DELETE FROM objects WHERE zone = ? AND name = ? AND seq = ?", zone, task.name, task.version)
    case .done:
      try settle(task, zone, stage: ObjectStage.done, attempts: 0, due: now, problem: "")
    case .failed(let problem, let wait):
      try settle(
        task, zone, stage: ObjectStage.waiting, attempts: task.attempts + 1, due: now + wait.components.seconds * 1_000,
        problem: problem)
    case .refused(let problem):
      try settle(task, zone, stage: ObjectStage.refused, attempts: task.attempts, due: now, problem: problem)
    }
  }

  private func settle(
    _ task: ObjectTask, _ zone: Int64, stage: Int64, attempts: Int, due: Int64, problem: String
  ) throws(CaravanError) {
    try db.run(
      "UPDATE objects SET stage = ?, attempts = ?, due = ?, problem = ? WHERE zone = ? AND name = ? AND seq = ?", stage,
      attempts, due, problem, zone, task.name, task.version)
  }
}

extension FileReads {
  func objectTasks(atMost count: Int, now: Int64) throws(CaravanError) -> [ObjectTask] {
    let rows = try db.all(
      """
      SELECT z.name, d.container, d.environment, d.owner, o.zone, o.name, o.seq, o.attempts, o.paths, z.state,
        z.incarnation
      FROM objects o JOIN zones z ON z.id = o.zone JOIN databases d ON d.id = z.database
      WHERE o.stage = 0 AND o.due <= ? ORDER BY o.due LIMIT ?
      """, now, count
    ) { (row) throws(CaravanError) in
      let task = ObjectTask(
        zone: try zoneID(row, from: 0), incarnation: incarnation(row.integer(4), row.unsigned(10)), name: row.text(5),
        version: row.unsigned(6), attempts: Int(row.integer(7)),
        paths: row.text(8).split(separator: "\n").map(String.init), entry: nil)
      return (task: task, zone: row.integer(4), isAlive: row.integer(9) == ZoneStage.alive)
    }
    var tasks: [ObjectTask] = []
    for row in rows {
      var task = row.task
      if row.isAlive { task.entry = try entry(task.name, in: row.zone) }
      tasks.append(task)
    }
    return tasks
  }

  func objectCounts(of group: OpID?) throws(CaravanError) -> ObjectCounts {
    let read = { (row: Row) in
      ObjectCounts(
        waiting: Int(row.integer(0)), failing: Int(row.integer(1)), refused: Int(row.integer(2)), problem: row.text(3))
    }
    guard let group else {
      // Asked for again and again: each part from a partial index, never from what is done.
      return try db.first(
        """
        SELECT (SELECT count(*) FROM objects WHERE stage = 0),
          (SELECT count(*) FROM objects WHERE stage = 0 AND attempts > 0),
          (SELECT count(*) FROM objects WHERE stage = 2),
          coalesce(
            (SELECT problem FROM objects WHERE stage = 0 AND attempts > 0 ORDER BY due DESC LIMIT 1),
            (SELECT problem FROM objects WHERE stage = 2 LIMIT 1), '')
        """, read: read) ?? ObjectCounts()
    }
    guard let key = try groupKey(group) else { return ObjectCounts() }
    return try db.first(
      """
      SELECT count(*) FILTER (WHERE stage = 0), count(*) FILTER (WHERE stage = 0 AND attempts > 0),
        count(*) FILTER (WHERE stage = 2), max(problem) FROM objects WHERE op = ?
      """, key, read: read) ?? ObjectCounts()
  }
}
