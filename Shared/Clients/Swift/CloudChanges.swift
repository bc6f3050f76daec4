public import CaravanModel
internal import CaravanRuntime
internal import CaravanWire

/// How a save meets a record that is there (CK-25).
public enum CloudSaveMode: Sendable, Hashable {
  /// The columns that were changed are saved if the record is as it was read; a record that was not read must not be
  /// there. Else it is a conflict.
  case ifUnchanged
  /// The columns that were changed are saved into whatever is there.
  case changedKeys
  /// All columns that the record has here are saved, changed or not, into whatever is there.
  case allKeys
}

/// What became of one change.
public enum CloudOutcome: Sendable, Hashable {
  /// The record as it was saved. What it has beside the columns that were sent is known as it was read before.
  case saved(CloudRecord)
  /// It was based on another version, and the conflict policy of the type has decided: the record is now this one. nil:
  /// fetch it.
  case merged(CloudRecord?)
  case deleted
  /// There was nothing to delete, or nothing that the user may see: the two are the same (CK-65).
  case missing
  /// The record is not what the change builds on: the cloud has this one, or none. Change that, and save it again.
  case conflict(CloudRecord?)
  /// `accessDenied` for what is somebody else's to change, `schemaViolation` for what does not fit the type, and so on.
  /// What is transient is tried again when the same changes are committed again.
  case refused(CaravanError)

  /// For an app that has nothing to decide where the change was not made.
  /// - Returns: the record as it is now; nil: there is none any more, or it was merged and has to be fetched.
  /// - Throws: `serverRecordChanged` for a conflict; why the change was refused.
  @discardableResult
  public func get() throws(CaravanError) -> CloudRecord? {
    switch self {
    case .saved(let record): return record
    case .merged(let record): return record
    case .deleted, .missing: return nil
    case .conflict(let theirs):
      throw CaravanError(
        .serverRecordChanged,
        theirs.map { "record '\($0.id)' is version \($0.version ?? 0) by now: change that one, and save it again" }
          ?? "the record is gone that was to be changed: save it as a new one if it is still wanted")
    case .refused(let error): throw error
    }
  }
}

/// Changes of records of one table in the cloud, each of which succeeds or fails by itself. They may be committed as
/// often as it takes to hear what became of them: each happens once.
///
///     let changes = CloudChanges(saving: notes)
///     while true {
///       do { outcomes = try await table.cloud(.public).commit(changes); break } catch {
///         guard error.isTransient else { throw error }
///       }
///     }
public final class CloudChanges: Sendable {
  /// One change.
  public enum Change: Sendable, Hashable {
    case save(CloudRecord, CloudSaveMode = .ifUnchanged)
    /// Whatever is there.
    case delete(String)
    /// Only the version that was read.
    case deleteIfUnchanged(CloudRecord)

    var id: String {
      switch self {
      case .save(let record, _), .deleteIfUnchanged(let record): record.id
      case .delete(let id): id
      }
    }

    /// Objects that it brings.
    var contents: [String: [UInt8]] {
      switch self {
      case .save(let record, _): record.contents
      case .delete, .deleteIfUnchanged: [:]
      }
    }
  }

  private struct State {
    var table: String?
    var numbers: CaravanWire.ReservedNumbers?
    /// Final ones.
    var outcomes: [CloudOutcome?]
    var objects = CloudObjects()
  }

  /// In the order in which they are made.
  public let changes: [Change]
  private let state: Mutex<State>

  /// - Parameter changes: at most 400, each of another record.
  public init(_ changes: [Change]) {
    self.changes = changes
    state = Mutex(State(outcomes: Array(repeating: nil, count: changes.count)))
  }

  /// - Parameters:
  ///   - records: that are saved.
  ///   - mode: how.
  ///   - ids: of records that are deleted, whatever they are by then.
  public convenience init(
    saving records: [CloudRecord], mode: CloudSaveMode = .ifUnchanged, deleting ids: [String] = []
  ) {
    self.init(records.map { .save($0, mode) } + ids.map { .delete($0) })
  }

  /// - Parameter objects: a write of the first change's objects.
  init(saving record: CloudRecord, mode: CloudSaveMode, with objects: UInt64, on connection: AppConnection) {
    changes = [.save(record, mode)]
    state = Mutex(State(outcomes: [nil], objects: CloudObjects(of: 0, write: objects, on: connection)))
  }

  // What was sent of objects is not kept for changes that nobody can commit any more.
  deinit { state.withLock { $0.objects.forgetAll() } }

  // MARK: Committing

  /// Sends what has no final outcome.
  func commit(_ table: Table, isPublic: Bool) async throws(CaravanError) -> [CloudOutcome] {
    guard !changes.isEmpty else { return [] }
    try checkAreDistinct()
    try claim(table)
    let numbers = try await numbers(from: table.connection)
    var outcomes = state.withLock { $0.outcomes }
    var next = 0
    while next < changes.count {
      guard outcomes[next] == nil else {
        next += 1
        continue
      }
      var (request, indices): ([CaravanWire.RecordChange], [Int])
      do throws(CaravanError) { (request, indices) = try self.request(from: next, outcomes, numbers) } catch {
        outcomes[next] = .refused(error)
        continue
      }
      for (place, index) in indices.enumerated() {
        request[place].objects = try await objects(of: index, on: table.connection, isPublic: isPublic)
      }
      var message = CaravanWire.ChangeRecords(table: table.name, publicDatabase: isPublic, epoch: numbers.epoch)
      message.changes = request
      guard case .changedRecords(let answer) = try await table.connection.request(.changeRecords(message)),
        (1...indices.count).contains(answer.outcomes.count)
      else { throw AppConnection.surprise("change") }
      for (index, outcome) in zip(indices, answer.outcomes) {
        let known = try Self.outcome(outcome, of: changes[index])
        outcomes[index] = known
        state.withLock { state in
          state.outcomes[index] = known.isFinal ? known : nil
          if known.isFinal { state.objects.forget(index) }
        }
      }
    }
    return outcomes.compactMap { $0 }
  }

  /// The write of a change's objects, which have gone to the agent; 0: it has none.
  private func objects(
    of index: Int, on connection: AppConnection, isPublic: Bool
  ) async throws(CaravanError) -> UInt64 {
    let contents = changes[index].contents
    if let write = try state.withLock({ (state) throws(CaravanError) in
      try state.objects.write(of: index, on: connection, isLost: contents.isEmpty)
    }) {
      return write
    }
    guard !contents.isEmpty else { return 0 }
    let writer = try await connection.openObjects(contents.keys.sorted(), of: changes[index].id, isPublic: isPublic)
    state.withLock { $0.objects.add(writer.write, of: index, on: connection) }
    do throws(CaravanError) {
      for (object, bytes) in contents.sorted(by: { $0.key < $1.key }) {
        try await writer.write(bytes, to: object, at: 0)
      }
    } catch {
      // Half an object is nobody's.
      state.withLock { $0.objects.forget(index) }
      throw error
    }
    return writer.write
  }

  /// - Returns: what goes in one message, and which changes these are.
  /// - Throws: why the first of them can go in none.
  private func request(
    from first: Int, _ outcomes: [CloudOutcome?], _ numbers: CaravanWire.ReservedNumbers
  ) throws(CaravanError) -> ([CaravanWire.RecordChange], [Int]) {
    var (list, indices, bytes): ([CaravanWire.RecordChange], [Int], Int) = ([], [], 0)
    var withObjects = 0
    for index in first..<changes.count where outcomes[index] == nil && list.count < ClientLimits.changesPerRequest {
      if !changes[index].contents.isEmpty { withObjects += 1 }
      guard withObjects <= ClientLimits.objectsOpen else { break }
      let change: CaravanWire.RecordChange
      do throws(CaravanError) {
        change = try CaravanWire.RecordChange(changes[index], number: numbers.first + UInt64(index))
        bytes += change.encoded().count + 16
        guard bytes <= ClientLimits.changeBytes else { throw Self.tooLarge(changes[index].id) }
      } catch {
        guard list.isEmpty else { break }
        throw error
      }
      list.append(change)
      indices.append(index)
    }
    return (list, indices)
  }

  private func checkAreDistinct() throws(CaravanError) {
    var seen: Set<String> = []
    for change in changes where !seen.insert(change.id).inserted {
      throw CaravanError(
        .invalidData, "record '\(change.id.prefix(80))' is changed twice at once: send its last change only")
    }
  }

  private func claim(_ table: Table) throws(CaravanError) {
    let owner = state.withLock { state in
      state.table = state.table ?? table.name
      return state.table
    }
    guard owner == table.name else {
      throw CaravanError(
        .invalidData, "the changes are of table '\(owner ?? "")': commit them there, or make others for '\(table.name)'"
      )
    }
  }

  private func numbers(from connection: AppConnection) async throws(CaravanError) -> CaravanWire.ReservedNumbers {
    if let known = state.withLock({ $0.numbers }) { return known }
    let request = CaravanWire.ReserveNumbers(count: UInt32(clamping: changes.count))
    guard case .reservedNumbers(let reserved) = try await connection.request(.reserveNumbers(request)) else {
      throw AppConnection.surprise("change")
    }
    return state.withLock { state in
      // Whoever commits them at the same time uses the same numbers.
      state.numbers = state.numbers ?? reserved
      return state.numbers ?? reserved
    }
  }

  private static func outcome(
    _ outcome: CaravanWire.RecordOutcome, of change: Change
  ) throws(CaravanError) -> CloudOutcome {
    let record = try outcome.row.map { (row) throws(CaravanError) in try CloudRecord(row) }
    switch outcome.verdict {
    case .merged: return .merged(record)
    case .conflict: return .conflict(record)
    case .refused: return .refused(try required(outcome.failure, "failure").model())
    case .unspecified: throw AppConnection.surprise("change")
    case .done:
      guard case .save(let draft, let mode) = change else { return outcome.version == 0 ? .missing : .deleted }
      let act = RowAct(milliseconds: outcome.modifiedMilliseconds, by: outcome.modifiedBy)
      let written = outcome.objects.map { ($0.column, $0.size) }
      return .saved(
        draft.saved(
          as: outcome.version, by: act, isNew: mode == .ifUnchanged && draft.version == nil,
          Dictionary(written, uniquingKeysWith: { $1 })))
    }
  }

  private static func tooLarge(_ id: String) -> CaravanError {
    CaravanError(
      .limitExceeded,
      "record '\(id.prefix(80))' has more than the \(ClientLimits.changeBytes) bytes that one may have: make it smaller"
    )
  }
}

extension CloudOutcome {
  /// Asking again would not change it.
  fileprivate var isFinal: Bool {
    guard case .refused(let error) = self else { return true }
    return !error.isTransient
  }
}

extension CaravanWire.RecordChange {
  fileprivate init(_ change: CloudChanges.Change, number: UInt64) throws(CaravanError) {
    switch change {
    case .delete(let id): self.init(number: number, id: id, deletion: true)
    case .deleteIfUnchanged(let record):
      self.init(number: number, id: record.id, deletion: true, basedOn: record.version ?? 0)
    case .save(let record, let mode):
      var cells: [CaravanWire.Cell] = []
      let columns = mode == .allKeys ? record.changedColumns.union(record.cells.keys) : record.changedColumns
      for column in columns.subtracting(record.contents.keys).sorted() {
        cells.append(try CaravanWire.Cell(column, record[column]))
      }
      self.init(
        number: number, id: record.id, basedOn: mode == .ifUnchanged ? record.version ?? 0 : nil, cells: cells)
      switch record.expiry {
      case .keep: break
      case .never: expires = 0
      case .at(let milliseconds): expires = UInt64(max(1, milliseconds))
      case .after(let duration): ttlMilliseconds = UInt64(max(1, duration.wholeMilliseconds))
      }
    }
  }
}
