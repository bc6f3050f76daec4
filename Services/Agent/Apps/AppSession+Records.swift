internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanWire

// Records of the public database, which an app reads and changes at the cloud.
extension AppSession {
  func carryOutOnRecords(_ request: AppRequest.Kind) async throws(CaravanError) -> AppReply.Kind {
    switch request {
    case .fetchRecords(let request): return try await fetch(request)
    case .reserveNumbers(let request): return try await reserve(request)
    case .changeRecords(let request): return try await change(request)
    case .readObject(let request): return try await read(request)
    case .openObjects(let request): return try await open(request)
    default: preconditionFailure("\(request) is about no records of the cloud")
    }
  }

  private func fetch(_ request: FetchRecords) async throws(CaravanError) -> AppReply.Kind {
    try checkIsPublic(request.publicDatabase)
    try Self.checkCount(request.ids.count, "ids")
    let question = RecordsQuestion(table: table(request.table), ids: request.ids, columns: request.columns)
    var found: [FoundRecord] = []
    for record in try await sync.cloud().fetch(question) {
      switch record {
      case .record(let shown): found.append(FoundRecord(row: try row(shown)))
      case .missing: found.append(FoundRecord())
      case .failed(let error): found.append(FoundRecord(failure: Failure(error)))
      }
    }
    return .foundRecords(FoundRecords(records: found))
  }

  private func reserve(_ request: ReserveNumbers) async throws(CaravanError) -> AppReply.Kind {
    let numbers = try await store.reserveNumbers(Int(request.count), for: app)
    return .reservedNumbers(ReservedNumbers(epoch: numbers.epoch, first: numbers.first))
  }

  private func change(_ request: ChangeRecords) async throws(CaravanError) -> AppReply.Kind {
    try checkIsPublic(request.publicDatabase)
    try Self.checkCount(request.changes.count, "changes")
    var edits: [RecordEdit] = []
    for change in request.changes {
      let objects = change.objects == 0 ? [:] : try await store.cloudObjects(change.objects, owner: owner)
      edits.append(try RecordEdit(change, with: objects))
    }
    try Self.checkAreDistinct(edits)
    try await store.checkNumbers(edits.map(\.number), epoch: request.epoch, of: app)
    let changes = RecordChanges(table: table(request.table), epoch: request.epoch, edits: edits)
    var outcomes: [CaravanWire.RecordOutcome] = []
    for (outcome, edit) in zip(try await sync.cloud().change(changes), edits) {
      outcomes.append(try answer(outcome, to: edit))
    }
    return .changedRecords(ChangedRecords(outcomes: outcomes))
  }

  private func answer(
    _ outcome: CaravanAgentSync.RecordOutcome, to edit: RecordEdit
  ) throws(CaravanError) -> CaravanWire.RecordOutcome {
    switch outcome {
    case .done(let version, let modified, let writer):
      CaravanWire.RecordOutcome(
        verdict: .done, version: version, modifiedMilliseconds: UInt64(max(0, modified)),
        modifiedBy: modified > 0 ? writer : "", objects: edit.objects)
    case .merged(let record): CaravanWire.RecordOutcome(verdict: .merged, row: try row(record))
    case .conflict(let record): CaravanWire.RecordOutcome(verdict: .conflict, row: try row(record))
    case .refused(let error): CaravanWire.RecordOutcome(verdict: .refused, failure: Failure(error))
    }
  }

  /// Opens objects that a change is to save.
  private func open(_ request: OpenObjects) async throws(CaravanError) -> AppReply.Kind {
    try checkIsPublic(request.publicDatabase)
    return .writeOpened(
      WriteOpened(write: try await store.openCloudObjects(request.objects, of: app, owner: owner)))
  }

  private func read(_ request: ReadObject) async throws(CaravanError) -> AppReply.Kind {
    let question = CloudObjectQuestion(
      table: table(request.table), id: request.row, column: request.object, version: request.version,
      offset: request.offset, length: Int(request.length))
    let slice = try await sync.cloud().read(question)
    return .objectBytes(ObjectBytes(data: slice.bytes, size: slice.size))
  }

  private func row(_ record: ShownRecord?) throws(CaravanError) -> CaravanWire.Row? {
    guard let record else { return nil }
    let row = Row(record.entry, record.fields, record.columns)
    try checkKnown(row)
    return row
  }

  // MARK: Checks

  /// Rows of the private database are synced: who changed them at the cloud as well would be in conflict with themself.
  private func checkIsPublic(_ isPublic: Bool) throws(CaravanError) {
    guard !isPublic else { return }
    throw CaravanError(
      .invalidData,
      "records are read and changed by name in the public database only: those of the private one are rows of tables, "
        + "which sync brings and takes")
  }

  private static func checkCount(_ count: Int, _ what: StaticString) throws(CaravanError) {
    guard (1...Limits.recordsPerCommit).contains(count) else {
      throw CaravanError(
        .limitExceeded, "a request has \(count) \(what): send 1 to \(Limits.recordsPerCommit), and the rest after it")
    }
  }

  private static func checkAreDistinct(_ edits: [RecordEdit]) throws(CaravanError) {
    var (ids, numbers): (Set<String>, Set<UInt64>) = ([], [])
    for edit in edits {
      guard ids.insert(edit.id).inserted else {
        throw CaravanError(
          .invalidData, "record '\(edit.id.prefix(80))' is changed twice at once: send its last change only")
      }
      guard numbers.insert(edit.number).inserted else {
        throw CaravanError(.invalidData, "two changes have the number \(edit.number): reserve one for each")
      }
    }
  }
}

extension RecordEdit {
  /// - Parameter objects: that it saves, by column.
  fileprivate init(
    _ change: RecordChange, with objects: [String: CaravanModel.Value]
  ) throws(CaravanError) {
    var columns = objects
    for cell in change.cells {
      guard columns.updateValue(try cell.model(), forKey: cell.column) == nil else {
        throw CaravanError(
          .invalidData, "record '\(change.id.prefix(80))' has column '\(cell.column.prefix(80))' twice: leave one out")
      }
    }
    let base: Base = change.basedOn.map { $0 == 0 ? .absent : .version($0) } ?? .any
    guard change.deletion else {
      self.init(number: change.number, id: change.id, .save(columns), base: base, expiry: try change.expiry)
      return
    }
    guard columns.isEmpty, change.expires == nil, change.ttlMilliseconds == 0 else {
      throw CaravanError(.invalidData, "the deletion of record '\(change.id.prefix(80))' has values: it takes none")
    }
    self.init(number: change.number, id: change.id, .delete, base: base)
  }
}

extension RecordEdit {
  /// Those that it saves.
  fileprivate var objects: [ObjectInfo] {
    guard case .save(let columns) = change else { return [] }
    return columns.sorted { $0.key < $1.key }.compactMap { column, value in
      switch value {
      case .asset(let manifest): ObjectInfo(column: column, size: manifest.size)
      case .assetList(_, let size): ObjectInfo(column: column, size: size)
      default: nil
      }
    }
  }
}

extension RecordChange {
  fileprivate var expiry: WriteTerms.Expiry {
    get throws(CaravanError) {
      guard ttlMilliseconds > 0 else {
        return expires.map { $0 == 0 ? .never : .at(Int64(clamping: $0)) } ?? .keep
      }
      guard expires == nil else {
        throw CaravanError(.invalidData, "record '\(id.prefix(80))' ends at a time, or after one: say which")
      }
      return .after(Int64(clamping: ttlMilliseconds))
    }
  }
}
