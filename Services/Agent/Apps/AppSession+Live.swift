internal import CaravanAgentCore
internal import CaravanAgentStore
internal import CaravanAgentSync
internal import CaravanModel
internal import CaravanWire

// Live queries: the store tells what changes in their answers; the cloud is asked for what the device does not hold.
extension AppSession {
  func live(_ request: AppRequest.Kind) async throws(CaravanError) -> AppReply.Kind {
    switch request {
    case .beginLive(let request): try await beginLive(request)
    case .nextLive(let live): return await nextLive(live, try await claimLive(live))
    case .endLive(let live): await endLive(live)
    default: throw CaravanError(.internalError, "the request is of no live query")
    }
    return .done(Empty())
  }

  private func beginLive(_ request: BeginLive) async throws(CaravanError) {
    guard lives[request.live] == nil else {
      throw CaravanError(.invalidData, "live query \(request.live) is open on this connection: take another number")
    }
    let live = LiveRequest(
      table: table(request.table), columns: request.columns, selection: try request.selection?.store(),
      order: try request.order.map { (term) throws(CaravanError) in
        guard term.near == nil else {
          throw CaravanError(.invalidData, "a live query has no order by distance: order by a column's values")
        }
        return ReadRequest.OrderTerm(term.column, isDescending: term.descending)
      }, limit: Int(request.limit))
    lives[request.live] = try await store.beginLive(live, owner: owner)
  }

  /// Has the next difference wait; `nextLive` is to be called then.
  /// - Returns: the store's name for it.
  /// - Throws: `leaseExpired` for one that has ended, `serverBusy` while its next difference is waited for.
  func claimLive(_ live: LiveRef) async throws(CaravanError) -> UInt64 {
    guard let handle = lives[live.live] else {
      throw CaravanError(.leaseExpired, "live query \(live.live) has ended: begin it again")
    }
    try await store.claimLive(handle, owner: owner)
    return handle
  }

  /// Waits for the next difference of a live query that has been claimed. A refusal ends it.
  func nextLive(_ live: LiveRef, _ handle: UInt64) async -> AppReply.Kind {
    do throws(CaravanError) {
      let part = LivePart(try await store.nextLive(handle, owner: owner))
      for step in part.steps { try step.row.map(checkKnown) }
      return .livePart(part)
    } catch {
      await endLive(live)
      return .failure(Failure(error))
    }
  }

  private func endLive(_ live: LiveRef) async {
    guard let handle = lives.removeValue(forKey: live.live) else { return }
    await store.endLive(handle, owner: owner)
  }

  /// Asks the cloud whenever a live query needs it, until the query has ended or the task is cancelled.
  func askCloud(for handle: UInt64) async {
    while let question = await store.nextLiveQuestion(handle, owner: owner) {
      var asked = CloudQuestion(question, app: app)
      var wantsMore = true
      while wantsMore {
        let answer: Swift.Result<LiveCloudPage, CaravanError>
        do throws(CaravanError) {
          let page = try await sync.query(asked)
          asked.cursor = page.cursor
          answer = .success(try LiveCloudPage(page, for: question.request))
        } catch {
          answer = .failure(error)
        }
        wantsMore = (try? await store.takeLiveAnswer(answer, for: handle, owner: owner)) ?? false
      }
    }
  }
}

extension CloudQuestion {
  fileprivate init(_ question: LiveCloudQuestion, app: ContainerID) {
    let request = question.request
    self.init(app: app, type: request.table.name)
    (readOf, token, limit) = (request.table, question.token, question.limit)
    zone = request.table.name
    text = request.selection.map { CaravanModel.Query.Text($0.text, arguments: $0.arguments) }
    sort = request.order.map { CaravanModel.SortKey($0.column, isDescending: $0.isDescending) }
    // What rows are ordered by has to come along.
    let ordering = request.order.map(\.column).filter { !$0.hasPrefix("_") && !request.columns.contains($0) }
    fields = request.columns.isEmpty ? [] : request.columns + ordering
  }
}

extension LiveCloudPage {
  /// - Throws: `invalidData` when the cloud has other columns than the query is ordered by.
  fileprivate init(_ page: CloudPage, for request: LiveRequest) throws(CaravanError) {
    var rows: [LiveCloudRow] = []
    for record in page.records { rows.append(try LiveCloudRow(record, page.type, for: request)) }
    self.init(rows: rows, hasMore: !page.cursor.isEmpty)
  }
}

extension LiveCloudRow {
  fileprivate init(
    _ record: CloudPage.Record, _ type: CaravanModel.RecordType, for request: LiveRequest
  ) throws(CaravanError) {
    var (cells, objects): ([CellValue], [RowView.ObjectSize]) = ([], [])
    var bytes = 256 + record.entry.name.utf8.count + record.entry.body.count
    let shown = request.columns.map { $0.lowercased() }
    for field in type.fields where shown.isEmpty || shown.contains(field.name.lowercased()) {
      switch record.fields[field.id] {
      case .null: continue
      case .asset(let manifest): objects.append(RowView.ObjectSize(column: field.name, size: manifest.size))
      case .assetList(_, let size): objects.append(RowView.ObjectSize(column: field.name, size: size))
      case let value: cells.append(CellValue(field.name, value))
      }
      bytes += 64 + field.name.utf8.count
    }
    var ranks: [LiveRank] = []
    for term in request.order { ranks.append(try Self.rank(record, type, term)) }
    let entry = record.entry
    self.init(
      view: RowView(id: entry.name, version: entry.version, state: .clean, cells: cells, objects: objects),
      ranks: ranks, bytes: bytes)
  }

  private static func rank(
    _ record: CloudPage.Record, _ type: CaravanModel.RecordType, _ term: ReadRequest.OrderTerm
  ) throws(CaravanError) -> LiveRank {
    let authorship = record.entry.authorship
    switch term.column {
    case "___createTime": return authorship.created > 0 ? .integer(authorship.created) : .null
    case "___modTime": return authorship.modified > 0 ? .integer(authorship.modified) : .null
    default:
      guard let field = type.fields.first(where: { $0.name.lowercased() == term.column.lowercased() }),
        let rank = LiveRank(record.fields[field.id])
      else {
        throw CaravanError(
          .invalidData, "the cloud has no column '\(term.column.prefix(80))' that rows can be ordered by")
      }
      return rank
    }
  }
}

extension LivePart {
  fileprivate init(_ part: DifferencePart) {
    self.init(
      steps: part.steps.map { LiveStep($0) }, more: part.hasMore, restarts: part.restarts,
      complete: part.lack == .nothing)
    if case .refused(let error) = part.lack { refused = Failure(error) }
  }
}

extension LiveStep {
  fileprivate init(_ step: DifferenceStep) {
    switch step {
    case .deleted(let id, let from): self.init(from: UInt32(from), kind: .deleted(id))
    case .moved(let id, let from, let to): self.init(from: UInt32(from), to: UInt32(to), kind: .moved(id))
    case .inserted(let row, let to):
      self.init(to: UInt32(to), elsewhere: !row.isHeld, kind: .inserted(Row(row.view)))
    case .updated(let row, let to):
      self.init(to: UInt32(to), elsewhere: !row.isHeld, kind: .updated(Row(row.view)))
    }
  }

  fileprivate var row: CaravanWire.Row? {
    switch kind {
    case .inserted(let row), .updated(let row): row
    case .deleted, .moved, nil: nil
    }
  }
}
