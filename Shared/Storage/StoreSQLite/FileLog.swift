internal import CaravanModel
internal import CaravanSQLite
internal import CaravanStore

/// The logs of the file's partitions.
final class FileLog: FilePart {
  let context: FileContext
  private let wantsChanges: Bool
  private var nextPositions: [UInt32: UInt64] = [:]
  /// Committed by the open transaction, for the observer.
  private(set) var changes: [CommittedChange] = []

  init(_ context: FileContext, wantsChanges: Bool) {
    self.context = context
    self.wantsChanges = wantsChanges
  }

  func forget() { nextPositions = [:] }

  /// What the transaction committed, once.
  func takeChanges() -> [CommittedChange] {
    defer { changes = [] }
    return changes
  }

  /// Nothing happened of what came behind the first so many.
  func forgetChanges(behind count: Int) { changes.removeSubrange(count...) }

  /// Where the next entry goes.
  func nextPosition(in partition: UInt32) throws(CaravanError) -> UInt64 {
    if let known = nextPositions[partition] { return known }
    return try reads.logHead(of: partition) + 1
  }

  /// Appends to the log of the zone's partition, and notes what the observer hears.
  func append(
    _ zone: ZoneID, _ row: ZoneRecord, low: Seq, high: Seq, writer: String, isDeletion: Bool = false,
    hasEntries: Bool = true, entries: @autoclosure () throws(CaravanError) -> [Entry]
  ) throws(CaravanError) {
    let partition = Partition(of: zone.database)
    let position = try nextPosition(in: partition.number)
    let key = Key.make(Int64(partition.number), position)
    try db.statement("INSERT INTO log(key, zone, low, high, deletion, writer) VALUES (?, ?, ?, ?, ?, ?)").run {
      (line) throws(CaravanError) in
      try line.bind(key, at: 1)
      try line.bind(row.id, at: 2)
      try line.bind(low, at: 3)
      try line.bind(high, at: 4)
      try line.bind(Int64(isDeletion ? 1 : 0), at: 5)
      try line.bind(writer, at: 6)
    }
    nextPositions[partition.number] = position + 1
    guard wantsChanges else { return }
    let commit = LoggedCommit(
      position: position, zone: zone, low: low, high: high, incarnation: row.incarnation, writer: writer,
      isDeletion: isDeletion)
    changes.append(
      CommittedChange(partition: partition, log: commit, entries: try entries(), hasEntries: hasEntries))
  }
}
