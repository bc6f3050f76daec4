public import CaravanModel

extension StandingQuery {
  public init(_ query: CaravanModel.StandingQuery) {
    let shows = query.shows.isEmpty ? nil : NotificationContent(query.shows)
    let source = query.source.map { StandingTemplate(name: $0.name, version: $0.version) }
    switch query.subject {
    case .zones: self.init(id: query.id, zones: true, shows: shows)
    case .template(let name, let arguments, let zone):
      let template = StandingTemplate(name: name, arguments: arguments.map { Field(id: 0, $0) }, zone: zone ?? "")
      self.init(id: query.id, shows: shows, source: template)
    case .records(let type, let text, let zone, let events):
      self.init(
        id: query.id,
        records: StandingRecords(
          type: type, text: text?.text ?? "", arguments: text?.arguments.map { Field(id: 0, $0) } ?? [],
          zone: zone ?? "", enters: events.contains(.enters), leaves: events.contains(.leaves),
          changes: events.contains(.changes)),
        shows: shows, source: source)
    }
  }

  /// - Throws: `invalidData` for what is absent or malformed; `limitExceeded` beyond `Limits.queryArguments` and the
  ///   limits of what notifications show.
  public func model() throws(CaravanError) -> CaravanModel.StandingQuery {
    let shows = try shows?.model() ?? CaravanModel.NotificationContent()
    if let records {
      guard !zones else {
        throw CaravanError(.invalidData, "subscription '\(id)' is of records and of zones: make two")
      }
      let kept = source.map { CaravanModel.StandingQuery.TemplateVersion(name: $0.name, version: $0.version) }
      return CaravanModel.StandingQuery(id: id, try records.model(of: id), shows: shows, source: kept)
    }
    if let template = source {
      guard !zones, shows.isEmpty else {
        throw CaravanError(
          .invalidData,
          "subscription '\(id)' is made from template '\(template.name.prefix(80))', which says all of it: say no more")
      }
      let arguments = try StandingRecords.models(template.arguments)
      return CaravanModel.StandingQuery(
        id: id, .template(template.name, arguments: arguments, zone: template.zone.isEmpty ? nil : template.zone))
    }
    guard zones else { throw CaravanError(.invalidData, "subscription '\(id)' is of no records and no zones") }
    try shows.checkNamesNone()
    return CaravanModel.StandingQuery(id: id, .zones, shows: shows)
  }
}

extension StandingRecords {
  fileprivate func model(of id: String) throws(CaravanError) -> CaravanModel.StandingQuery.Subject {
    let arguments = try Self.models(arguments)
    let events = CaravanModel.StandingQuery.Events(enters: enters, leaves: leaves, changes: changes)
    guard !events.isEmpty else {
      throw CaravanError(.invalidData, "subscription '\(id)' waits for nothing: for what enters, leaves or changes")
    }
    let text = text.isEmpty ? nil : Query.Text(text, arguments: arguments)
    return .records(type: type, text: text, zone: zone.isEmpty ? nil : zone, events)
  }

  fileprivate static func models(_ fields: [Field]) throws(CaravanError) -> [CaravanModel.Value] {
    guard fields.count <= Limits.queryArguments else {
      throw CaravanError(
        .limitExceeded, "a query has \(fields.count) arguments: the limit is \(Limits.queryArguments)")
    }
    var values: [CaravanModel.Value] = []
    for field in fields { values.append(try field.model()) }
    return values
  }
}

extension CaravanModel.StandingQuery.Events {
  fileprivate init(enters: Bool, leaves: Bool, changes: Bool) {
    self = []
    if enters { insert(.enters) }
    if leaves { insert(.leaves) }
    if changes { insert(.changes) }
  }
}

extension NotificationContent {
  public init(_ content: CaravanModel.NotificationContent) {
    self.init(
      title: content.title, body: content.body, titleKey: content.titleKey, titleArguments: content.titleArguments,
      bodyKey: content.bodyKey, bodyArguments: content.bodyArguments, badges: content.badges, sound: content.sound,
      fields: content.fields)
  }

  /// - Throws: `limitExceeded` and `invalidData`, as what notifications show is bounded.
  public func model() throws(CaravanError) -> CaravanModel.NotificationContent {
    let content = CaravanModel.NotificationContent(
      title: title, body: body, titleKey: titleKey, titleArguments: titleArguments, bodyKey: bodyKey,
      bodyArguments: bodyArguments, badges: badges, sound: sound, fields: fields)
    try content.check()
    return content
  }
}

extension SubscriptionTemplate {
  public init(_ template: CaravanModel.SubscriptionTemplate) {
    self.init(
      name: template.name, type: template.type, text: template.text ?? "", enters: template.events.contains(.enters),
      leaves: template.events.contains(.leaves), changes: template.events.contains(.changes),
      shows: template.shows.isEmpty ? nil : NotificationContent(template.shows), version: template.version)
  }

  /// - Throws: `limitExceeded` and `invalidData`, as what notifications show is bounded.
  public func model() throws(CaravanError) -> CaravanModel.SubscriptionTemplate {
    CaravanModel.SubscriptionTemplate(
      name: name, type: type, text: text.isEmpty ? nil : text,
      events: CaravanModel.StandingQuery.Events(enters: enters, leaves: leaves, changes: changes),
      shows: try shows?.model() ?? CaravanModel.NotificationContent(), version: version)
  }
}
