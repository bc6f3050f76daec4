package import CaravanModel
package import CaravanQuery

/// A query that is checked against its record type, and the statements by which an engine finds what may answer it
/// (`Candidates`).
package struct CompiledQuery: Sendable {

  /// Records in one page; the statement asks for one more, to see whether there is another page.
  package let limit: Int
  /// Bytes that bodies of one page have at most, but for a single larger one.
  package let pageBytes: Int
  /// Indexes that help to answer it.
  package let needs: [IndexNeed]
  /// Ids of the fields that records in the answer have; empty: all they have.
  package let fields: Set<UInt32>
  package var sortKeys: Int { order.keys.count }
  /// What is asked of records, and which of them the viewer sees.
  let asked: Expression<Condition>?
  let order: Order
  let after: PageCursor?
  let zone: String?
  /// How many records there are is all that is asked.
  package let isCount: Bool
  let fingerprint: UInt64

  /// - Throws: `invalidData` for malformed predicates and foreign cursors; `schemaViolation` naming the field;
  ///   `limitExceeded`; `tableNotFound` where the viewer sees no records of the type.
  package init(_ query: Query, type: RecordType) throws(CaravanError) {
    // First, as nothing else may be said of a type that the viewer does not see.
    let visibility = try Visibility(query, type)
    guard (0...Limits.queryRows).contains(query.limit) else {
      throw CaravanError(
        .limitExceeded,
        "a query asks for \(query.limit) records at once: the limit is \(Limits.queryRows), page instead")
    }
    let rows = query.limit == 0 ? QueryLimits.defaultRows : query.limit
    precondition((1...Limits.queryRows).contains(rows), "a page of \(rows) records never ends, or is too long")
    limit = rows
    pageBytes = query.pageBytes == 0 ? QueryLimits.answerBytes : min(query.pageBytes, QueryLimits.answerBytes)
    fingerprint = query.fingerprint
    let parts = [try type.expression(query), visibility.condition].compactMap(\.self)
    asked = parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .all(parts)
    order = try Order(query.isCount ? [] : query.sort, type: type)
    let sorted = order.keys.first.flatMap { key in
      if case .field(let field, let kind) = key.term { IndexNeed(field, kind, .key) } else { nil }
    }
    needs = Self.distinct((asked?.leaves ?? []).compactMap { IndexNeed($0) } + [sorted].compactMap(\.self))
    after = query.cursor.isEmpty ? nil : try PageCursor(query.cursor, fingerprint: fingerprint, keys: order.keys.count)
    var fields: Set<UInt32> = []
    for name in query.fields { fields.insert(try type.shown(name).id) }
    self.fields = fields
    zone = query.zone
    isCount = query.isCount
  }

  private static func distinct(_ needs: [IndexNeed]) -> [IndexNeed] {
    needs.reduce(into: []) { list, need in if !list.contains(need) { list.append(need) } }
  }

  /// The place of the record at `zone` and `name`, whose sort keys are `keys`.
  package func place(keys: [IndexKey], zone: String, name: String) -> PageCursor {
    precondition(keys.count == sortKeys, "a place has one value a sort key")
    return PageCursor(fingerprint: fingerprint, keys: keys, zone: zone, name: name)
  }
}

extension RecordType {
  /// Whether a viewer sees a record of the type.
  /// - Parameters:
  ///   - roles: of the container's own that the viewer has.
  ///   - maker: who made it; empty: nobody knows.
  package func isVisible(to viewer: Query.Viewer, having roles: Set<String> = [], madeBy maker: String) -> Bool {
    let grants = grants ?? .standard
    return grants.rights(of: viewer, roles, isCreator: !maker.isEmpty && maker == viewer.author).contains(.read)
  }
}

extension Query.Viewer {
  /// nil: they have not signed in.
  fileprivate var author: String? {
    switch self {
    case .anonymous: nil
    case .user(let author), .server(let author): author
    }
  }
}

extension TypeGrants {
  fileprivate func rights(of viewer: Query.Viewer, _ roles: Set<String>, isCreator: Bool) -> Rights {
    assert(viewer.author != nil || !isCreator, "who has not signed in has made a record")
    switch viewer {
    case .anonymous: return rights(isUser: false, isCreator: false)
    case .user: return rights(isUser: true, isCreator: isCreator, roles: roles)
    case .server: return rights(isUser: true, isServerApp: true, isCreator: isCreator, roles: roles)
    }
  }
}

/// Which records of the type the viewer sees.
private enum Visibility: Sendable {
  case all
  case made(Condition)

  var condition: Expression<Condition>? { if case .made(let condition) = self { .leaf(condition) } else { nil } }

  init(_ query: Query, _ type: RecordType) throws(CaravanError) {
    let grants = type.grants ?? .standard
    guard let viewer = query.viewer, !grants.rights(of: viewer, query.roles, isCreator: false).contains(.read) else {
      self = .all
      return
    }
    guard let author = viewer.author, grants.rights(of: viewer, query.roles, isCreator: true).contains(.read) else {
      throw .noSuchType(query.type)
    }
    self = .made(try Condition(SystemField.createdBy.definition, .compare(.equal, .text(author))))
  }
}

extension CaravanError {
  /// What is said of a type that is not there, and of one whose records the viewer may not see: the two are one.
  package static func noSuchType(_ name: String) -> CaravanError {
    CaravanError(.tableNotFound, "there is no record type '\(name.prefix(80))'")
  }
}
