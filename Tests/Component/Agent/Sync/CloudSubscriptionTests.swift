import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: what an app subscribes to goes to the cloud as one operation, and only over a link that may be used (CK-82,
/// CK-83). Method: a whole agent against a scripted cloud, in virtual time.
@Suite("Subscriptions asked of the cloud", .timeLimit(.minutes(1))) struct CloudSubscriptionTests {
  @Test("CK-82, CK-83: to save, remove and list are asked of the right database; on a forbidden link nothing is asked")
  func asks() throws {
    try AgentCluster.run { device, _ in
      let engine = device.agent.engine
      let query = CaravanModel.StandingQuery(
        id: "s", .records(type: "chat", text: .init("text = ?", arguments: [.text("x")]), zone: nil, .all))
      let changes: [(Bool, SubscriptionsQuestion.Change?)] = [
        (true, .save(query)), (false, .remove("s")), (false, nil),
      ]
      for (isPublic, change) in changes {
        _ = try await engine.subscriptions(
          SubscriptionsQuestion(app: AgentCluster.app, isPublic: isPublic, change))
      }
      let asked = device.cloud.state.withLock { $0.subscribed }
      #expect(asked.map(\.container) == ["car", "car", "car"])
      #expect(asked.map(\.database) == [.public, .private, .private])
      let requests = try asked.map { try SubscriptionsRequest(decoding: $0.request) }
      #expect(try requests[0].save?.model() == query && requests[0].remove.isEmpty)
      #expect(requests[1].save == nil && requests[1].remove == "s")
      #expect(requests[2] == SubscriptionsRequest())
      try await engine.setPolicy(CaravanAgentCore.NetworkPolicy(maximumLink: nil))
      let error = await #expect(throws: CaravanError.self) {
        try await engine.subscriptions(SubscriptionsQuestion(app: AgentCluster.app))
      }
      #expect(error?.code == .networkNotPermitted)
      #expect(device.cloud.state.withLock { $0.subscribed.count } == 3)
    }
  }
}
