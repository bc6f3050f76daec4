import CaravanModel
import CaravanQueryCore
import CaravanRuntime
import CaravanWire

// What subscribers are told of what the index takes in.

extension IndexWriter {
  /// Whether somebody waits for what happens in a partition.
  nonisolated func isWatched(_ partition: Partition) -> Bool { watched.withLock { $0.contains(partition.number) } }

  /// Raised when there are notifications of a partition to be sent.
  nonisolated func hits(in partition: Partition) -> Signal {
    signals.withLock { signals in
      if let signal = signals[partition.number] { return signal }
      let signal = Signal()
      signals[partition.number] = signal
      return signal
    }
  }

  /// - Parameter isLate: it may have counted before, for what the index has taken in without it.
  func take(
    _ change: StandingChange, _ database: DatabaseID, isLate: Bool, at now: WallTime
  ) throws(CaravanError) {
    switch change {
    case .removed(let user, let name):
      try standings.remove(name, of: user, database)
      try outbox.removeAll(of: name, of: user, database)
    case .saved(let row):
      let table = try row.type.map { type throws(CaravanError) in
        try tables.make(TableKey(database: database, definition: type.definition)).id
      }
      guard let standing = try standings.save(row, database, table: table) else { return }
      try outbox.removeAll(of: row.query.id, of: row.user, database)
      if isLate {
        try outbox.add(.missed, of: Happening(zone: "", at: now), to: standing)
        hits(in: Partition(of: database)).raise()
      }
      watched.withLock { _ = $0.insert(Partition(of: database).number) }
    }
  }

  // MARK: What subscribers are told

  func tell(
    _ table: Int64, from before: RecordCells?, to after: IndexRow?, _ happening: Happening, in zone: ZoneID
  ) throws(CaravanError) {
    var told: RecordFields?
    for match in try standings.matches(table, from: before, to: after?.cells, in: happening.zone) {
      var happening = happening
      happening.maker = (match.reason == .leaves ? before : after?.cells)?.authorship.creator ?? ""
      // Of what has left the answer nothing but its name is told, as its reader may not see the rest any more.
      let isTold = match.reason != .leaves && match.content.hasValues
      if isTold, told == nil { told = after?.fields() }
      try outbox.add(
        match.reason, of: happening, to: match.standing, showing: match.content.encoded(of: isTold ? told : nil))
      hits(in: Partition(of: zone.database)).raise()
    }
  }

  func tellOfZone(
    _ reason: NotificationLog.Reason, _ zone: ZoneID, life: Incarnation, at now: WallTime
  ) throws(CaravanError) {
    guard zone.name != SubscriptionZone.name else { return }
    for (standing, content) in try standings.aboutZones(of: zone.database) {
      try outbox.add(
        reason, of: Happening(zone: zone.name, version: life, at: now), to: standing,
        showing: content.encoded(of: nil))
      hits(in: Partition(of: zone.database)).raise()
    }
  }

  /// A zone is known too little of: who has subscribed to records of it is to ask anew.
  /// - Parameter life: of the zone, that is over; nil: it goes on.
  func tellOfLoss(of zone: ZoneID, ended life: Incarnation?, at now: WallTime) throws(CaravanError) {
    try changing(Partition(of: zone.database)) { () throws(CaravanError) in
      if let life { try tellOfZone(.zoneDeleted, zone, life: life, at: now) }
      guard let id = try place(of: zone)?.id else { return }
      let tables = try connection.all("SELECT in_table FROM uses WHERE zone = ?", id) { row in row.integer(0) }
      try tellOfLoss(of: zone, in: tables, at: now)
    }
  }

  func tellOfLoss(of zone: ZoneID, in tables: [Int64], at now: WallTime) throws(CaravanError) {
    for table in tables {
      for standing in try standings.about(table) {
        try outbox.add(.missed, of: Happening(zone: zone.name, at: now), to: standing)
        hits(in: Partition(of: zone.database)).raise()
      }
    }
  }

  /// Others have served the partition since: what they told of nobody here knows, so that whoever was to hear of
  /// something is to ask anew.
  func giveUpHits(in partition: Partition, at now: WallTime) throws(CaravanError) {
    try changing(partition) { () throws(CaravanError) in
      for log in try outbox.logs(in: partition) { try outbox.giveUp(log, in: partition, at: now) }
    }
  }

  /// A log takes nothing, or not enough.
  func giveUpHits(of log: LogKey, in partition: Partition, at now: WallTime) throws(CaravanError) {
    try changing(partition) { () throws(CaravanError) in try outbox.giveUp(log, in: partition, at: now) }
  }

  /// The index has read all of a database, and does not know what it was before.
  func tellOfLoss(of database: DatabaseID, at now: WallTime) throws(CaravanError) {
    try changing(Partition(of: database)) { () throws(CaravanError) in
      for standing in try standings.all(of: database) {
        try outbox.add(.missed, of: Happening(zone: "", at: now), to: standing)
        hits(in: Partition(of: database)).raise()
      }
    }
  }

  func hasStandings(_ database: DatabaseID) throws(CaravanError) -> Bool { try standings.has(database) }

  func logs(in partition: Partition) throws(CaravanError) -> [LogKey] { try outbox.logs(in: partition) }

  func hits(of log: LogKey, in partition: Partition) throws(CaravanError) -> [PendingHit] {
    try outbox.next(of: log, in: partition, atMost: QueryLimits.hitsPerCommit)
  }

  func hitCount(of log: LogKey, in partition: Partition) throws(CaravanError) -> Int64 {
    try outbox.count(of: log, in: partition)
  }

  func remove(hitsUpTo id: Int64, of log: LogKey, in partition: Partition) throws(CaravanError) {
    try changing(partition) { () throws(CaravanError) in try outbox.remove(upTo: id, of: log, in: partition) }
  }
}
