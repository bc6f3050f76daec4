public import CaravanModel
internal import CaravanWire

/// What an app has the cloud tell it of, by the name that the app gave it (CK-82, CK-83).
public struct CloudSubscription: Sendable, Hashable {
  /// What happens to the rows that a subscription is about.
  public typealias Events = CaravanModel.StandingQuery.Events

  /// What it is about.
  public enum Subject: Sendable, Hashable {
    /// Rows of a table's type, in one zone or, without it, in all, that the selection finds.
    case rows(table: String, Table.Selection, zone: String?, Events)
    /// The zones of the user's own database: that one is made or deleted.
    case zones
  }

  /// The app's name for it; notifications of it say it.
  public let id: String
  /// What it is about.
  public let subject: Subject
  /// What its notifications show.
  public let content: CaravanModel.NotificationContent
  /// The template that the cloud has made it from, as that was then; nil: none.
  public let template: String?

  init(_ wire: CaravanWire.StandingQuery) throws(CaravanError) {
    let query = try wire.model()
    id = query.id
    content = query.shows
    template = query.source?.name
    subject =
      switch query.subject {
      case .template: throw CaravanError(.internalError, "subscription '\(id)' came without what its template says")
      case .zones: .zones
      case .records(let type, let text, let zone, let events):
        .rows(
          table: type, Table.Selection(text?.text, text?.arguments ?? []), zone: zone, events)
      }
  }
}

extension Table {
  /// Has the cloud tell the app of rows of this table's type (CK-83), in place of what it subscribed to under this name
  /// before: on all devices of the user, in `CaravanClient.notifications(after:)`. It asks over whatever link there is.
  /// In production rows are subscribed to with templates only (`CaravanClient.subscribe`).
  /// - Parameters:
  ///   - id: the app's name for it, one of its user's in the database.
  ///   - selection: which rows, in the query language.
  ///   - events: what the app is to be told of them.
  ///   - content: what notifications show, and fields whose values they carry; without it they are silent.
  ///   - database: the user's own, or the one that all users of the app share.
  ///   - zone: that they lie in; nil: any.
  /// - Returns: all that the user has in that database now.
  /// - Throws: `networkNotConnected`, `networkNotPermitted`, or what the cloud refuses.
  @discardableResult
  public func subscribe(
    _ id: String, to selection: Selection = .all, events: CloudSubscription.Events = .all,
    showing content: CaravanModel.NotificationContent = CaravanModel.NotificationContent(),
    in database: CloudDatabase = .private,
    zone: String? = nil
  ) async throws(CaravanError) -> [CloudSubscription] {
    // Refuses arguments that no question to the cloud can have.
    _ = try selection.wire()
    try content.check()
    let text = selection.text.map { CaravanModel.Query.Text($0, arguments: selection.arguments) }
    let query = CaravanModel.StandingQuery(id: id, .records(type: name, text: text, zone: zone, events), shows: content)
    return try await connection.manage(
      ManageSubscriptions(publicDatabase: database == .public, save: CaravanWire.StandingQuery(query)))
  }
}

extension CaravanClient {
  /// Has the cloud tell the app which zones of the user's own database are made and deleted (CK-82).
  /// - Parameters:
  ///   - id: the app's name for it, one of its user's in the database.
  ///   - content: what notifications show; they carry no fields. Without it they are silent.
  /// - Returns: all that the user has in that database now.
  /// - Throws: as `Table.subscribe`.
  @discardableResult
  public func subscribeToZones(
    _ id: String, showing content: CaravanModel.NotificationContent = CaravanModel.NotificationContent()
  ) async throws(CaravanError) -> [CloudSubscription] {
    try content.check()
    try content.checkNamesNone()
    let query = CaravanModel.StandingQuery(id: id, .zones, shows: content)
    return try await connection.manage(ManageSubscriptions(save: CaravanWire.StandingQuery(query)))
  }

  /// Has the cloud tell the app of rows as a template of its schema says, with values of the template's parameters
  /// (CK-83). It is made of the template as that is now: later changes of it do not change the subscription.
  /// - Parameters:
  ///   - id: the app's name for it, one of its user's in the database.
  ///   - template: its name, as developers have defined it (`caravan schema template`).
  ///   - parameters: a value for each `?` of the template's text, in order.
  ///   - database: the user's own, or the one that all users of the app share.
  ///   - zone: that the rows lie in; nil: any.
  /// - Returns: all that the user has in that database now.
  /// - Throws: as `Table.subscribe`; `noSuchObject` for the template; `invalidData` and `schemaViolation` for
  ///   parameters of another number or kind.
  @discardableResult
  public func subscribe(
    _ id: String, template: String, parameters: [Value] = [], in database: CloudDatabase = .private,
    zone: String? = nil
  ) async throws(CaravanError) -> [CloudSubscription] {
    // Refuses arguments that no question to the cloud can have.
    _ = try Table.Selection(nil, parameters).wire()
    let query = CaravanModel.StandingQuery(id: id, .template(template, arguments: parameters, zone: zone))
    return try await connection.manage(
      ManageSubscriptions(publicDatabase: database == .public, save: CaravanWire.StandingQuery(query)))
  }

  /// Ends a subscription; none of this name is ended already. Notifications of it that are there stay.
  /// - Parameters:
  ///   - id: the app's name for it.
  ///   - database: the user's own, or the one that all users of the app share.
  /// - Returns: all that the user has in that database now.
  /// - Throws: as `Table.subscribe`; `invalidData` for an empty name.
  @discardableResult
  public func unsubscribe(
    _ id: String, in database: CloudDatabase = .private
  ) async throws(CaravanError) -> [CloudSubscription] {
    // Nothing to remove would be a list.
    try RecordName.check(id)
    return try await connection.manage(ManageSubscriptions(publicDatabase: database == .public, remove: id))
  }

  /// All that the user has subscribed to in this app, on whatever device.
  /// - Parameter database: the user's own, or the one that all users of the app share.
  /// - Throws: as `Table.subscribe`.
  public func subscriptions(
    in database: CloudDatabase = .private
  ) async throws(CaravanError) -> [CloudSubscription] {
    try await connection.manage(ManageSubscriptions(publicDatabase: database == .public))
  }
}

extension AppConnection {
  fileprivate func manage(_ request: ManageSubscriptions) async throws(CaravanError) -> [CloudSubscription] {
    guard case .subscriptions(let reply) = try await self.request(.manageSubscriptions(request)) else {
      throw Self.surprise("subscription")
    }
    var list: [CloudSubscription] = []
    for query in reply.subscriptions { list.append(try CloudSubscription(query)) }
    return list
  }
}
