import CaravanBus
import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Foundation
import Testing

@testable import CaravanCLIDriver

/// Goal: the broker of the simulation reads permissions as the real one does. Method: both are given the same tokens,
/// and asked for every subject of a list.
@Suite(
  "Permissions in the model of the broker",
  .enabled(if: FileManager.default.isExecutableFile(atPath: NATSServerProcess.program)), .timeLimit(.minutes(2)))
struct BrokerModelTests {
  /// A broker, and its model, which know one account.
  private struct Cluster {
    let keys: KeyDirectory
    /// Of each of `templates` the key that signs for it.
    let others: [NKey]
    let raw: RawBroker
    let model: ModelBroker
    let now: Int64

    /// - Returns: of each subject whether the real broker lets it pass, then whether the model does.
    func ask(
      _ credentials: Credentials, publishing: [String], subscribing: [String]
    ) throws -> (real: [String: Bool], model: [String: Bool]) {
      let lines =
        publishing.map { "PUB \($0) 2\r\nhi" } + subscribing.enumerated().map { "SUB \($1) \($0 + 1)" }
      let answers = try raw.answers(credentials, lines)
      let rights = try model.admission(of: credentials.jwt).rights
      var (real, modelled) = ([String: Bool](), [String: Bool]())
      for subject in publishing {
        real["PUB \(subject)"] = !answers.contains { $0.contains("for Publish to \"\(subject)\"") }
        modelled["PUB \(subject)"] = rights.mayPublish(to: subject)
      }
      for subject in subscribing {
        real["SUB \(subject)"] = !answers.contains { $0.contains("for Subscription to \"\(subject)\"") }
        modelled["SUB \(subject)"] = rights.maySubscribe(to: subject)
      }
      #expect(answers.allSatisfy { $0.contains("Permissions Violation") }, "\(answers)")
      return (real, modelled)
    }

    func user(
      _ name: String, _ claims: UserClaims, signedBy signer: NKey, at seconds: Int64? = nil, expires: Int64? = nil
    ) throws -> Credentials {
      let key = try NKey.generate(.user)
      let token = try JWTClaims(
        subject: key.publicKey, name: name, issuedAt: seconds ?? now - 5, expires: expires, .user(claims)
      ).sign(with: signer)
      return try Credentials(jwt: token, key: key)
    }

    func scoped(_ name: String, _ tags: [String], signedBy signer: NKey) throws -> Credentials {
      try user(
        name, UserClaims(.scoped, issuerAccount: keys.accountKey.publicKey, tags: tags), signedBy: signer)
    }
  }

  /// What another key's template allows: everything that templates can say.
  private static let templates = [
    Permissions(
      publish: .init(
        allow: ["own.{{name()}}.{{tag(user)}}.*", "plain.>", "key.{{subject()}}"], deny: ["own.*.*.secret"]),
      subscribe: .init(allow: ["team.{{tag(team)}}.>", "ear.*"], deny: ["ear.deaf", "team.*.{{name()}}"])),
    Permissions(
      publish: .init(allow: ["{{tag(team)}}.x"]), subscribe: .init(allow: ["{{tag(team)}}.>"], deny: ["a.b"])),
    Permissions(publish: .init(deny: ["{{tag(team)}}.>"])),
  ]

  private static func with(_ body: (Cluster) throws -> Void) async throws {
    let live = CaravanRuntime.Host.live()
    let host = live.with(log: Log(level: .error, clock: live.clock, sink: NullLogSink()))
    try await withTemporaryDirectory { path in
      let now = host.clock.wallTime.milliseconds / 1000
      let keys = try KeyDirectory.ensure("\(path)/keys", at: now)
      let others = try templates.map { _ in try NKey.generate(.account) }
      var claims = AccountClaims(signingKeys: [.scoped(.devices(signedBy: keys.deviceKey.publicKey))])
      for (key, template) in zip(others, templates) {
        claims.signingKeys.append(.scoped(UserScope(key: key.publicKey, role: "other", permissions: template)))
      }
      let account = try JWTClaims(
        subject: keys.accountKey.publicKey, name: "caravan", issuedAt: now, .account(claims)
      ).sign(with: keys.operatorKey)
      var settings = try keys.brokerOperator(directory: "\(path)/jwt")
      let system = try #require(try keys.token("system.jwt"))
      settings = NATSConfiguration.Operator(
        token: settings.token, systemAccount: keys.systemKey.publicKey, accounts: [system, account],
        directory: "\(path)/jwt")
      var configuration = NATSConfiguration(port: try LoopbackPort.free(random: host.random))
      configuration.operator = settings
      let hub = InProcessHub(clock: host.clock, random: host.random)
      let model = ModelBroker(hub, clock: host.clock, operatorKey: keys.operatorKey.publicKey)
      for token in [system, account] { try model.take(token) }
      let server = try await NATSServerProcess.start(configuration, in: path, host: host)
      let result = Swift.Result {
        try body(Cluster(keys: keys, others: others, raw: RawBroker(port: configuration.port), model: model, now: now))
      }
      await server.stop(clock: host.clock)
      try result.get()
    }
  }

  @Test("TRU-13: with the credentials that the product makes, model and broker agree on every subject")
  func product() async throws {
    try await Self.with { cluster in
      let subjects = Set(
        PermissionTests.secrets + PermissionTests.jobs.flatMap(\.publishes) + [
          "inbox.ann.cam-1_1.r.x.1", "inbox.cam-1.r.x.1", "inbox.svc_storage.r.x.1", "svc.notify.abc", "$SRV.PING",
          "edge.ann.cam-1_1.renew", "edge.ann.cam-2_1.exchange", "edge.bob.cam-1_1.exchange", "svc.storage.3",
          "edge.ann.cam-1.renew",
        ]
      ).sorted()
      let patterns = Set(
        PermissionTests.ears + PermissionTests.jobs.flatMap(\.subscribes) + [
          "inbox.ann.cam-1_1.r.x.*", "inbox.ann.cam-1_1.notify", "inbox.ann.cam-1_2.>", "inbox.ann.*.notify",
          "inbox.*.cam-1_1.>", "edge.ann.*.exchange", "changes.4", "svc.storage.*.*", "$SRV.*",
        ]
      ).sorted()
      var everybody = try Holder.allCases.map { ("\($0)", try Credentials.reading(cluster.keys.credentialsFile($0))) }
      everybody.append(("device", try cluster.scoped("cam-1_1", ["user:ann"], signedBy: cluster.keys.deviceKey)))
      everybody.append(("old device", try cluster.scoped("cam-1", ["user:ann"], signedBy: cluster.keys.deviceKey)))
      for (name, credentials) in everybody {
        let (real, model) = try cluster.ask(credentials, publishing: subjects, subscribing: patterns)
        #expect(real == model, "\(name): \(real.filter { model[$0.key] != $0.value })")
        #expect(Set(real.values) == [true, false], "\(name)")
      }
    }
  }

  /// Claims, what is tried, and what both are to say.
  private static let cases: [(Permissions, publishes: [String: Bool], subscribes: [String: Bool])] = [
    (
      Permissions(publish: .init(allow: ["a.*.c", "b.>", "d"]), subscribe: .init(allow: ["a.*", "b.*.c", "e.>"])),
      ["a.b.c": true, "a.b.c.d": false, "a.c": false, "b": false, "b.x": true, "b.x.y": true, "d": true, "d.e": false],
      [
        // A rule that ends with `*` lets `>` pass, but not at another place.
        "a.x": true, "a.*": true, "a.>": true, "a.x.y": false, "b.*.c": true, "b.x.c": true, "b.>": false,
        "b.*.*": false, "*.x": false, ">": false, "e": false, "e.*": true, "e.>": true,
      ]
    ),
    (
      Permissions(publish: .init(deny: ["a.>"]), subscribe: .init(allow: ["a.>"], deny: ["a.b.*"])),
      ["a": true, "a.b": false, "b": true],
      ["a.b": true, "a.b.c": false, "a.b.*": false, "a.b.>": false, "a.*.c": true, "a.>": true, "b": false]
    ),
    (Permissions(publish: .nothing), ["a": false, "a.b": false], ["a": true, ">": true]),
    (Permissions(), ["a": true], [">": true]),
  ]

  @Test("TRU-13: wildcards and denials mean the same to model and broker")
  func rules() async throws {
    try await Self.with { cluster in
      for (number, (permissions, publishes, subscribes)) in Self.cases.enumerated() {
        let credentials = try cluster.user("x", UserClaims(.explicit(permissions)), signedBy: cluster.keys.accountKey)
        let (real, model) = try cluster.ask(
          credentials, publishing: publishes.keys.sorted(), subscribing: subscribes.keys.sorted())
        var expected: [String: Bool] = [:]
        for (subject, isAllowed) in publishes { expected["PUB \(subject)"] = isAllowed }
        for (subject, isAllowed) in subscribes { expected["SUB \(subject)"] = isAllowed }
        #expect(real == expected, "broker, \(number): \(real.filter { expected[$0.key] != $0.value })")
        #expect(model == expected, "model, \(number): \(model.filter { expected[$0.key] != $0.value })")
      }
    }
  }

  @Test("TRU-13: templates mean the same to model and broker, whether a user has the tag or not")
  func templates() async throws {
    try await Self.with { cluster in
      let publishing = [
        "own.pi_1.ann.x", "own.pi_1.ann.secret", "own.pi_2.ann.x", "own.pi_1.bob.x", "plain.a.b", "key.x", "red.x", "a",
      ]
      let subscribing = [
        "team.red.x", "team.blue.x", "team.red.>", "team.red.pi_1", "ear.a", "ear.deaf", "ear.*", "red.x", "a", ">",
      ]
      var allowed: [Int] = []
      for signer in cluster.others {
        for tags in [["user:ann", "team:red"], ["user:ann"]] where signer != cluster.others[2] || tags.count == 2 {
          let credentials = try cluster.scoped("pi_1", tags, signedBy: signer)
          let own = "key.\(credentials.key.publicKey.text)"
          let (real, model) = try cluster.ask(credentials, publishing: publishing + [own], subscribing: subscribing)
          #expect(real == model, "\(tags): \(real.filter { model[$0.key] != $0.value })")
          allowed.append(real.values.count { $0 })
        }
      }
      #expect(allowed == [7, 5, 2, 0, 18])
    }
  }

  @Test("TRU-13: whom the broker does not let in, its model does not either")
  func strangers() async throws {
    try await Self.with { cluster in
      let (none, account) = (UserClaims(.explicit(Permissions())), cluster.keys.accountKey)
      for (credentials, what) in [
        (try cluster.scoped("pi_1", ["user:ann"], signedBy: cluster.others[2]), "a denial names a tag that it lacks"),
        (try cluster.scoped("pi_1", ["user:ann"], signedBy: try NKey.generate(.account)), "a stranger's"),
        (try cluster.user("x", none, signedBy: cluster.others[0]), "permissions by a key that signs none"),
        (try cluster.user("x", none, signedBy: account, expires: cluster.now - 1), "expired"),
      ] {
        let socket = try cluster.raw.stay(credentials)
        #expect(socket == nil, "\(what)")
        if let socket { close(socket) }
        #expect(throws: CaravanError.self, "\(what)") { try cluster.model.admission(of: credentials.jwt) }
      }
    }
  }
}
