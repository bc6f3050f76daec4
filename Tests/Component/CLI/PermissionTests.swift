import CaravanBus
import CaravanBusNATS
import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Foundation
import Testing

@testable import CaravanCLIDriver

/// Goal: each holder of credentials can do its job and nothing else (architecture §4). Method: a real broker, asked in
/// its own words.
@Suite(
  "Permissions", .enabled(if: FileManager.default.isExecutableFile(atPath: NATSServerProcess.program)),
  .timeLimit(.minutes(2)))
struct PermissionTests {
  struct Cluster: Sendable {
    let broker: RawBroker
    let url: String
    let keys: KeyDirectory
    let host: CaravanRuntime.Host

    func credentials(_ holder: Holder) throws -> Credentials { try .reading(keys.credentialsFile(holder)) }

    func device(_ name: String, user: String) throws -> Credentials {
      let key = try NKey.generate(.user)
      let claims = JWTClaims(
        subject: key.publicKey, name: name.contains("_") || name.hasPrefix("old") ? name : "\(name)_1",
        issuedAt: host.clock.wallTime.milliseconds / 1000 - 5,
        .user(UserClaims(.scoped, issuerAccount: keys.accountKey.publicKey, tags: ["user:\(user)"])))
      return try Credentials(jwt: claims.sign(with: keys.deviceKey), key: key)
    }

    func connect(_ credentials: Credentials) async throws -> NATSBus {
      let bus = try await NATSBus.connect(NATSOptions(urls: [url], credentials: credentials, name: "test"), host: host)
      try await bus.waitUntilConnected(deadline: .seconds(10))
      return bus
    }
  }

  static func with(_ body: (Cluster) async throws -> Void) async throws {
    let live = CaravanRuntime.Host.live()
    let host = live.with(log: Log(level: .error, clock: live.clock, sink: NullLogSink()))
    try await withTemporaryDirectory { path in
      let keys = try KeyDirectory.ensure("\(path)/keys", at: host.clock.wallTime.milliseconds / 1000)
      var configuration = NATSConfiguration(port: try LoopbackPort.free(random: host.random))
      configuration.operator = try keys.brokerOperator(directory: "\(path)/jwt")
      let server = try await NATSServerProcess.start(configuration, in: path, host: host)
      do {
        try await body(
          Cluster(broker: RawBroker(port: configuration.port), url: configuration.url, keys: keys, host: host))
      } catch {
        await server.stop(clock: host.clock)
        throw error
      }
      await server.stop(clock: host.clock)
    }
  }

  static let storage = [
    "commit", "settle", "changes", "fetch", "zones", "create", "drop", "missing", "log", "heads", "lease",
    "group", "lock", "schedule", "cancel", "actions", "parcel",
  ]

  /// What each may publish to and subscribe to: what its code does.
  static let jobs: [(Holder, publishes: [String], subscribes: [String])] = [
    (
      .storage, ["changes.7", "svc.schema.type", "$SRV.PING.caravan-storage"],
      ["svc.storage.*.commit", "edge.*.*.chunks.*"]
    ),
    (
      .sync,
      [
        "commit", "commits", "settle", "changes", "fetch", "zones", "changed", "create", "drop", "group", "lock",
        "lease", "schedule", "cancel", "parcel",
      ].map { "svc.storage.3.\($0)" }
        + ["svc.schema.type", "svc.schema.propose", "svc.schema.container", "svc.notify.5.attach"]
        + ["svc.schema.roles", "svc.schema.members"]
        + ["svc.query.4.find", "svc.query.4.subscriptions", "svc.push.register"]
        + ["edge.ann.cam-1_1.acks.5"]
        + ["ext.album.photos"],
      ["edge.*.*.exchange"]
    ),
    (
      .schema, ["svc.storage.3.commit", "svc.storage.3.fetch", "svc.storage.3.changes", "svc.storage.3.zones"],
      ["svc.schema.propose", "svc.schema.type", "svc.schema.types"]
    ),
    (
      .notify,
      ["zones", "changes", "fetch", "log", "heads", "lease", "cursor", "commit", "commits"].map {
        "svc.storage.3.\($0)"
      }
        + ["svc.notify.abc", "inbox.ann.cam-1_1.notify", "svc.push.deliver"],
      ["changes.4", "svc.notify.4.attach", "edge.*.*.acks.4"]
    ),
    (
      .query,
      ["zones", "changes", "fetch", "log", "heads", "lease", "cursor", "commit", "commits"].map {
        "svc.storage.3.\($0)"
      }
        + ["svc.query.abc", "svc.query.4.shard", "svc.schema.type", "svc.schema.template", "svc.schema.container"]
        + ["svc.schema.roles"],
      ["changes.4", "svc.query.4.find"]
    ),
    (.push, [], ["svc.push.register", "svc.push.deliver"]),
    (
      .gateway, ["svc.storage.3.commit", "svc.storage.3.fetch", "svc.storage.3.changes", "$SRV.STATS"],
      ["edge.*.*.renew"]
    ),
    (
      .cli,
      [
        "svc.query.4.find", "svc.schema.type", "svc.schema.propose", "svc.schema.container", "svc.schema.containers",
        "svc.schema.members",
        "$SRV.PING",
      ]
        + ["status", "schedule", "cancel", "actions"].map { "svc.storage.3.\($0)" }, []
    ),
    (.connections, [], ["$SRV.>"]),
    (
      .system, ["$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.ACCOUNT.ABC.CONNZ"],
      ["$SYS.ACCOUNT.ABC.*"]
    ),
  ]

  /// What nobody may, beside those whose job it is.
  static let secrets =
    Self.storage.map { "svc.storage.3.\($0)" } + [
      "edge.ann.cam-1_1.exchange", "edge.ann.cam-1_1.chunks.3", "edge.ann.cam-1_1.acks.5", "changes.7",
      "svc.schema.propose", "svc.schema.containers", "svc.schema.members",
      "svc.notify.5.attach", "svc.push.register", "svc.push.deliver", "ext.album.photos",
      "inbox.ann.cam-1_1.notify", "inbox.svc_sync.r.x.1", "$SYS.REQ.SERVER.PING",
    ]

  static let ears = [
    ">", "*", "$SYS.>", "inbox.>", "inbox.ann.cam-1_1.>", "inbox.svc_sync.>", "inbox.svc_storage.>", "svc.>",
    "svc.storage.>",
    "svc.schema.>", "edge.>", "edge.*.*.exchange", "edge.*.*.chunks.*", "edge.*.*.acks.*", "edge.*.*.renew",
    "changes.>", "changes.*",
    "_INBOX.>", "ext.>", "ext.album.photos",
  ]

  /// What is its own, said with wildcards. Where `*` is allowed at the end, the broker allows `>` as well; nothing is
  /// published below these.
  static func wide(_ holder: Holder) -> [String] {
    switch holder {
    case .storage: ["svc.storage.>"]
    case .schema: ["svc.schema.>"]
    case .notify: ["changes.*", "changes.>", "edge.*.*.acks.*"]
    case .query: ["changes.*", "changes.>"]
    case .push: ["svc.push.>"]
    case .sync, .gateway, .cli, .connections, .system: []
    }
  }

  @Test("each can do its job")
  func jobs() async throws {
    try await Self.with { cluster in
      for (holder, publishes, subscribes) in Self.jobs {
        let inbox = "inbox.\(holder.userName).r.x.*"
        let discovery = holder == .cli || holder == .system ? [] : ["$SRV.PING", "$SRV.STATS.caravan-sync.abc"]
        let lines =
          publishes.map { "PUB \($0) 2\r\nhi" } + (subscribes + discovery + [inbox]).map { "SUB \($0) 1" }
        let answers = try cluster.broker.answers(cluster.credentials(holder), lines)
        #expect(answers == [], "\(holder)")
      }
    }
  }

  @Test("and nothing else")
  func nothingElse() async throws {
    try await Self.with { cluster in
      for (holder, publishes, subscribes) in Self.jobs {
        let credentials = try cluster.credentials(holder)
        for subject in Self.secrets where !publishes.contains(subject) {
          let answers = try cluster.broker.answers(credentials, ["PUB \(subject) 2\r\nhi"])
          #expect(answers.contains { $0.contains("Permissions Violation for Publish") }, "\(holder) \(subject)")
        }
        let own = subscribes + Self.wide(holder) + ["inbox.\(holder.userName).>"]
        for subject in Self.ears where !own.contains(subject) {
          let answers = try cluster.broker.answers(credentials, ["SUB \(subject) 1"])
          #expect(answers.contains { $0.contains("Permissions Violation for Sub") }, "\(holder) \(subject)")
        }
      }
    }
  }

  @Test("a device speaks under its own name only, and hears nothing but its inbox")
  func devices() async throws {
    try await Self.with { cluster in
      let camera = try cluster.device("cam-1", user: "ann")
      #expect(
        try cluster.broker.answers(
          camera,
          [
            "SUB inbox.ann.cam-1_1.r.x.* 1", "SUB inbox.ann.cam-1_1.notify 2",
            "PUB edge.ann.cam-1_1.exchange 2\r\nhi", "PUB edge.ann.cam-1_1.renew 2\r\nhi",
            "PUB edge.ann.cam-1_1.chunks.3 2\r\nhi", "PUB edge.ann.cam-1_1.acks.5 2\r\nhi",
          ]) == [])
      for line in [
        "SUB inbox.ann.cam-2_1.> 1", "SUB inbox.ann.cam-1_2.> 1", "SUB inbox.bob.cam-1_1.> 1", "SUB inbox.ann.> 1",
        "SUB inbox.svc_sync.> 1", "SUB $SRV.> 1", "SUB > 1", "SUB changes.* 1",
      ] {
        #expect(try !cluster.broker.answers(camera, [line]).isEmpty, "\(line)")
      }
      for subject in [
        "edge.bob.cam-1_1.exchange", "edge.ann.cam-2_1.exchange", "edge.ann.cam-1_2.exchange",
        "edge.ann.cam-1.exchange",
        "svc.storage.3.fetch", "$SRV.PING", "inbox.ann.cam-2_1.notify",
        "inbox.ann.cam-1_1.notify", "$SYS.REQ.CLAIMS.UPDATE",
      ] {
        #expect(try !cluster.broker.answers(camera, ["PUB \(subject) 2\r\nhi"]).isEmpty, "\(subject)")
      }
      // No device has the name of a service's credentials: their inboxes are apart.
      for holder in Holder.allCases { #expect(throws: CaravanError.self) { try DeviceID(holder.userName) } }
    }
  }

  @Test("CK-36: a program that decides conflicts hears those of its record type, and may do nothing else")
  func extensions() async throws {
    try await Self.with { cluster in
      let (album, photos) = (try ContainerID("album"), "photos")
      let claims = UserClaims(.explicit(.decider(of: album, type: photos)))
      let seconds = cluster.host.clock.wallTime.milliseconds / 1000
      let credentials = try cluster.keys.credentials(named: "ext.album.photos", claims, at: seconds)
      let own = ["SUB ext.album.photos resolver 1", "SUB ext.album.photos 2"]
      #expect(try cluster.broker.answers(credentials, own) == [])
      for subject in Self.ears + ["ext.*.*", "ext.album.*", "ext.album.notes", "ext.other.photos", "$SRV.>"]
      where subject != "ext.album.photos" {
        let answers = try cluster.broker.answers(credentials, ["SUB \(subject) 1"])
        #expect(answers.contains { $0.contains("Permissions Violation for Sub") }, "\(subject)")
      }
      for subject in Self.secrets + ["$SRV.PING", "inbox.svc_extension.r"] {
        let answers = try cluster.broker.answers(credentials, ["PUB \(subject) 2\r\nhi"])
        #expect(answers.contains { $0.contains("Permissions Violation for Publish") }, "\(subject)")
      }
    }
  }

  @Test(
    "MOB-56: a server app speaks in its containers alone, hears nothing but its inboxes, and ends when it is revoked")
  func serverApps() async throws {
    try await Self.with { cluster in
      let app = try ServerApp("billing")
      let (shop, diary) = (try ContainerID("shop"), try ContainerID("diary"))
      let names = [
        app.device(in: shop, enrolment: 1, .development), app.device(in: diary, enrolment: 4, .development),
      ]
      let seconds = cluster.host.clock.wallTime.milliseconds / 1000 - 5
      let credentials = try cluster.keys.credentials(
        named: app.user.text, .serverApp(app, as: names), at: seconds)
      #expect(credentials.jwt.claims.userTag == app.user.text && credentials.jwt.claims.expires == nil)
      let places = ["server--billing.shop_1", "server--billing.diary_4"]
      for place in places {
        let own = ["exchange", "chunks.3", "acks.5"].map { "PUB edge.\(place).\($0) 2\r\nhi" }
        #expect(
          try cluster.broker.answers(credentials, own + ["SUB inbox.\(place).r.x.* 1", "SUB inbox.\(place).notify 2"])
            == [])
      }
      let others =
        [
          "album_1", "shop_2", "shop_1_production", "shop", "shop_1.x", "diary_1", "*", "*_1",
        ].map { "server--billing.\($0)" } + ["server--other.shop_1", "ann.shop_1", "ann.cam-1_1", "*.shop_1"]
      for subject in Self.ears + others.flatMap({ ["inbox.\($0).>", "inbox.\($0).notify"] })
        + ["inbox.server--billing.>", "inbox.*.*.notify", "edge.server--billing.shop_1.exchange", "$SRV.>"]
      where !places.contains(where: { subject.hasPrefix("inbox.\($0).") }) {
        let answers = try cluster.broker.answers(credentials, ["SUB \(subject) 1"])
        #expect(answers.contains { $0.contains("Permissions Violation for Sub") }, "\(subject)")
      }
      for subject in Self.secrets + others.map({ "edge.\($0).exchange" })
        + places.flatMap({ ["inbox.\($0).notify", "inbox.\($0).r.x.1", "edge.\($0).renew", "edge.\($0).other"] })
        + ["$SRV.PING", "$SYS.REQ.CLAIMS.UPDATE", "_INBOX.x", "ext.shop.orders"]
      {
        let answers = try cluster.broker.answers(credentials, ["PUB \(subject) 2\r\nhi"])
        #expect(answers.contains { $0.contains("Permissions Violation for Publish") }, "\(subject)")
      }
      let ears = (1...140).map { "SUB inbox.\(places[0]).r.\($0) \($0)" }
      #expect(try !cluster.broker.answers(credentials, ears).isEmpty, "subscriptions have a bound")
      let connected = try await cluster.connect(credentials)
      let session = try BusSession(
        url: cluster.url, tls: nil, credentials: cluster.keys.credentialsFile(.system), name: "test")
      try await session.with(cluster.host) { bus throws(CaravanError) in
        try await cluster.keys.revoke([credentials.key.publicKey], over: bus, cluster.host)
      }
      try await eventually("the connection ends") { !connected.isConnected }
      #expect(try !cluster.broker.answers(credentials, []).isEmpty)
      await connected.drain(deadline: .milliseconds(100))
    }
  }

  @Test("a service may answer whoever asks it")
  func answering() async throws {
    try await Self.with { cluster in
      let serving = try await cluster.connect(cluster.credentials(.sync))
      let endpoint = Endpoint("exchange", .everyExchange, group: "sync", maxInFlight: 8) { $0.message.payload }
      let service = ServiceHost(
        name: "caravan-sync", version: "1.0.0", bus: serving, host: cluster.host, endpoints: [endpoint])
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await service.run() }
        defer { service.shutDown() }
        let device = try await cluster.connect(cluster.device("cam-1", user: "ann"))
        let subject = Subject.exchange(EnrolledDevice("ann", "cam-1"))
        try await eventually("sync answers") {
          (try? await device.request(Message([7]), to: subject, deadline: .seconds(2)))?.payload == [7]
        }
        let cli = try await cluster.connect(cluster.credentials(.cli))
        let seen = try await cli.gather(Message(), to: .discovery(.ping), within: .seconds(5), limit: 1)
        #expect(seen.count == 1)
        await device.drain(deadline: .seconds(1))
        await cli.drain(deadline: .seconds(1))
      }
      await serving.drain(deadline: .seconds(1))
    }
  }

  @Test("TRU-04: a device reaches no subject and no inbox of the other environment, whatever it calls itself")
  func environments() async throws {
    try await Self.with { cluster in
      for (own, other) in [("cam-1_1", "cam-1_1_production"), ("cam-1_1_production", "cam-1_1")] {
        let credentials = try cluster.device(own, user: "ann")
        for subject in ["exchange", "renew", "chunks.3", "acks.3"].map({ "edge.ann.\(other).\($0)" }) {
          let answers = try cluster.broker.answers(credentials, ["PUB \(subject) 2\r\nhi"])
          #expect(answers.contains { $0.contains("Permissions Violation for Publish") }, "\(own) to \(subject)")
        }
        for subject in ["inbox.ann.\(other).>", "inbox.ann.\(other).notify", "inbox.ann.*.notify", "inbox.ann.>"] {
          let answers = try cluster.broker.answers(credentials, ["SUB \(subject) 1"])
          #expect(answers.contains { $0.contains("Permissions Violation for Sub") }, "\(own) to \(subject)")
        }
        #expect(try cluster.broker.answers(credentials, ["PUB edge.ann.\(own).exchange 2\r\nhi"]) == [])
        #expect(try cluster.broker.answers(credentials, ["SUB inbox.ann.\(own).notify 1"]) == [])
      }
    }
  }

  @Test("a revocation through the system account ends the device's connection, and it cannot come back")
  func revocation() async throws {
    try await Self.with { cluster in
      let (camera, other) = (try cluster.device("cam-1", user: "ann"), try cluster.device("cam-2", user: "ann"))
      let connected = try await cluster.connect(camera)
      let token = try cluster.keys.accountToken(
        revoking: [camera.key.publicKey], at: cluster.host.clock.wallTime.milliseconds / 1000)
      let session = try BusSession(
        url: cluster.url, tls: nil, credentials: cluster.keys.credentialsFile(.system), name: "test")
      let answer = try await session.with(cluster.host) { bus throws(CaravanError) in
        try await bus.request(Message(Array(token.text.utf8)), to: .claimsUpdate, deadline: .seconds(5))
      }
      #expect(String(decoding: answer.payload, as: UTF8.self).contains("\"code\":200"))
      try await eventually("the connection ends") { !connected.isConnected }
      #expect(try !cluster.broker.answers(camera, []).isEmpty)
      #expect(try cluster.broker.answers(other, []) == [])
      await connected.drain(deadline: .milliseconds(100))
    }
  }
}
