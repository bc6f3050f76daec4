public import CaravanModel

/// One change to one object, as a client logs it and as a server tells of it (DIF-05, DIF-06).
public struct Diff: Sendable, Hashable {
  public enum Change: Sendable, Hashable {
    /// The object's fields. From a server also those that were emptied, `.null`: when that was decides, too.
    case create([String: Stamped])
    /// One field; `.null` empties it.
    case update(field: String, Value)
    case delete
  }

  /// Where the server put it in the order that all agree on: a zone's seq (UNI-01). nil: pending.
  public var height: Seq?
  /// When it was made. Decides between two updates of one field, and nothing else (DIF-07, DIF-31).
  public var timestamp: HybridStamp
  /// Empty in a delete of which the server has only the tombstone left.
  public var objtype: String
  public var uuid: String
  public var change: Change
  /// Of a create or a delete: the height at which the server had the object created. Sent only where a restore of the
  /// server took that back: so the server can tell what is given back from what it has forgotten.
  public var created: Seq?

  public init(
    height: Seq? = nil, timestamp: HybridStamp, objtype: String, uuid: String, _ change: Change, created: Seq? = nil
  ) {
    self.height = height
    self.timestamp = timestamp
    self.objtype = objtype
    self.uuid = uuid
    self.change = change
    self.created = created
  }
}

/// A field's value and when it was given.
public struct Stamped: Sendable, Hashable {
  public var value: Value
  public var timestamp: HybridStamp

  public init(_ value: Value, at timestamp: HybridStamp) {
    self.value = value
    self.timestamp = timestamp
  }
}

/// An object as a client holds it.
public struct Object: Sendable, Hashable {
  public var objtype: String
  /// Those that have a value.
  public var fields: [String: Value]
  /// When fields were given, those that were emptied, too: after a restore of the server the later wins.
  public var stamps: [String: HybridStamp]
  /// The height at which the server has it created; nil: it has not said.
  public var created: Seq?
  /// After a restart from height 0: the server has not shown it again yet.
  public var isStale: Bool

  public init(
    objtype: String, fields: [String: Value], stamps: [String: HybridStamp] = [:], created: Seq? = nil,
    isStale: Bool = false
  ) {
    self.objtype = objtype
    self.fields = fields
    self.stamps = stamps
    self.created = created
    self.isStale = isStale
  }

  /// Its fields with their times, `.null` for those that were emptied.
  public var stamped: [String: Stamped] {
    let unknown = HybridStamp(rawValue: 0)
    return fields.reduce(into: stamps.mapValues { Stamped(.null, at: $0) }) {
      $0[$1.key] = Stamped($1.value, at: stamps[$1.key] ?? unknown)
    }
  }
}

/// What a client had not sent of an object that is gone at the server, which has forgotten when it was deleted: the
/// deletion stays, and the app may make another object of this.
public struct UnsentObject: Sendable, Hashable {
  public var objtype: String
  /// Those that have a value, edits included.
  public var fields: [String: Value]
  /// Fields that were edited since the client had last heard of the object.
  public var edited: Set<String>

  public init(objtype: String, fields: [String: Value], edited: Set<String>) {
    self.objtype = objtype
    self.fields = fields
    self.edited = edited
  }
}

/// A field of an object.
struct FieldKey: Hashable {
  let uuid: String
  let field: String
}

extension Diff {
  var isCreate: Bool { if case .create = change { true } else { false } }
  var isDelete: Bool { if case .delete = change { true } else { false } }

  /// Of a create: its fields that have a value.
  var values: [String: Value] {
    guard case .create(let fields) = change else { return [:] }
    return fields.mapValues(\.value).filter { $0.value != .null }
  }

  /// nil: no update.
  var updatedField: FieldKey? {
    if case .update(let field, _) = change { FieldKey(uuid: uuid, field: field) } else { nil }
  }

  /// Not synced yet, whatever height was proposed.
  var pending: Diff {
    var diff = self
    diff.height = nil
    return diff
  }

  /// Made no later than that.
  func made(by limit: HybridStamp) -> Diff {
    var diff = self
    diff.timestamp = min(timestamp, limit)
    if case .create(let fields) = change {
      diff.change = .create(fields.mapValues { Stamped($0.value, at: min($0.timestamp, limit)) })
    }
    return diff
  }

  /// One update a field of a create, by name.
  func updates(_ fields: [String: Stamped]) -> [Diff] {
    fields.sorted { $0.key < $1.key }.map { field, stamped in
      Diff(
        height: height, timestamp: stamped.timestamp, objtype: objtype, uuid: uuid,
        .update(field: field, stamped.value))
    }
  }
}

extension [String: Object] {
  /// Does to the objects what a client's own change does.
  mutating func apply(_ diff: Diff) {
    switch diff.change {
    case .create(let fields):
      self[diff.uuid] = Object(
        objtype: diff.objtype, fields: diff.values, stamps: fields.mapValues(\.timestamp), created: diff.height)
    case .update(let field, let value):
      self[diff.uuid]?.fields[field] = value == .null ? nil : value
      self[diff.uuid]?.stamps[field] = diff.timestamp
    case .delete: self[diff.uuid] = nil
    }
  }

  /// The server has taken what was sent.
  /// - Parameter height: at which it may have created something; nil: it has not said.
  mutating func settle(_ diff: Diff, at height: Seq?) {
    switch diff.change {
    case .create(let fields):
      self[diff.uuid]?.created = height
      for (field, stamped) in fields { self[diff.uuid]?.stamps[field] = stamped.timestamp }
    case .update(let field, _): self[diff.uuid]?.stamps[field] = diff.timestamp
    case .delete: return
    }
  }
}
