import CaravanModel
import CaravanQueryCore
import CaravanWire

/// A subscription as it lies in storage: the record `<user>/<name>` of the zone of subscriptions in the database that
/// it is about, so that whoever matches it has it in the same change stream. Field 1: an encoded `StoredSubscription`.
struct SubscriptionRecord: Sendable {
  private static let field: UInt32 = 1

  let user: UserID
  let query: CaravanModel.StandingQuery
  /// Who they are to a public database; nil: they see all there is.
  let viewer: Query.Viewer?

  init(user: UserID, query: CaravanModel.StandingQuery, viewer: Query.Viewer?) {
    self.user = user
    self.query = query
    self.viewer = viewer
  }

  /// - Throws: `invalidData` for what is no subscription.
  init(_ entry: CaravanModel.Entry) throws(CaravanError) {
    guard case .data(let bytes) = try RecordFields(body: entry.body)[Self.field] else {
      throw CaravanError(.invalidData, "record '\(entry.name)' is no subscription")
    }
    let stored = try StoredSubscription.decode(bytes)
    self.init(
      user: try UserID(stored.user), query: try required(stored.query, "query").model(), viewer: stored.viewer?.model)
  }

  static func name(_ subscription: String, of user: UserID) -> String { "\(user.text)/\(subscription)" }

  /// Whose a record of this name is, and what they call it.
  static func place(_ name: String) -> (user: UserID, name: String)? {
    let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let user = try? UserID(String(parts[0])) else { return nil }
    return (user, String(parts[1]))
  }

  var save: CaravanModel.Mutation {
    let stored = StoredSubscription(
      user: user.text, query: CaravanWire.StandingQuery(query), viewer: viewer.map { QueryViewer($0) })
    let body = RecordFields([Self.field: .data(stored.encoded())]).body
    return CaravanModel.Mutation(
      name: Self.name(query.id, of: user), base: .any, change: .save(type: 0, body: body, chunks: []))
  }
}
