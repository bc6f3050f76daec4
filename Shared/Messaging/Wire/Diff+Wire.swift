public import CaravanDiffSync
public import CaravanModel

extension Diff {
  /// CREATE, UPDATE and DELETE as the thesis numbers them.
  private enum Optype: UInt32 {
    case create = 0
    case update = 1
    case delete = 2
  }

  public init(_ diff: CaravanDiffSync.Diff) {
    self.init(
      upstreamHeight: diff.height ?? 0, timestamp: diff.timestamp.rawValue, objtype: diff.objtype, uuid: diff.uuid,
      createdHeight: diff.created ?? 0)
    switch diff.change {
    case .create(let fields):
      optype = Optype.create.rawValue
      data = DiffObject(fields, of: diff.timestamp).encoded()
    case .update(let field, let value):
      optype = Optype.update.rawValue
      fieldName = field
      data = DiffValue(value).encoded()
    case .delete: optype = Optype.delete.rawValue
    }
  }

  /// - Throws: `invalidData` when the data cannot be decoded or there is no such optype.
  public func model() throws(CaravanError) -> CaravanDiffSync.Diff {
    let timestamp = HybridStamp(rawValue: timestamp)
    let change: CaravanDiffSync.Diff.Change
    switch Optype(rawValue: optype) {
    case .create: change = .create(try DiffObject.decode(data).model(at: timestamp))
    case .update: change = .update(field: fieldName, try DiffValue.decode(data).model())
    case .delete: change = .delete
    case nil:
      throw CaravanError(.invalidData, "a diff of '\(uuid)' has the optype \(optype): 0 creates, 1 updates, 2 deletes")
    }
    return CaravanDiffSync.Diff(
      height: upstreamHeight == 0 ? nil : upstreamHeight, timestamp: timestamp, objtype: objtype, uuid: uuid, change,
      created: createdHeight == 0 ? nil : createdHeight)
  }
}

extension DiffObject {
  public init(_ fields: [String: Stamped], of timestamp: HybridStamp) {
    self.init(
      fields: fields.sorted { $0.key < $1.key }.map { name, stamped in
        DiffField(
          name: name, value: DiffValue(stamped.value),
          timestamp: stamped.timestamp == timestamp ? 0 : stamped.timestamp.rawValue)
      })
  }

  /// - Throws: `invalidData` when a field stands twice.
  public func model(at timestamp: HybridStamp) throws(CaravanError) -> [String: Stamped] {
    var values: [String: Stamped] = [:]
    for field in fields {
      let value = try required(field.value, "value").model()
      guard values[field.name] == nil else {
        throw CaravanError(.invalidData, "field '\(field.name)' stands twice in an object: send it once")
      }
      values[field.name] = Stamped(
        value, at: field.timestamp == 0 ? timestamp : HybridStamp(rawValue: field.timestamp))
    }
    return values
  }
}

extension DiffValue {
  /// What diffs cannot carry is left out.
  public init(_ value: CaravanModel.Value) {
    let kind: Kind? =
      switch value {
      case .text(let text): .text(text)
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .list(let items): .list(ListValue(items))
      case .null, .data, .asset, .assetList, .location, .reference: nil
      }
    self.init(kind: kind)
  }

  public func model() throws(CaravanError) -> CaravanModel.Value {
    switch kind {
    case nil: .null
    case .text(let text): .text(text)
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .list(let list): .list(try list.model())
    }
  }
}

extension SyncBeginResult {
  /// - Throws: `invalidData` when a diff cannot be decoded.
  public func model() throws(CaravanError) -> BeginAnswer {
    switch status {
    case .serverBusy: return .busy
    case .invalidHeight: return .invalidHeight(lost: LostRange.list(lost))
    case .ok: break
    }
    var list: [CaravanDiffSync.Diff] = []
    list.reserveCapacity(diffs.count)
    for diff in diffs { list.append(try diff.model()) }
    return .page(
      BeginAnswer.Page(
        diffs: list, currentHeight: currentHeight, incarnation: incarnation, more: more, cursor: cursor, token: token,
        serverTime: Int64(clamping: serverTimeMilliseconds)))
  }
}

extension SyncContinueResult {
  public init(_ refusal: Refusal) {
    self.init(status: SyncContinueStatus(refusal.status), uuid: refusal.uuid, message: refusal.message)
  }

  public func model() -> ContinueAnswer {
    guard let status = ContinueStatus(rawValue: status.rawValue), status != .ok else {
      return .done(height: height, incarnation: incarnation)
    }
    return .refused(Refusal(status, uuid: uuid, message))
  }
}

extension SyncContinueStatus {
  public init(_ status: ContinueStatus) {
    self =
      switch status {
      case .ok: .ok
      case .invalidData: .invalidData
      case .noSuchObject: .noSuchObject
      case .objectExists: .objectExists
      case .malformedUpdate: .malformedUpdate
      case .malformedUpdateUUID: .malformedUpdateUuid
      case .invalidSyncToken: .invalidSyncToken
      }
  }
}
