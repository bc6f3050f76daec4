public import CaravanModel

extension Comparison {
  public init(_ comparison: CaravanModel.Comparison) {
    self =
      switch comparison {
      case .equal: .equal
      case .notEqual: .notEqual
      case .less: .less
      case .lessOrEqual: .lessOrEqual
      case .greater: .greater
      case .greaterOrEqual: .greaterOrEqual
      case .prefix: .prefix
      case .like: .like
      case .matchAll: .matchAll
      case .matchAny: .matchAny
      case .containsAll: .containsAll
      case .containsAny: .containsAny
      case .containsLike: .containsLike
      case .near: .near
      case .within: .within
      }
  }

  public var model: CaravanModel.Comparison? {
    switch self {
    case .unspecified: nil
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    case .prefix: .prefix
    case .like: .like
    case .matchAll: .matchAll
    case .matchAny: .matchAny
    case .containsAll: .containsAll
    case .containsAny: .containsAny
    case .containsLike: .containsLike
    case .near: .near
    case .within: .within
    }
  }
}

extension PredicateTerm {
  public init(_ term: Predicate.Term) {
    switch term {
    case .compare(let field, let comparison, let value):
      self.init(field: field, comparison: Comparison(comparison), value: Field(id: 0, value))
    case .all(let count): self.init(all: count)
    case .any(let count): self.init(any: count)
    case .not: self.init(negation: true)
    }
  }

  /// - Throws: `invalidData` when it is neither one comparison, nor `all`, nor `any`, nor `negation`.
  public func model() throws(CaravanError) -> Predicate.Term {
    switch (field.isEmpty, all, any, negation) {
    case (true, 1..., 0, false): return .all(all)
    case (true, 0, 1..., false): return .any(any)
    case (true, 0, 0, true): return .not
    case (false, 0, 0, false):
      guard let comparison = comparison.model else {
        throw CaravanError(.invalidData, "field '\(field)' is compared in a way this release does not know")
      }
      return .compare(field: field, comparison, try value?.model() ?? .null)
    default:
      throw CaravanError(
        .invalidData, "a predicate term must be either a comparison of a field, or 'all', or 'any', or 'negation'")
    }
  }
}

extension SortKey {
  init(_ key: CaravanModel.SortKey) {
    self.init(field: key.field, descending: key.isDescending, near: key.near.map { Location($0) })
  }

  fileprivate func model() throws(CaravanError) -> CaravanModel.SortKey {
    CaravanModel.SortKey(field, isDescending: descending, near: try near?.model())
  }
}

extension QueryViewer {
  public init(_ viewer: Query.Viewer, roles: Set<String> = []) {
    switch viewer {
    case .anonymous: self.init()
    case .user(let author): self.init(author: author, roles: roles.sorted())
    case .server(let author): self.init(author: author, server: true, roles: roles.sorted())
    }
  }

  public var model: Query.Viewer {
    guard !author.isEmpty else { return .anonymous }
    return server ? .server(author) : .user(author)
  }

  /// - Throws: `limitExceeded` beyond `Limits.ownRoles`.
  public func ownRoles() throws(CaravanError) -> Set<String> {
    guard roles.count <= Limits.ownRoles else {
      throw CaravanError(.limitExceeded, "a viewer has \(roles.count) roles: the limit is \(Limits.ownRoles)")
    }
    return author.isEmpty ? [] : Set(roles)
  }
}

extension QueryRequest {
  public init(_ query: Query) {
    self.init(
      database: DatabaseRef(query.database), type: query.type,
      predicate: query.predicate.terms.map { PredicateTerm($0) },
      sort: query.sort.map { SortKey($0) }, limit: UInt32(clamping: query.limit), cursor: query.cursor,
      zone: query.zone ?? "", fields: query.fields, counts: query.isCount,
      seen: query.seen.map { SeenZone(zone: $0.zone, incarnation: $0.incarnation, seq: $0.seq) },
      viewer: query.viewer.map { QueryViewer($0, roles: query.roles) },
      text: query.text?.text ?? "", arguments: query.text?.arguments.map { Field(id: 0, $0) } ?? [],
      pageBytes: UInt32(clamping: query.pageBytes))
  }

  /// - Throws: `invalidData` for what is absent or malformed; `limitExceeded` beyond `Limits.predicateTerms`.
  public func model() throws(CaravanError) -> Query {
    guard predicate.count <= Limits.predicateTerms, sort.count <= Limits.predicateTerms else {
      throw CaravanError(
        .limitExceeded,
        "a query has \(predicate.count) terms, \(sort.count) sort keys: the limit is \(Limits.predicateTerms) of each"
      )
    }
    guard seen.count <= Limits.querySeenZones, fields.count <= Limits.fieldsPerType else {
      throw CaravanError(
        .limitExceeded,
        "a query names \(seen.count) zones that it has seen and \(fields.count) fields: the limits are "
          + "\(Limits.querySeenZones) and \(Limits.fieldsPerType)")
    }
    guard arguments.count <= Limits.queryArguments, text.isEmpty || predicate.isEmpty else {
      throw CaravanError(
        .limitExceeded,
        "a query has \(arguments.count) arguments: the limit is \(Limits.queryArguments); and it has a text or a "
          + "predicate, not both"
      )
    }
    var values: [Value] = []
    for argument in arguments { values.append(try argument.model()) }
    var terms: [Predicate.Term] = []
    for term in predicate { terms.append(try term.model()) }
    var keys: [CaravanModel.SortKey] = []
    for key in sort { keys.append(try key.model()) }
    var query = Query(
      database: try required(database, "database").model(), type: type, predicate: Predicate(terms),
      text: text.isEmpty ? nil : Query.Text(text, arguments: values), sort: keys,
      limit: Int(limit), cursor: cursor, zone: zone.isEmpty ? nil : zone, fields: fields, isCount: counts,
      seen: seen.map { Query.Seen(zone: $0.zone, incarnation: $0.incarnation, seq: $0.seq) }, viewer: viewer?.model)
    query.pageBytes = Int(pageBytes)
    query.roles = try viewer?.ownRoles() ?? []
    return query
  }
}

extension FilterTerm {
  public init(_ term: RowFilter.Term) {
    switch term {
    case .test(let test):
      let value = test.value == .null ? nil : Field(id: 0, test.value)
      self.init(
        field: test.field, kind: FieldKind(test.kind), comparison: Comparison(test.comparison), value: value)
    case .all(let count): self.init(all: count)
    case .any(let count): self.init(any: count)
    }
  }

  /// - Throws: `invalidData` when it is neither one comparison, nor `all`, nor `any`.
  fileprivate func model() throws(CaravanError) -> RowFilter.Term {
    switch (field, all, any) {
    case (0, 1..., 0): return .all(all)
    case (0, 0, 1...): return .any(any)
    case (1..., 0, 0):
      guard let comparison = comparison.model, let kind = kind.model else {
        throw CaravanError(.invalidData, "field \(field) is compared in a way this release does not know")
      }
      return .test(RowFilter.Test(field, kind, comparison, try value?.model() ?? .null))
    default:
      throw CaravanError(.invalidData, "a filter's term must be either a comparison of a field, or 'all', or 'any'")
    }
  }
}

extension RowFilter {
  /// nil: there are no terms.
  /// - Throws: `invalidData` or `limitExceeded` for terms that are no filter.
  public init?(_ terms: [FilterTerm]) throws(CaravanError) {
    guard !terms.isEmpty else { return nil }
    guard terms.count <= Limits.predicateTerms else {
      throw CaravanError(.limitExceeded, "a filter has \(terms.count) terms: the limit is \(Limits.predicateTerms)")
    }
    var list: [Term] = []
    for term in terms { list.append(try term.model()) }
    try self.init(list)
  }
}
