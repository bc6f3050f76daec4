public import CaravanModel

/// Bounds of diffs (DIF-05) and of what a client sends at once.
public enum DiffLimits {
  public static let objtypeBytes = 40
  public static let uuidBytes = 128
  public static let fieldNameBytes = 128
  /// Objects that one SYNC_CONTINUE changes: those of one atomic commit.
  public static let objectsPerContinue = Limits.recordsPerCommit
  /// Field values in one SYNC_CONTINUE, unless a single object has more.
  public static let bytesPerContinue = 1 << 20
  /// Diffs that may be pending.
  public static let pendingDiffs = 100_000
  /// Objects with unsent edits that are gone at the server: with more a client waits until its app has looked at them.
  public static let setAsideObjects = 10_000
}

extension Value {
  /// Whether diffs can carry it: an integer, float or string, a list of those of one kind, or nothing (DIF-04).
  public var isDiffable: Bool {
    switch self {
    case .null: true
    case .text, .integer, .real: isScalar
    case .list(let items):
      items.count <= Limits.listItems
        && items.allSatisfy { $0.isScalar && $0.kindName == items.first?.kindName }
    case .data, .asset, .assetList, .location, .reference: false
    }
  }

  private var isScalar: Bool {
    switch self {
    // C readers would end a text at a NUL.
    case .text(let text): !text.utf8.contains(0)
    case .integer, .real: true
    case .null, .data, .asset, .assetList, .location, .reference, .list: false
    }
  }

  /// About what it takes on the wire.
  var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .list(let items): items.reduce(8) { $0 + 4 + $1.byteCount }
    case .null, .integer, .real, .data, .asset, .assetList, .location, .reference: 8
    }
  }
}

extension FieldDefinition {
  /// Whether objects of diff sync have this field; others stay as they are, out of their clients' sight.
  public var isDiffable: Bool {
    guard !isEncrypted else { return false }
    switch kind {
    case .text, .integer, .real, .date: return true
    case .data, .object, .location, .reference: return false
    }
  }
}

extension Diff {
  /// The name that no field has: an object's own (DIF-12, 5).
  public static let uuidField = "uuid"

  /// About what it takes on the wire.
  public var byteCount: Int {
    let names = 32 + objtype.utf8.count + uuid.utf8.count
    switch change {
    case .create(let fields): return fields.reduce(names) { $0 + 16 + $1.key.utf8.count + $1.value.value.byteCount }
    case .update(let field, let value): return names + field.utf8.count + value.byteCount
    case .delete: return names
    }
  }

  /// - Throws: `limitExceeded` or `invalidData` for names out of bounds, values of other kinds, and more than a record
  ///   holds.
  public func check() throws(CaravanError) {
    guard byteCount <= Limits.recordBytes else {
      throw CaravanError(
        .limitExceeded,
        "a diff of object '\(uuid.prefix(40))' has \(byteCount) bytes: the limit is \(Limits.recordBytes)")
    }
    try Self.check("objtype", objtype, DiffLimits.objtypeBytes)
    try Self.check("uuid", uuid, DiffLimits.uuidBytes)
    try RecordName.check(uuid)
    switch change {
    case .create(let fields):
      for (field, stamped) in fields.sorted(by: { $0.key < $1.key }) { try check(field, stamped.value) }
    case .update(let field, let value): try check(field, value)
    case .delete: return
    }
  }

  private func check(_ field: String, _ value: Value) throws(CaravanError) {
    try Self.check("field_name", field, DiffLimits.fieldNameBytes)
    guard value.isDiffable else {
      throw CaravanError(
        .invalidData,
        "field '\(field)' of object '\(uuid)' is \(value.kindName): give it an integer, a float, a string without NUL "
          + "or a list of at most \(Limits.listItems) of those")
    }
  }

  private static func check(_ what: String, _ text: String, _ limit: Int) throws(CaravanError) {
    guard (1...limit).contains(text.utf8.count) else {
      throw CaravanError(
        .limitExceeded, "\(what) '\(text.prefix(40))' has \(text.utf8.count) bytes: give it 1 to \(limit)")
    }
  }
}
