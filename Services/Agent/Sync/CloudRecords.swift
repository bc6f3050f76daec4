internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanModel
internal import CaravanWire

/// Reads and changes records of the public database by name. All of them lie in its default zone (CK-09), where each
/// stands by itself: a change is a commit of its own, and a frame carries many.
struct CloudRecords: Sendable {
  let exchanger: Exchanger
  let types: CloudTypes
  private let mover: ChunkMover

  init(_ dependencies: SyncDependencies) {
    (exchanger, types, mover) = (dependencies.exchanger, dependencies.cloudTypes, dependencies.mover)
  }

  // MARK: Reading

  func fetch(_ question: RecordsQuestion) async throws(CaravanError) -> [FoundCloudRecord] {
    var type = try await type(of: question.table, with: question.columns)
    let names = question.ids.filter { (try? RecordName.check($0)) != nil }
    var found = Found()
    if !names.isEmpty {
      do throws(CaravanError) { found = try await read(names, question, type) } catch {
        guard error.code == .tableNotFound else { throw error }
        type = try await types.agree(of: question.table, over: exchanger)
        found = try await read(names, question, type)
      }
    }
    if question.columns.isEmpty, found.entries.values.contains(where: { $0.hasFields(beyond: type) }) {
      type = try await types.agree(of: question.table, over: exchanger)
    }
    let columns = question.columns.isEmpty ? type.fields : question.columns.compactMap(type.field(named:))
    var records: [FoundCloudRecord] = []
    for id in question.ids {
      do throws(CaravanError) {
        try RecordName.check(id)
        guard found.answered.contains(id) else { break }
        if let failure = found.failures[id] { throw failure }
        let record = try found.entries[id].map { (entry) throws(CaravanError) in try entry.shown(columns) }
        records.append(record.map { .record($0) } ?? .missing)
      } catch {
        records.append(.failed(error))
      }
    }
    return records
  }

  private struct Found {
    var entries: [String: CaravanModel.Entry] = [:]
    var failures: [String: CaravanError] = [:]
    var answered: Set<String> = []
  }

  private func read(
    _ names: [String], _ question: RecordsQuestion, _ type: CaravanModel.RecordType
  ) async throws(CaravanError) -> Found {
    let fields = question.columns.compactMap { type.field(named: $0)?.id }
    let read = ReadRecords(
      container: question.table.app.text, zone: DefaultZone.name, names: names, fields: fields, database: .public,
      type: type.id)
    let result = try await exchanger.exchange([.read(read)], through: [])[0]
    guard case .records(let reply) = result else {
      let error = CaravanError.unexpected(result, to: "read")
      guard error.code == .recordDamaged else { throw error }
      // The others are asked for again, without it.
      guard names.count > 1 else { return Found(failures: [names[0]: error], answered: [names[0]]) }
      return try await self.read([names[0]], question, type)
    }
    let answered = Int(reply.answered)
    guard (1...names.count).contains(answered) else {
      throw CaravanError(
        .serverBusy, "the cloud had no room for a record: ask again in a moment", retryAfterMilliseconds: 100)
    }
    var found = Found(answered: Set(names.prefix(answered)))
    for entry in reply.entries where !entry.deleted { found.entries[entry.name] = entry.model() }
    return found
  }

  /// The type, as far as it is known, with all of these columns.
  private func type(
    of table: TableID, with columns: [String]
  ) async throws(CaravanError) -> CaravanModel.RecordType {
    if let known = types.known(table), columns.allSatisfy({ known.field(named: $0) != nil }) { return known }
    let type = try await types.agree(of: table, over: exchanger)
    if let unknown = columns.first(where: { type.field(named: $0) == nil }) {
      throw CaravanError(
        .schemaViolation, "'\(table.name)' has no column '\(unknown.prefix(80))' in the cloud: leave it out")
    }
    return type
  }

  // MARK: Changing

  /// What became of an edit so far.
  private enum Sent {
    case outcome(RecordOutcome)
    /// The cloud lacks these chunks of its objects, or of what it knows the user may name.
    case lacks([ChunkHash])

    /// The cloud does not know the type under the id that it had.
    var lacksType: Bool {
      guard case .outcome(.refused(let error)) = self else { return false }
      return error.code == .tableNotFound
    }

    var lacksChunks: Bool { if case .lacks = self { true } else { false } }

    var outcome: RecordOutcome {
      switch self {
      case .outcome(let outcome): outcome
      case .lacks: .refused(.objectIsDamaged)
      }
    }
  }

  func change(_ changes: RecordChanges) async throws(CaravanError) -> [RecordOutcome] {
    var sent = try await send(changes)
    // A type that was removed, or lost with a restore, is agreed on anew; nothing was done in its name.
    if sent.contains(where: \.lacksType) {
      types.forget(changes.table)
      sent = try await sendAgain(sent, of: changes, where: \.lacksType)
    }
    // First the list of a large object, and then what stands in it.
    for _ in 0..<EngineLimits.stagingRounds where sent.contains(where: \.lacksChunks) {
      sent = await upload(sent, of: changes)
      if sent.contains(where: \.lacksChunks) {
        sent = try await sendAgain(sent, of: changes, where: \.lacksChunks)
      }
    }
    return sent.map(\.outcome)
  }

  /// Brings the cloud what edits lack. Those whose objects it does not take are refused.
  private func upload(_ sent: [Sent], of changes: RecordChanges) async -> [Sent] {
    var sent = sent
    for (index, edit) in zip(sent.indices, changes.edits) {
      guard case .lacks(let hashes) = sent[index] else { continue }
      let linkGuard = LinkGuard(CloudRecordVersion(edit.id, version: 0), of: changes.table, .write)
      do throws(CaravanError) { try await mover.send(written: hashes, through: linkGuard) } catch {
        sent[index] = .outcome(.refused(error))
      }
    }
    return sent
  }

  private func sendAgain(
    _ sent: [Sent], of changes: RecordChanges, where isDue: (Sent) -> Bool
  ) async throws(CaravanError) -> [Sent] {
    var again = changes
    again.edits = zip(changes.edits, sent).compactMap { isDue($1) ? $0 : nil }
    var rest = try await send(again)[...]
    var all = sent
    for index in sent.indices where isDue(sent[index]) {
      guard let outcome = rest.popFirst() else { return Array(all.prefix(index)) }
      all[index] = outcome
    }
    return all
  }

  /// One frame.
  private func send(_ changes: RecordChanges) async throws(CaravanError) -> [Sent] {
    var frame = EditFrame(room: min(EngineLimits.bytesPerPush, exchanger.fragment.bytes))
    var agreement = EditAgreement(table: changes.table, types: types, exchanger: exchanger)
    for edit in changes.edits.prefix(EngineLimits.changesPerFrame) {
      let operation: CaravanWire.Operation.Kind
      do throws(CaravanError) {
        try RecordName.check(edit.id)
        operation = .push(Push(try await agreement.mutation(of: edit), number: edit.number, app: changes.table.app))
      } catch {
        guard !agreement.hasFailed else { throw error }
        frame.refuse(error)
        continue
      }
      guard frame.take(operation) else { break }
    }
    let answers =
      frame.operations.isEmpty
      ? [] : try await exchanger.exchange(frame.operations, through: [], of: changes.epoch)
    let all = try frame.outcomes(answers)
    var type = agreement.type
    let shown = all.compactMap(\.server)
    if let known = type, shown.contains(where: { $0.hasFields(beyond: known) }) {
      type = try await types.agree(of: changes.table, over: exchanger)
    }
    var list: [Sent] = []
    for outcome in all {
      if case .missing(let chunks) = outcome {
        list.append(.lacks(chunks))
      } else {
        list.append(.outcome(try outcome.shown(type?.fields ?? [])))
      }
    }
    return list
  }
}

extension CaravanModel.Entry {
  func shown(_ columns: [CaravanModel.FieldDefinition]) throws(CaravanError) -> ShownRecord {
    ShownRecord(entry: self, fields: try RecordFields(body: body), columns: columns)
  }

  /// Its record was written with a newer version of the type.
  func hasFields(beyond type: CaravanModel.RecordType) -> Bool {
    guard self.type != type.id, let fields = try? RecordFields(body: body) else { return false }
    return fields.values.keys.contains { type.field(id: $0) == nil }
  }
}
