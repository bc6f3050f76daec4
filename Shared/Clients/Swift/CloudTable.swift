public import CaravanModel
internal import CaravanWire

/// The records of a table's type in one of the app's databases in the cloud, which are read and changed there and not
/// kept here: every call asks the cloud, over whatever link there is. Only the public database is changed so; rows of
/// the private one are the table's own, and synced.
///
///     let notes = client.table("notes").cloud(.public)
///     var note = CloudRecord("note-7", ["text": .text("hello")])
///     if case .saved(let saved) = try await notes.save(note) { note = saved }
///
/// Who may see, make and change records of the type, its grants say (CK-04). Every call throws `networkNotConnected`,
/// `networkNotPermitted`, `timedOut` where an answer was lost, and what concerns all of its records.
public struct CloudTable: Sendable {
  /// Of the record type.
  public let table: Table
  /// Where its records lie.
  public let database: CloudDatabase

  // MARK: Reading

  /// Reads a record (CK-24).
  /// - Parameters:
  ///   - id: its name.
  ///   - columns: that are read; none: all.
  /// - Returns: nil: there is none, or none that the user may see.
  public func fetch(_ id: String, columns: [String] = []) async throws(CaravanError) -> CloudRecord? {
    switch try await fetch([id], columns: columns)[0] {
    case .record(let record): return record
    case .missing: return nil
    case .failed(let error): throw error
    }
  }

  /// Reads records by name (CK-24).
  /// - Parameters:
  ///   - ids: their names.
  ///   - columns: that are read; none: all.
  /// - Returns: what there is under each name, in their order.
  public func fetch(_ ids: [String], columns: [String] = []) async throws(CaravanError) -> [CloudFound] {
    var wanted: [String] = []
    var seen: Set<String> = []
    for id in ids where seen.insert(id).inserted { wanted.append(id) }
    var found: [String: CloudFound] = [:]
    while found.count < wanted.count {
      let rest = wanted[found.count...].prefix(ClientLimits.fetchedRecords)
      let request = CaravanWire.FetchRecords(
        table: table.name, publicDatabase: database == .public, ids: Array(rest), columns: columns)
      guard case .foundRecords(let answer) = try await table.connection.request(.fetchRecords(request)),
        (1...rest.count).contains(answer.records.count)
      else { throw AppConnection.surprise("fetch") }
      for (id, record) in zip(rest, answer.records) { found[id] = try CloudFound(record) }
    }
    return ids.compactMap { found[$0] }
  }

  // MARK: Changing

  /// Saves a record.
  /// - Parameters:
  ///   - record: as the app wants it.
  ///   - mode: what it may meet.
  public func save(_ record: CloudRecord, mode: CloudSaveMode = .ifUnchanged) async throws(CaravanError) -> CloudOutcome
  {
    try await save([record], mode: mode)[0]
  }

  /// Saves records, each by itself. Where the answer may be lost, make `CloudChanges` of them, which can be committed
  /// again.
  /// - Parameters:
  ///   - records: at most 400.
  ///   - mode: what they may meet.
  /// - Returns: what became of each, in their order.
  public func save(
    _ records: [CloudRecord], mode: CloudSaveMode = .ifUnchanged
  ) async throws(CaravanError) -> [CloudOutcome] {
    try await commit(CloudChanges(saving: records, mode: mode))
  }

  /// Deletes records, whatever they are by now, each by itself.
  /// - Parameter ids: their names; at most 400.
  /// - Returns: what became of each, in their order.
  public func delete(_ ids: [String]) async throws(CaravanError) -> [CloudOutcome] {
    try await commit(CloudChanges(saving: [], deleting: ids))
  }

  /// Makes changes, or those of them that are left from a commit before.
  /// - Parameter changes: of this table.
  /// - Returns: what became of each, in their order.
  /// - Throws: besides what every call does, `noOperationId` for changes that were begun more than an hour ago, or
  ///   before the device started over: fetch the records, and make new changes.
  public func commit(_ changes: CloudChanges) async throws(CaravanError) -> [CloudOutcome] {
    try await changes.commit(table, isPublic: database == .public)
  }
}

/// What the cloud has under a name.
public enum CloudFound: Sendable, Hashable {
  case record(CloudRecord)
  /// There is none, or none that the user may see: the two are the same (CK-65). One of another type is none.
  case missing
  case failed(CaravanError)

  init(_ found: CaravanWire.FoundRecord) throws(CaravanError) {
    if let failure = found.failure {
      self = .failed(failure.model())
    } else {
      self = try found.row.map { (row) throws(CaravanError) in .record(try CloudRecord(row)) } ?? .missing
    }
  }
}

extension Table {
  /// The records of this table's type in the cloud, which are not kept here.
  /// - Parameter database: the public one; the private one's rows are synced, and refused here.
  public func cloud(_ database: CloudDatabase) -> CloudTable { CloudTable(table: self, database: database) }
}
