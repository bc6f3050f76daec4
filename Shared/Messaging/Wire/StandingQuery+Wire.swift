public import CaravanModel

extension StandingQuery {
  public init(_ query: CaravanModel.StandingQuery) {
    switch query.subject {
    case .zones: self.init(id: query.id, zones: true)
    case .records(let type, let text, let zone, let events):
      self.init(
        id: query.id,
        records: StandingRecords(
          type: type, text: text?.text ?? "", arguments: text?.arguments.map { Field(id: 0, $0) } ?? [],
          zone: zone ?? "", enters: events.contains(.enters), leaves: events.contains(.leaves),
          changes: events.contains(.changes)))
    }
  }

  /// - Throws: `invalidData` for what is absent or malformed; `limitExceeded` beyond `Limits.queryArguments`.
  public func model() throws(CaravanError) -> CaravanModel.StandingQuery {
    guard let records else {
      guard zones else { throw CaravanError(.invalidData, "subscription '\(id)' is of no records and no zones") }
      return CaravanModel.StandingQuery(id: id, .zones)
    }
    guard !zones else { throw CaravanError(.invalidData, "subscription '\(id)' is of records and of zones: make two") }
    guard records.arguments.count <= Limits.queryArguments else {
      throw CaravanError(
        .limitExceeded, "a query has \(records.arguments.count) arguments: the limit is \(Limits.queryArguments)")
    }
    var arguments: [CaravanModel.Value] = []
    for argument in records.arguments { arguments.append(try argument.model()) }
    var events: CaravanModel.StandingQuery.Events = []
    if records.enters { events.insert(.enters) }
    if records.leaves { events.insert(.leaves) }
    if records.changes { events.insert(.changes) }
    guard !events.isEmpty else {
      throw CaravanError(.invalidData, "subscription '\(id)' waits for nothing: for what enters, leaves or changes")
    }
    let text = records.text.isEmpty ? nil : Query.Text(records.text, arguments: arguments)
    return CaravanModel.StandingQuery(
      id: id, .records(type: records.type, text: text, zone: records.zone.isEmpty ? nil : records.zone, events))
  }
}
