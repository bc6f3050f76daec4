internal import CaravanAgentCore
internal import CaravanAgentNetwork
internal import CaravanModel
internal import CaravanWire

/// What becomes of edits as their record type is agreed on, edit by edit.
struct EditAgreement {
  let table: TableID
  let types: CloudTypes
  let exchanger: Exchanger
  private(set) var type: CaravanModel.RecordType?
  /// No edit can be made, and not for what is in it.
  private(set) var hasFailed = false
  private var isFresh = false
  private var refused: [[CaravanModel.FieldDefinition]: CaravanError] = [:]

  init(table: TableID, types: CloudTypes, exchanger: Exchanger) {
    (self.table, self.types, self.exchanger) = (table, types, exchanger)
    type = types.known(table)
  }

  mutating func mutation(of edit: RecordEdit) async throws(CaravanError) -> CaravanWire.Mutation {
    let change: CaravanModel.Mutation.Change
    switch edit.change {
    case .delete: change = .delete
    case .save(let columns):
      change = .save(type: 0, body: CaravanWire.Fields(try await values(of: columns)).encoded(), chunks: [])
    }
    if type == nil { try await lookAnew(mustExist: true) }
    let terms = edit.change == .delete ? nil : WriteTerms(scope: .changed, expiry: edit.expiry)
    return CaravanWire.Mutation(
      pushed: CaravanModel.Mutation(name: edit.id, base: edit.base, change: change, terms: terms), type: type?.id ?? 0)
  }

  private mutating func values(of columns: [String: CaravanModel.Value]) async throws(CaravanError) -> [ColumnFit
    .FieldValue]
  {
    if type == nil { try await lookAnew() }
    while true {
      let fit: ColumnFit
      do throws(CaravanError) { fit = try ColumnFit(columns, in: type) } catch {
        // Perhaps the column is there by now, or is another one.
        guard !isFresh else { throw error }
        try await lookAnew()
        continue
      }
      switch fit {
      case .fits(let values): return values
      case .lacks where !isFresh: try await lookAnew()
      case .lacks(let fields): try await add(fields)
      }
    }
  }

  private mutating func lookAnew(mustExist: Bool = false) async throws(CaravanError) {
    do throws(CaravanError) { type = try await types.agree(of: table, over: exchanger) } catch {
      type = nil
      guard error.code == .tableNotFound, !mustExist else {
        hasFailed = error.code != .tableNotFound
        throw error
      }
    }
    isFresh = true
  }

  private mutating func add(_ fields: [CaravanModel.FieldDefinition]) async throws(CaravanError) {
    if let error = refused[fields] { throw error }
    do throws(CaravanError) { type = try await types.agree(on: fields, of: table, over: exchanger) } catch {
      hasFailed = error.isTransient
      refused[fields] = error
      throw error
    }
  }
}

/// What one frame carries, and what was refused before it.
struct EditFrame {
  let room: Int
  private var bytes = 0
  private(set) var operations: [CaravanWire.Operation.Kind] = []
  /// In the order of the edits; nil: an operation is to answer.
  private var refusals: [CaravanError?] = []

  init(room: Int) { self.room = room }

  mutating func refuse(_ error: CaravanError) { refusals.append(error) }

  /// - Returns: whether there was room; the first one has it.
  mutating func take(_ operation: CaravanWire.Operation.Kind) -> Bool {
    bytes += FramePacking.Load(operation).bytes
    guard operations.isEmpty || bytes <= room else { return false }
    operations.append(operation)
    refusals.append(nil)
    return true
  }

  /// - Parameter answers: to the operations, in order.
  /// - Returns: as many as can be given at once, at least one.
  func outcomes(_ answers: [CaravanWire.Result.Kind]) throws(CaravanError) -> [EditOutcome] {
    var answers = answers[...]
    var list: [EditOutcome] = []
    var copies = 0
    for refusal in refusals {
      if let refusal {
        list.append(.refused(refusal))
        continue
      }
      guard let answer = answers.popFirst() else { break }
      guard let outcome = try EditOutcome(answer) else {
        guard list.isEmpty else { break }
        return [.refused(.noRoomForRecord)]
      }
      copies += outcome.server?.body.count ?? 0
      guard list.isEmpty || copies <= EngineLimits.recordBytesPerAnswer else { break }
      list.append(outcome)
    }
    return list
  }
}

/// What the cloud says of an edit.
enum EditOutcome {
  case done(version: Seq, modified: Int64, writer: String)
  case merged(CaravanModel.Entry?)
  case conflict(CaravanModel.Entry?)
  /// Nothing was done: these chunks of its objects are not there, or not the user's to name.
  case missing([ChunkHash])
  case refused(CaravanError)

  /// nil: it has to be asked for again, as the answer had no room for a record.
  init?(_ result: CaravanWire.Result.Kind) throws(CaravanError) {
    guard case .commit(let reply) = result else {
      guard case .failure(let failure) = result else { throw .unexpected(result, to: "push") }
      self = .refused(failure.model())
      return
    }
    switch try reply.model() {
    case .missing(let chunks): self = .missing(chunks)
    case .aborted: self = .refused(.numberWasUsed)
    case .applied(let outcomes, _, _, let time):
      guard outcomes.count == 1 else { throw .otherResult(to: "push") }
      switch outcomes[0] {
      case .accepted(let version): self = .done(version: version, modified: time, writer: reply.writer)
      case .merged(_, let server): self = .merged(server)
      case .conflict(let server): self = .conflict(server.flatMap { $0.isDeleted ? nil : $0 })
      case .refused(let error): self = .refused(error)
      case .aborted: return nil
      case .read: self = .refused(.numberWasUsed)
      }
    }
  }

  var server: CaravanModel.Entry? {
    switch self {
    case .merged(let entry), .conflict(let entry): entry
    case .done, .missing, .refused: nil
    }
  }

  func shown(_ columns: [CaravanModel.FieldDefinition]) throws(CaravanError) -> RecordOutcome {
    let record = try server.map { (entry) throws(CaravanError) in try entry.shown(columns) }
    return switch self {
    case .done(let version, let modified, let writer): .done(version: version, modified: modified, writer: writer)
    case .merged: .merged(record)
    case .conflict: .conflict(record)
    case .missing: .refused(.objectIsDamaged)
    case .refused(let error): .refused(error)
    }
  }
}

extension CaravanWire.Fields {
  fileprivate init(_ values: [ColumnFit.FieldValue]) {
    self.init()
    for field in values {
      var one = CaravanWire.Field(id: field.id)
      if field.value != .null, let known = CaravanWire.Fields(RecordFields([field.id: field.value])).fields.first {
        one = known
      }
      fields.append(one)
    }
  }
}

extension Push {
  /// A change of one record of the public database.
  init(_ mutation: CaravanWire.Mutation, number: UInt64, app: ContainerID) {
    // A floor is written down where it rises: rounded, it seldom does.
    let floor = number > EngineLimits.changesRemembered ? number - EngineLimits.changesRemembered : 0
    self.init(
      container: app.text, zone: DefaultZone.name, op: number, opFloor: floor & ~0xffff, mutations: [mutation],
      database: .public)
  }
}

extension CaravanError {
  fileprivate static let noRoomForRecord = CaravanError(
    .serverBusy, "the cloud had no room for the record that it has: ask again in a moment", retryAfterMilliseconds: 100)
  static let objectIsDamaged = CaravanError(
    .chunksMissing,
    "the cloud has lost bytes of an object of the record: a device that has them heals it, or remove the object (null)")
  fileprivate static let numberWasUsed = CaravanError(
    .noOperationId, "the number of the change was used for something else: fetch the record, and begin anew")
}
