public import CaravanModel

/// What a SYNC_CONTINUE does to a zone's records, or why it is refused as a whole (DIF-12, DIF-13). Pure: from the
/// diffs, what the server holds under their uuids, and the record types of their objtypes.
public struct ContinuePlan: Sendable, Hashable {
  /// What is under a uuid.
  public struct Known: Sendable, Hashable {
    public var objtype: String
    /// Seq of its last write.
    public var version: Seq
    public var isDeleted: Bool

    public init(objtype: String, version: Seq, isDeleted: Bool) {
      self.objtype = objtype
      self.version = version
      self.isDeleted = isDeleted
    }
  }

  public enum Kind: Sendable, Hashable {
    case create
    case update
    case delete
  }

  /// All that happens to one record.
  public struct Write: Sendable, Hashable {
    public var uuid: String
    public var kind: Kind
    /// nil: of a delete.
    public var type: RecordType?
    /// Of an update those that change, `.null` for those to be emptied.
    public var fields: [UInt32: Value] = [:]
    public var timestamp: HybridStamp
    public var timestamps: [UInt32: HybridStamp] = [:]
    /// Of an object that a restore took back: the height at which it had been created. nil: of another.
    public var lost: Seq?
  }

  /// In the order of the diffs, one a record.
  public private(set) var writes: [Write] = []
  private var places: [String: Int] = [:]
  private let types: [String: RecordType]
  private let known: [String: Known]

  /// - Parameters:
  ///   - types: by objtype, of those that exist.
  ///   - known: by uuid, of those that exist or left a tombstone.
  public init(_ diffs: [Diff], types: [String: RecordType], known: [String: Known]) throws(Refusal) {
    self.types = types
    self.known = known
    _ = try Self.objects(of: diffs)
    for diff in diffs { try add(diff) }
  }

  /// The uuids of the objects that change: what is known of them the plan wants to know.
  /// - Throws: `invalidData` when they are more than one commit takes.
  public static func objects(of diffs: [Diff]) throws(Refusal) -> Set<String> {
    let objects = Set(diffs.map(\.uuid))
    guard objects.count <= DiffLimits.objectsPerContinue else {
      throw Refusal(
        .invalidData,
        "\(objects.count) objects change at once: the limit is \(DiffLimits.objectsPerContinue), send several parts")
    }
    return objects
  }

  private mutating func add(_ diff: Diff) throws(Refusal) {
    do throws(CaravanError) { try diff.check() } catch {
      throw Refusal(diff.updatedField == nil ? .invalidData : .malformedUpdate, uuid: diff.uuid, error.message)
    }
    switch diff.change {
    case .create(let fields): try create(diff, fields)
    case .update(Diff.uuidField, _):
      throw Refusal(
        .malformedUpdateUUID, uuid: diff.uuid, "the uuid of object '\(diff.uuid)' cannot change: create another object")
    case .update(let field, let value): try update(diff, field, value)
    case .delete: try delete(diff)
    }
  }

  // MARK: Kinds of diffs

  private mutating func create(_ diff: Diff, _ fields: [String: Stamped]) throws(Refusal) {
    let type = try type(of: diff)
    guard known[diff.uuid]?.isDeleted ?? true, places[diff.uuid] == nil else {
      throw Refusal(
        .objectExists, uuid: diff.uuid, "there is an object '\(diff.uuid)' already: give each object a uuid of its own")
    }
    // It was given back before, and deleted since.
    if let created = diff.created, let tombstone = known[diff.uuid], tombstone.version > created {
      throw Self.unknown(diff)
    }
    var write = Write(uuid: diff.uuid, kind: .create, type: type, timestamp: diff.timestamp, lost: diff.created)
    // What was emptied counts where others may give back what it was before.
    for (name, stamped) in fields.sorted(by: { $0.key < $1.key }) where stamped.value != .null || write.lost != nil {
      guard let id = Self.field(name, of: type, for: stamped.value) else {
        throw Refusal(.invalidData, uuid: diff.uuid, Self.misfit(diff, name, stamped.value))
      }
      write.set(id, stamped.value, at: stamped.timestamp)
    }
    append(write)
  }

  private mutating func update(_ diff: Diff, _ field: String, _ value: Value) throws(Refusal) {
    let type = try type(of: diff)
    guard let id = Self.field(field, of: type, for: value) else {
      throw Refusal(.malformedUpdate, uuid: diff.uuid, Self.misfit(diff, field, value))
    }
    if let place = places[diff.uuid], writes[place].kind != .delete, writes[place].type?.name == type.name {
      return writes[place].set(id, value, at: diff.timestamp)
    }
    try requireLive(diff)
    var write = Write(uuid: diff.uuid, kind: .update, type: type, timestamp: diff.timestamp)
    write.set(id, value, at: diff.timestamp)
    append(write)
  }

  /// Of what is deleted already there is nothing to do.
  private mutating func delete(_ diff: Diff) throws(Refusal) {
    var write = Write(uuid: diff.uuid, kind: .delete, type: nil, timestamp: diff.timestamp)
    if let place = places[diff.uuid] {
      guard writes[place].kind == .update else { throw Self.unknown(diff) }
      return writes[place] = write
    }
    if let known = known[diff.uuid] {
      guard known.isDeleted || known.objtype == diff.objtype else { throw Self.unknown(diff) }
    } else {
      // Others may still have it, and give it back.
      guard let created = diff.created else { throw Self.unknown(diff) }
      write.lost = created
    }
    append(write)
  }

  private mutating func append(_ write: Write) {
    places[write.uuid] = writes.count
    writes.append(write)
  }

  // MARK: Checks

  /// - Throws: `invalidData` when client and server have not agreed on it before (DIF-04).
  private func type(of diff: Diff) throws(Refusal) -> RecordType {
    guard let type = types[diff.objtype], type.settings?.conflicts == .fieldMerge else {
      throw Refusal(
        .invalidData, uuid: diff.uuid,
        "'\(diff.objtype)' is no record type whose conflicts are merged field by field: propose it so first")
    }
    return type
  }

  private func requireLive(_ diff: Diff) throws(Refusal) {
    guard places[diff.uuid] == nil, let known = known[diff.uuid], !known.isDeleted, known.objtype == diff.objtype else {
      throw Self.unknown(diff)
    }
  }

  private static func unknown(_ diff: Diff) -> Refusal {
    Refusal(
      .noSuchObject, uuid: diff.uuid,
      "there is no object '\(diff.uuid)' of type '\(diff.objtype)': drop what is pending on it")
  }

  /// The field's id; nil: there is none that takes this value.
  private static func field(_ name: String, of type: RecordType, for value: Value) -> UInt32? {
    guard let field = type.field(named: name), field.isDiffable, (try? field.check(value)) != nil else { return nil }
    return field.id
  }

  private static func misfit(_ diff: Diff, _ field: String, _ value: Value) -> String {
    "'\(diff.objtype)' has no field '\(field)' for \(value.kindName): send what its record type says"
  }
}

extension ContinuePlan.Write {
  fileprivate mutating func set(_ id: UInt32, _ value: Value, at timestamp: HybridStamp) {
    fields[id] = value
    timestamps[id] = timestamp
  }
}
