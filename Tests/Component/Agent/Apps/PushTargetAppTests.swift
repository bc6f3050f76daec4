import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

import struct CaravanClient.PushTarget

/// Goal: an app says where its notifications are pushed to, and is told how that goes (CK-85). Method: the client
/// against an agent whose cloud is scripted.
@Suite("Push targets of apps", .timeLimit(.minutes(1))) struct PushTargetAppTests {
  @Test("CK-85: a target reaches the cloud as the app said it; its state comes back in plain values")
  func asks() async throws {
    let sync = ScriptedSync()
    sync.state.withLock { state in
      state.targets = PushTargetsReply(
        targets: [
          PushTargetStatus(
            target: CaravanWire.PushTarget(
              id: "browser", webPush: WebPushEndpoint(url: "https://p.org/1", key: [4]), subscriptions: ["mine"]),
            state: PushState(
              delivered: 7, givenUp: 1, status: 503, problem: "the server answered with status 503",
              failingSinceMilliseconds: 5,
              last: [
                CaravanWire.GivenUp(source: 3, number: 9, status: 400, problem: "no", atMilliseconds: 4)
              ])),
          PushTargetStatus(
            target: CaravanWire.PushTarget(id: "server", webhook: Webhook(url: "https://h.org/"))),
        ], serverKey: [4, 2], secret: "whsec_x")
    }
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let secret = try await client.push(
          to: PushTarget("server", .webhook(url: "https://h.org/"), subscriptions: ["mine"]))
        #expect(secret == "whsec_x")
        try await client.push(
          to: PushTarget("browser", .webPush(url: "https://p.org/1", key: [4], secret: [5])))
        try await client.stopPushing(to: "server")
        #expect(try await client.pushServerKey() == [4, 2])
        let all = try await client.pushTargets()
        #expect(all.map(\.id) == ["browser", "server"] && all[0].subscriptions == ["mine"])
        #expect(all[0].place == .webPush(url: "https://p.org/1", key: [4], secret: []))
        #expect(all[0].state.delivered == 7 && all[0].state.givenUp == 1 && all[0].state.failingSince == 5)
        #expect(all[0].state.last.map(\.number) == [9] && all[0].state.status == 503 && !all[0].state.hasEnded)
        #expect(all[1].place == .webhook(url: "https://h.org/") && all[1].state.delivered == 0)
        let error = await #expect(throws: CaravanError.self) { try await client.stopPushing(to: "") }
        #expect(error?.code == .invalidData, "nothing to remove would be a list")
      }
    }
    let server = CaravanWire.PushTarget(id: "server", webhook: Webhook(url: "https://h.org/"), subscriptions: ["mine"])
    let browser = CaravanWire.PushTarget(
      id: "browser", webPush: WebPushEndpoint(url: "https://p.org/1", key: [4], secret: [5]))
    #expect(
      sync.state.withLock { $0.pushed } == [
        PushTargetsRequest(save: server), PushTargetsRequest(save: browser), PushTargetsRequest(remove: "server"),
        PushTargetsRequest(), PushTargetsRequest(),
      ])
  }

  @Test("CK-85: what the cloud refuses is told as it said it")
  func refusal() async throws {
    let sync = ScriptedSync()
    sync.state.withLock { $0.refusal = CaravanError(.accessDenied, "the server did not say so") }
    try await AppFixture.with(sync: sync) { f in
      try await f.app { client in
        let error = await #expect(throws: CaravanError.self) {
          try await client.push(to: PushTarget("server", .webhook(url: "https://h.org/")))
        }
        #expect(error?.code == .accessDenied && error?.message == "the server did not say so")
      }
    }
  }
}
