import CaravanBus
import CaravanBusNATS
import CaravanCrypto
import CaravanEncoding
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// A broker that asks for credentials: the real one, or its model.
private protocol GuardedCluster: Sendable {
  var realm: Realm { get }
  func connect(_ credentials: Credentials) async throws -> any MessageBus
  /// The account has another token from now on.
  func update(_ account: JWT) async throws
}

private struct RealCluster: GuardedCluster {
  let realm: Realm

  func connect(_ credentials: Credentials) async throws -> any MessageBus {
    let bus = try await realm.connect(credentials)
    try await bus.waitUntilConnected(deadline: .seconds(20))
    return bus
  }

  func update(_ account: JWT) async throws {
    let system = try await realm.connect(realm.service("@sys", Permissions(), account: realm.systemKey))
    let answer = try await system.request(
      Message(Array(account.text.utf8)), to: .claimsUpdate, deadline: .seconds(10))
    let json = try JSON.parse(String(decoding: answer.payload, as: UTF8.self))
    guard json["data"]?["code"]?.intValue == 200 else { throw Unexpected("an update that is refused") }
  }
}

private struct ModelCluster: GuardedCluster {
  let realm: Realm
  let broker: ModelBroker

  init(_ realm: Realm) throws {
    self.realm = realm
    let hub = InProcessHub(clock: realm.host.clock, random: SeededRandom(seed: 1))
    broker = ModelBroker(hub, clock: realm.host.clock, operatorKey: realm.operatorKey.publicKey)
    try broker.take(realm.accountToken())
  }

  func connect(_ credentials: Credentials) async throws -> any MessageBus {
    try broker.connect(credentials.jwt, as: credentials.jwt.claims.name)
  }

  func update(_ account: JWT) async throws { try broker.take(account) }
}

private func withGuard(_ kind: BusKind, _ body: (any GuardedCluster) async throws -> Void) async throws {
  switch kind {
  case .nats: try await withRealm { try await body(RealCluster(realm: $0)) }
  case .inProcess:
    try await withTemporaryDirectory { try await body(ModelCluster(Realm(in: $0))) }
  }
}

/// Goal: what the simulation's broker lets through and refuses is what the real one does. Method: the same clients of
/// both. What single permissions mean is compared in the broker's own words by the tests of the command line.
@Suite("The model of the broker, and the broker", .timeLimit(.minutes(2)))
struct BrokerModelTests {
  private static let sync = Permissions(
    publish: .init(allow: ["svc.>", "inbox.*.*.notify"]),
    subscribe: .init(allow: ["edge.*.*.exchange", "inbox.@sync.>", "$SRV.>"]),
    responses: .init(count: 1, lifetime: 60_000_000_000))
  private static let pi = EnrolledDevice("ann", "pi-4")

  @Test(
    "TRU-13: what a device may not say or hear is refused, said to it, and never comes",
    arguments: BusKind.allCases)
  func foreign(kind: BusKind) async throws {
    try await withGuard(kind) { cluster in
      let server = try await cluster.connect(cluster.realm.service("@sync", Self.sync))
      let heard = try await server.subscribe(.everyExchange, group: "sync", capacity: 8)
      let device = try await cluster.connect(cluster.realm.device("pi-4", user: "ann"))
      let events = device.events()
      for subject: Subject in [
        .exchange(EnrolledDevice("bob", "pi-4")), .exchange(EnrolledDevice("ann", "pi-5")), .notify(Self.pi),
        .service(.schema, method: "type"),
      ] {
        try await device.publish(Message([1]), to: subject)
        #expect(await events.next()?.denies("Publish", subject.text) == true)
      }
      for pattern: SubjectPattern in [.everyExchange, .exact(.notify(EnrolledDevice("bob", "pi-4"))), .everyChange] {
        _ = try await device.subscribe(pattern, group: nil, capacity: 1)
        #expect(await events.next()?.denies("Subscription", pattern.text) == true)
      }
      // Whoever asks where it may not waits until the end, and is not told that nobody is there.
      let refusal = await failure {
        try await device.request(Message(), to: .exchange(EnrolledDevice("ann", "pi-5")), deadline: .milliseconds(200))
      }
      #expect(refusal?.code == .timedOut)
      try await device.publish(Message([7]), to: .exchange(Self.pi))
      #expect(try await heard.nextMessage().message.payload == [7])
    }
  }

  @Test(
    "TRU-13: a service answers whoever asks it, once, and its device hears that", arguments: BusKind.allCases)
  func answers(kind: BusKind) async throws {
    try await withGuard(kind) { cluster in
      let server = try await cluster.connect(cluster.realm.service("@sync", Self.sync))
      let heard = try await server.subscribe(.everyExchange, group: "sync", capacity: 8)
      let device = try await cluster.connect(cluster.realm.device("pi-4", user: "ann"))
      let events = server.events()
      async let answer = device.request(Message([1]), to: .exchange(Self.pi), deadline: .seconds(10))
      let address = try #require(try await heard.nextMessage().reply)
      #expect(address.text.hasPrefix("inbox.ann.pi-4_1.r."))
      try await server.reply(Message([2]), to: address)
      #expect(try await answer.payload == [2])
      try await server.reply(Message([3]), to: address)
      #expect(await events.next()?.denies("Publish", address.text) == true)
      let notifications = try await device.subscribe(.exact(.notify(Self.pi)), group: nil, capacity: 1)
      try await server.publish(Message([4]), to: .notify(Self.pi))
      #expect(try await notifications.nextMessage().message.payload == [4])
    }
  }

  @Test("TRU-13: an answer that comes too late is refused, and any without leave", arguments: BusKind.allCases)
  func lateAnswers(kind: BusKind) async throws {
    try await withGuard(kind) { cluster in
      for lifetime: Int64? in [50_000_000, nil] {
        var permissions = Self.sync
        permissions.responses = lifetime.map { .init(count: 5, lifetime: $0) }
        let server = try await cluster.connect(cluster.realm.service("@sync", permissions))
        let heard = try await server.subscribe(.everyExchange, group: nil, capacity: 8)
        let device = try await cluster.connect(cluster.realm.device("pi-4", user: "ann"))
        let events = server.events()
        async let refusal = failure {
          try await device.request(Message([1]), to: .exchange(Self.pi), deadline: .milliseconds(600))
        }
        let address = try #require(try await heard.nextMessage().reply)
        try await cluster.realm.host.clock.sleep(for: .milliseconds(300))
        try await server.reply(Message([2]), to: address)
        #expect(await events.next()?.denies("Publish", address.text) == true)
        #expect(await refusal?.code == .timedOut)
      }
    }
  }

  @Test(
    "TRU-13: a subscription wider than what is denied hears the rest; answers need a permitted inbox",
    arguments: BusKind.allCases)
  func denied(kind: BusKind) async throws {
    try await withGuard(kind) { cluster in
      let all = Permissions(subscribe: .init(deny: ["changes.7"]))
      let listener = try await cluster.connect(cluster.realm.service("@listener", all))
      let changes = try await listener.subscribe(.everyChange, group: nil, capacity: 8)
      let deaf = try await cluster.connect(
        cluster.realm.service("@deaf", Permissions(subscribe: .init(allow: ["changes.*"]))))
      for number: UInt32 in [7, 8] { try await deaf.publish(Message(), to: .changes(Partition(number))) }
      #expect(try await changes.nextMessage().subject == .changes(Partition(8)))
      let requests = try await listener.subscribe(.exact(.echo), group: nil, capacity: 1)
      async let refusal = failure { try await deaf.request(Message(), to: .echo, deadline: .milliseconds(300)) }
      let address = try #require(try await requests.nextMessage().reply)
      try await listener.reply(Message(), to: address)
      #expect(await refusal?.code == .timedOut)
    }
  }

  @Test(
    "TRU-13: a revoked device is cut off for good, and only it; its name serves again with another key",
    arguments: BusKind.allCases)
  func revocation(kind: BusKind) async throws {
    try await withGuard(kind) { cluster in
      let server = try await cluster.connect(cluster.realm.service("@sync", Self.sync))
      let lost = try cluster.realm.device("pi-4", user: "ann")
      let (device, kept) = (
        try await cluster.connect(lost), try await cluster.connect(cluster.realm.device("pi-5", user: "ann"))
      )
      let notifications = try await device.subscribe(.exact(.notify(Self.pi)), group: nil, capacity: 4)
      let events = device.events()
      try await cluster.update(cluster.realm.accountToken(revoking: lost.key.publicKey))
      var seen: [String] = []
      while let event = await events.next() {
        switch event {
        case .disconnected where seen.isEmpty: seen.append("disconnected")
        case .closed: seen.append("closed")
        default: break
        }
      }
      #expect(seen == ["disconnected", "closed"])
      try await server.publish(Message([1]), to: .notify(Self.pi))
      #expect(await notifications.next() == nil)
      #expect(await failure { try await device.publish(Message(), to: .exchange(Self.pi)) } != nil)
      #expect(await failure { _ = try await cluster.connect(lost) }?.code == .notAuthenticated)
      // Others go on, and so does whoever has its name now.
      let second = try EnrolledDevice(
        user: UserID("ann"), device: DeviceID("pi-4"), enrolment: 2, environment: .development)
      let heard = try await server.subscribe(.everyExchange, group: nil, capacity: 8)
      try await kept.publish(Message([1]), to: .exchange(EnrolledDevice("ann", "pi-5")))
      let again = try await cluster.connect(cluster.realm.device("pi-4", user: "ann", enrolment: 2))
      try await again.publish(Message([2]), to: .exchange(Self.pi))
      try await again.publish(Message([3]), to: .exchange(second))
      let other = try await cluster.connect(cluster.realm.device("pi-4", user: "bob"))
      try await other.publish(Message([4]), to: .exchange(EnrolledDevice("bob", "pi-4")))
      var payloads: Set<UInt8> = []
      for _ in 0..<3 { payloads.formUnion(try await heard.nextMessage().message.payload) }
      #expect(payloads == [1, 3, 4])
    }
  }

  @Test("TRU-13: nobody comes in without credentials that hold", arguments: BusKind.allCases)
  func strangers(kind: BusKind) async throws {
    try await withGuard(kind) { cluster in
      let stranger = try NKey.generate(.account)
      for credentials in [
        try cluster.realm.device("pi-4", user: "ann", expires: cluster.realm.now - 5),
        try cluster.realm.service("@sync", Self.sync, account: stranger),
        // The key that signs devices signs nothing else.
        try cluster.realm.service("@sync", Self.sync, account: cluster.realm.scopeKey),
      ] {
        #expect(await failure { _ = try await cluster.connect(credentials) }?.code == .notAuthenticated)
      }
    }
  }
}
