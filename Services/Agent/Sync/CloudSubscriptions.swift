internal import CaravanAgentNetwork
public import CaravanModel
internal import CaravanWire

/// What an app has the cloud tell it of, in one of its databases, and what is to become of that first.
public struct SubscriptionsQuestion: Sendable, Hashable {
  public enum Change: Sendable, Hashable {
    /// Makes it, or puts it in the place of the one with its id.
    case save(CaravanModel.StandingQuery)
    /// Removes the one with this id.
    case remove(String)
  }

  public var app: ContainerID
  /// About the app's public database; else about that of the device's user.
  public var isPublic: Bool
  /// Nil: they are only listed.
  public var change: Change?

  public init(app: ContainerID, isPublic: Bool = false, _ change: Change? = nil) {
    self.app = app
    self.isPublic = isPublic
    self.change = change
  }
}

/// Carries subscriptions of apps to the query service, and those that there are back.
struct CloudSubscriptions: Sendable {
  let exchanger: Exchanger

  /// - Returns: all that the user has in that database then.
  /// - Throws: why there is no answer, or what the cloud refused.
  func ask(_ question: SubscriptionsQuestion) async throws(CaravanError) -> [CaravanModel.StandingQuery] {
    var request = SubscriptionsRequest()
    switch question.change {
    case .save(let query): request.save = CaravanWire.StandingQuery(query)
    case .remove(let id): request.remove = id
    case nil: break
    }
    let ask = AskSubscriptions(
      container: question.app.text, database: question.isPublic ? .public : .private, request: request.encoded())
    let result = try await exchanger.exchange([.subscriptions(ask)], through: [])[0]
    guard case .subscriptions(let found) = result else { throw .unexpected(result, to: "subscriptions") }
    var list: [CaravanModel.StandingQuery] = []
    for query in try SubscriptionsReply.decode(found.answer).subscriptions { list.append(try query.model()) }
    return list
  }
}
