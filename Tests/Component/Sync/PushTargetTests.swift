import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a user's devices say where notifications are pushed to, for their own user alone. Method: devices, sync, a
/// real store and a push service that takes what it is told to take.
@Suite(.timeLimit(.minutes(2))) struct PushTargetTests {
  /// What the push service would be.
  private final class Registrar: Sendable {
    let asked = Mutex<[RegisterTargetRequest]>([])
    let refusal = Mutex<CaravanError?>(nil)
    /// The first one waits for this.
    let gate = Mutex<Latch?>(nil)

    func serve(_ bus: any MessageBus) async throws {
      let requests = try await bus.subscribe(
        .exact(.service(.push, method: "register")), group: "push", capacity: 100)
      try await withThrowingDiscardingTaskGroup { group in
        while case .message(let incoming)? = await requests.next() {
          group.addTask { try await self.answer(incoming, bus) }
        }
      }
    }

    private func answer(_ incoming: Incoming, _ bus: any MessageBus) async throws {
      let request = try RegisterTargetRequest.decode(incoming.message.payload)
      asked.withLock { $0.append(request) }
      await gate.withLock { $0.take() }?.wait()
      guard let address = incoming.reply else { return }
      if let refusal = refusal.withLock({ $0 }) { return try await bus.reply(Message(refusal), to: address) }
      // As the push service does, one for each registration.
      let secret = request.target.map { "whsec_\($0.registration)" } ?? ""
      try await bus.reply(
        Message(RegisterTargetReply(serverKey: [4], secret: secret, perMinute: 60).encoded()), to: address)
    }
  }

  private static func with(
    _ body: @Sendable (CloudCluster, Registrar) async throws -> Void
  ) async throws {
    try await CloudCluster.with { cloud in
      let registrar = Registrar()
      let bus = cloud.hub.connect(as: "push")
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await registrar.serve(bus) }
        defer { group.cancelAll() }
        try await body(cloud, registrar)
      }
    }
  }

  private static func ask(
    _ device: Device, _ request: PushTargetsRequest, in container: String = "album"
  ) async throws -> PushTargetsReply {
    let result = try await device.ask(
      .pushTargets(AskPushTargets(container: container, request: request.encoded())))
    if case .failure(let failure) = result { throw failure.model() }
    guard case .pushTargets(let found) = result else { throw Unexpected(result: result) }
    return try PushTargetsReply.decode(found.answer)
  }

  private static func hook(_ id: String, _ url: String = "https://h.org/", of subscriptions: [String] = [])
    -> PushTarget
  {
    PushTarget(id: id, webhook: Webhook(url: url), subscriptions: subscriptions)
  }

  @Test("CK-85: a target is its user's, on all of their devices, in one container; its secret is told once")
  func ownTargets() async throws {
    try await Self.with { cloud, registrar in
      let (phone, tablet, eve) = (
        try cloud.device("phone"), try cloud.device("tablet"), try cloud.device("e", of: "eve")
      )
      _ = try await phone.agree([("name", .text)])
      let saved = try await Self.ask(phone, PushTargetsRequest(save: Self.hook("hook")))
      #expect(
        saved.secret.hasPrefix("whsec_[") && saved.serverKey == [4] && saved.targets.map(\.target?.id) == ["hook"])
      let browser = PushTarget(
        id: "browser", webPush: WebPushEndpoint(url: "https://p.org/", key: [4, 1], secret: [9, 9]))
      _ = try await Self.ask(tablet, PushTargetsRequest(save: browser))
      let all = try await Self.ask(phone, PushTargetsRequest())
      #expect(all.targets.map(\.target?.id) == ["browser", "hook"] && all.secret.isEmpty && all.serverKey == [4])
      #expect(all.targets[0].target?.webPush?.key == [4, 1])
      #expect(all.targets[0].target?.webPush?.secret == [], "whoever has it could send in the suite's place")
      #expect(try await Self.ask(eve, PushTargetsRequest()).targets.isEmpty)
      #expect(try await Self.ask(eve, PushTargetsRequest(remove: "hook")).targets.isEmpty)
      #expect(try await Self.ask(tablet, PushTargetsRequest(remove: "hook")).targets.map(\.target?.id) == ["browser"])
      guard case .zones(let zones) = try await phone.ask(.zones(ListZones(container: "album"))) else {
        throw Missing("zones")
      }
      #expect(!zones.zones.map(\.zone).contains(PushTargets.zone), "it is none of the app's")
    }
  }

  @Test("CK-85: a target that is saved again goes on; one that leads elsewhere, or had ended, begins anew")
  func savedAgain() async throws {
    try await Self.with { cloud, registrar in
      let phone = try cloud.device("phone")
      func registrations() -> [[UInt8]] { registrar.asked.withLock { $0.compactMap { $0.target?.registration } } }
      _ = try await Self.ask(phone, PushTargetsRequest(save: Self.hook("hook")))
      _ = try await Self.ask(phone, PushTargetsRequest(save: Self.hook("hook", of: ["mine"])))
      #expect(Set(registrations()).count == 1 && registrations()[0].count == 16)
      _ = try await Self.ask(phone, PushTargetsRequest(save: Self.hook("hook", "https://other.org/")))
      #expect(Set(registrations()).count == 2)
      let now = try #require(registrations().last)
      let ended = StoredTargetState(registration: now, state: PushState(delivered: 3, problem: "gone", ended: true))
      let states = try ZoneID(
        DatabaseID(container: .system, environment: cloud.environment, owner: UserID("ann")), PushTargets.stateZone)
      let storage = StorageClient(bus: cloud.hub.connect(as: "notify"), host: .live(), writer: "@test")
      _ = try await storage.commit(
        to: states,
        [
          CaravanModel.Mutation(
            name: PushTargets.record(try ContainerID("album"), "hook"), base: .any,
            change: .save(type: 0, body: PushTargets.body(of: ended), chunks: []))
        ])
      let shown = try await Self.ask(phone, PushTargetsRequest()).targets.first?.state
      #expect(shown?.ended == true && shown?.delivered == 3)
      let anew = try await Self.ask(phone, PushTargetsRequest(save: Self.hook("hook", "https://other.org/")))
      #expect(Set(registrations()).count == 3 && anew.targets.first?.state == nil)
    }
  }

  @Test("CK-85: who saves a target twice at the same time is told the one secret that counts")
  func savedTwice() async throws {
    try await Self.with { cloud, registrar in
      let phone = try cloud.device("phone")
      let latch = Latch()
      registrar.gate.withLock { $0 = latch }
      try await withThrowingTaskGroup(of: PushTargetsReply.self) { group in
        group.addTask { try await Self.ask(phone, PushTargetsRequest(save: Self.hook("hook"))) }
        try await eventually("the first one is asked for") { registrar.asked.withLock { $0.count } == 1 }
        let second = try await Self.ask(phone, PushTargetsRequest(save: Self.hook("hook")))
        latch.open()
        let first = try #require(await group.next())
        #expect(first.secret == second.secret && !first.secret.isEmpty)
      }
      let last = registrar.asked.withLock { $0.last?.target?.registration } ?? []
      let again = try await Self.ask(phone, PushTargetsRequest(save: Self.hook("hook")))
      #expect(again.secret == "whsec_\(last)")
    }
  }

  @Test("CK-85: what is no target, too many of them, and what the push service refuses is said, and nothing is kept")
  func refusals() async throws {
    try await Self.with { cloud, registrar in
      let phone = try cloud.device("phone")
      func code(_ request: PushTargetsRequest) async throws -> ErrorCode? {
        do { _ = try await Self.ask(phone, request) } catch let error as CaravanError { return error.code }
        return nil
      }
      for target in [
        Self.hook(""), Self.hook(String(repeating: "x", count: 65)), Self.hook("a\nb"),
        Self.hook("h", of: [""]), Self.hook("h", of: [String(repeating: "x", count: 65)]),
      ] {
        #expect(try await code(PushTargetsRequest(save: target)) == .invalidData)
      }
      let many = Self.hook("h", of: [String](repeating: "s", count: Limits.subscriptionsPerPushTarget + 1))
      #expect(try await code(PushTargetsRequest(save: many)) == .limitExceeded)
      #expect(try await code(PushTargetsRequest(save: Self.hook("h"), remove: "h")) == .invalidData)
      registrar.refusal.withLock { $0 = CaravanError(.accessDenied, "the server did not say so") }
      #expect(try await code(PushTargetsRequest(save: Self.hook("h"))) == .accessDenied)
      registrar.refusal.withLock { $0 = nil }
      #expect(try await Self.ask(phone, PushTargetsRequest()).targets.isEmpty)
      for number in 0..<Limits.pushTargets {
        _ = try await Self.ask(phone, PushTargetsRequest(save: Self.hook("h\(number)")))
      }
      #expect(try await code(PushTargetsRequest(save: Self.hook("one more"))) == .limitExceeded)
      #expect(try await code(PushTargetsRequest(save: Self.hook("h3"))) == nil, "one that is there is replaced")
      for number in 0..<(Limits.pushTargetsPerUser - Limits.pushTargets) {
        let app = "app\(number / Limits.pushTargets)"
        _ = try await Self.ask(phone, PushTargetsRequest(save: Self.hook("h\(number)")), in: app)
      }
      do {
        _ = try await Self.ask(phone, PushTargetsRequest(save: Self.hook("h")), in: "another")
        Issue.record("the user has more than in all apps together")
      } catch let error as CaravanError { #expect(error.code == .limitExceeded) }
      do { _ = try await Self.ask(phone, PushTargetsRequest(), in: "caravan") } catch let error as CaravanError {
        #expect(error.code == .zoneDoesNotExist)
      }
    }
  }

  @Test("CK-85: a suite without a push service says so")
  func nobody() async throws {
    try await CloudCluster.with { cloud in
      let phone = try cloud.device("phone")
      let error = await #expect(throws: CaravanError.self) {
        try await Self.ask(phone, PushTargetsRequest(save: Self.hook("h")))
      }
      #expect(error?.code == .unavailable && error?.message.contains("caravan-push") == true)
    }
  }
}
