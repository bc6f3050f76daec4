internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanWire

// Questions to the cloud itself.
extension AppSession {
  func askCloud(_ request: AppRequest.Kind) async throws(CaravanError) -> AppReply.Kind {
    switch request {
    case .queryCloud(let request): try await query(request)
    case .manageSubscriptions(let request): try await manage(request)
    case .managePushTargets(let request): try await manage(request)
    default: try await carryOutOnRecords(request)
    }
  }

  func query(_ request: QueryCloud) async throws(CaravanError) -> AppReply.Kind {
    var question = CloudQuestion(app: app, type: request.table)
    question.isPublic = request.publicDatabase
    question.limit = Int(request.limit)
    question.cursor = request.cursor
    question.zone = request.zone.isEmpty ? nil : request.zone
    question.fields = request.columns
    question.isCount = request.counts
    for term in request.order {
      question.sort.append(
        CaravanModel.SortKey(term.column, isDescending: term.descending, near: try term.near?.model()))
    }
    if let selection = request.selection, !selection.text.isEmpty {
      var arguments: [CaravanModel.Value] = []
      for argument in selection.arguments { arguments.append(try argument.model()) }
      question.text = CaravanModel.Query.Text(selection.text, arguments: arguments)
    }
    let page = try await sync.query(question)
    let columns =
      request.columns.isEmpty ? page.type.fields : page.type.fields.filter { request.columns.contains($0.name) }
    let rows = page.records.map { CloudRow(zone: $0.zone, row: Row($0.entry, $0.fields, columns)) }
    for row in rows { if let row = row.row { try checkKnown(row) } }
    return .cloudRows(CloudRows(rows: rows, cursor: page.cursor, count: page.count))
  }
}

extension CaravanWire.Row {
  /// A record of the cloud.
  init(_ entry: CaravanModel.Entry, _ fields: RecordFields, _ columns: [CaravanModel.FieldDefinition]) {
    self.init(id: entry.name, version: entry.version, state: .clean)
    for column in columns {
      switch fields[column.id] {
      case .null: continue
      case .asset(let manifest): objects.append(ObjectInfo(column: column.name, size: manifest.size))
      case .assetList(_, let size): objects.append(ObjectInfo(column: column.name, size: size))
      case let value: cells.append(Cell(column: column.name, value))
      }
    }
    expiresMilliseconds = UInt64(max(0, entry.expires))
    guard entry.authorship.modified > 0 else { return }
    (modifiedMilliseconds, modifiedBy) = (UInt64(entry.authorship.modified), entry.writer)
    (createdMilliseconds, createdBy) = (UInt64(max(0, entry.authorship.created)), entry.authorship.creator)
  }
}
