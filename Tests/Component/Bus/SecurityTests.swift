import CaravanBus
import CaravanBusNATS
import CaravanCrypto
import CaravanEncoding
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// A deployment's keys, and a broker that knows them.
struct Realm {
  let operatorKey: NKey
  let systemKey: NKey
  let accountKey: NKey
  let scopeKey: NKey
  let configuration: NATSConfiguration
  let now: Int64
  let host = Host.quiet

  init(in directory: String, tls: NATSConfiguration.TLS? = nil) throws {
    operatorKey = try NKey.generate(.operator)
    systemKey = try NKey.generate(.account)
    accountKey = try NKey.generate(.account)
    scopeKey = try NKey.generate(.account)
    now = Host.quiet.clock.wallTime.milliseconds / 1_000
    let root = try JWTClaims(
      subject: operatorKey.publicKey, name: "caravan", issuedAt: now,
      .operator(OperatorClaims(systemAccount: systemKey.publicKey))
    ).sign(with: operatorKey)
    let system = try JWTClaims(
      subject: systemKey.publicKey, name: "SYS", issuedAt: now, .account(AccountClaims())
    ).sign(with: operatorKey)
    let account = try Self.account(accountKey, scopeKey, operatorKey, now)
    configuration = NATSConfiguration(
      port: try LoopbackPort.free(random: Host.quiet.random),
      operator: .init(
        token: root, systemAccount: systemKey.publicKey, accounts: [system, account], directory: "\(directory)/jwt"),
      tls: tls)
  }

  private static func account(
    _ account: NKey, _ scope: NKey, _ root: NKey, _ now: Int64, revoked: [PublicNKey: Int64] = [:]
  ) throws -> JWT {
    let device = UserScope(
      key: scope.publicKey, role: "device",
      permissions: Permissions(
        publish: .init(allow: ["edge.{{tag(user)}}.{{name()}}.>"]),
        subscribe: .init(allow: ["inbox.{{tag(user)}}.{{name()}}.>"])))
    let claims = AccountClaims(signingKeys: [.scoped(device)], revocations: revoked)
    return try JWTClaims(subject: account.publicKey, name: "APP", issuedAt: now, .account(claims)).sign(with: root)
  }

  func accountToken(revoking key: PublicNKey? = nil) throws -> JWT {
    try Self.account(accountKey, scopeKey, operatorKey, now + 1, revoked: key.map { [$0: now + 1] } ?? [:])
  }

  func device(
    _ name: String, user: String, enrolment: Int = 1, expires: Int64? = nil
  ) throws -> Credentials {
    let key = try NKey.generate(.user)
    let claims = JWTClaims(
      subject: key.publicKey, name: "\(name)_\(enrolment)", issuedAt: now - 10, expires: expires,
      .user(UserClaims(.scoped, issuerAccount: accountKey.publicKey, tags: ["user:\(user)"])))
    return try Credentials(jwt: claims.sign(with: scopeKey), key: key)
  }

  func service(_ name: String, _ permissions: Permissions, account: NKey? = nil) throws -> Credentials {
    let key = try NKey.generate(.user)
    let claims = JWTClaims(
      subject: key.publicKey, name: name, issuedAt: now - 10, .user(UserClaims(.explicit(permissions))))
    return try Credentials(jwt: claims.sign(with: account ?? accountKey), key: key)
  }

  func connect(_ credentials: Credentials?, tls: NATSOptions.TLS? = nil) async throws -> NATSBus {
    let options = NATSOptions(urls: [configuration.url], credentials: credentials, tls: tls, name: "test")
    return try await NATSBus.connect(options, host: host)
  }
}

func withRealm(_ body: (Realm) async throws -> Void) async throws {
  try await withTemporaryDirectory { directory in
    let realm = try Realm(in: directory)
    let server = try await NATSServerProcess.start(realm.configuration, in: directory, host: realm.host)
    do { try await body(realm) } catch {
      await server.stop(clock: realm.host.clock)
      throw error
    }
    await server.stop(clock: realm.host.clock)
  }
}

/// Architecture §4, on a real broker in operator mode.
@Suite("Security of the bus", .timeLimit(.minutes(2)))
struct SecurityTests {
  private let sync = Permissions(
    publish: .init(allow: ["svc.>", "inbox.*.*.notify"]),
    subscribe: .init(allow: ["edge.*.*.exchange", "inbox.@sync.>", "$SRV.>"]),
    responses: .init(count: 1, lifetime: 60_000_000_000))

  private func exchange(_ user: String, _ device: String) throws -> Subject {
    .exchange(EnrolledDevice(try UserID(user), try DeviceID(device)))
  }

  @Test("A device asks under its own name and gets its answer and its notifications")
  func ownSubjects() async throws {
    try await withRealm { realm in
      let server = try await realm.connect(realm.service("@sync", sync))
      let device = try await realm.connect(realm.device("pi-4", user: "ann"))
      let endpoint = Endpoint("exchange", .everyExchange, group: "sync", maxInFlight: 4) { incoming in
        Array(incoming.subject.text.utf8)
      }
      let service = ServiceHost(name: "sync", version: "1.0.0", bus: server, host: realm.host, endpoints: [endpoint])
      let notifications = try await device.subscribe(
        .exact(.notify(EnrolledDevice("ann", "pi-4"))), group: nil, capacity: 4)
      try await running([service]) {
        try await eventually("served") { service.isServing(.everyExchange) }
        let answer = try await device.request(Message(), to: exchange("ann", "pi-4"), deadline: .seconds(10))
        #expect(String(decoding: answer.payload, as: UTF8.self) == "edge.ann.pi-4_1.exchange")
        try await server.publish(Message([1]), to: .notify(EnrolledDevice("ann", "pi-4")))
        #expect(try await notifications.nextMessage().message.payload == [1])
      }
    }
  }

  @Test("Another's subjects are denied: publish and subscribe, of a device and of a service, and the bus says so")
  func foreignSubjects() async throws {
    try await withRealm { realm in
      let server = try await realm.connect(realm.service("@sync", sync))
      let everything = try await server.subscribe(.everyExchange, group: nil, capacity: 8)
      let device = try await realm.connect(realm.device("pi-4", user: "ann"))
      let events = device.events()
      for subject in [
        try exchange("ann", "pi-5"), try exchange("bob", "pi-4"), .service(.schema, method: "define"),
        .notify(EnrolledDevice("ann", "pi-4")),
      ] {
        try await device.publish(Message(), to: subject)
        #expect(await events.next()?.denies("Publish", subject.text) == true)
      }
      for pattern: SubjectPattern in [
        .exact(.notify(EnrolledDevice("ann", "pi-5"))), .exact(.notify(EnrolledDevice("bob", "pi-4"))), .everyExchange,
        .everyChange,
      ] {
        let subscription = try await device.subscribe(pattern, group: nil, capacity: 1)
        #expect(await events.next()?.denies("Subscription", pattern.text) == true)
        subscription.cancel()
      }
      let serverEvents = server.events()
      try await server.publish(Message(), to: .changes(Partition(1)))
      #expect(await serverEvents.next()?.denies("Publish", "changes.1") == true)
      // The first that arrives is the device's own: nothing came before it.
      try await device.publish(Message([7]), to: exchange("ann", "pi-4"))
      #expect(try await everything.nextMessage().subject == exchange("ann", "pi-4"))
    }
  }

  @Test("With credentials that may not ask who else serves, a service says so, and serves")
  func oldCredentials() async throws {
    try await withRealm { realm in
      let lines = MemoryLogSink()
      let host = realm.host.with(log: Log(level: .warning, clock: realm.host.clock, sink: lines))
      let service = ServiceHost(
        name: "sync", version: "1.0.0", bus: try await realm.connect(realm.service("@sync", sync)), host: host,
        companions: Companions(sharing: nil, advice: ""))
      try await running([service]) {
        try await eventually("it says so") {
          lines.records.contains { $0.message.contains("who else serves is unknown") }
        }
        try await eventually("it serves") {
          let client = try await realm.connect(realm.service("@asks", Permissions()))
          return try await !client.gather(Message(), to: .discovery(.info), within: .seconds(5), limit: 1).isEmpty
        }
      }
    }
  }

  @Test("A process ends when it may not hear what it is there for, and says what to do")
  func foreignCredentials() async throws {
    try await withRealm { realm in
      let bus = try await realm.connect(realm.service("@sync", sync))
      let lifetime = BusLifetime(bus, host: realm.host)
      let service = ServiceHost(
        name: "storage", version: "1.0.0", bus: bus, host: realm.host, endpoints: [ServiceHostTests.echo()])
      let refusal = await failure { try await ServiceGroup([lifetime, service], host: realm.host).run() }
      #expect(refusal?.code == .notAuthenticated)
      #expect(refusal?.message.contains("caravan keys init") == true, "\(String(describing: refusal))")
    }
  }

  @Test("What a process may not say is written down once, however often it tries, and it goes on")
  func foreignPublishes() async throws {
    try await withRealm { realm in
      let lines = MemoryLogSink()
      let bus = try await realm.connect(realm.service("@sync", sync))
      let host = realm.host.with(log: Log(level: .warning, clock: realm.host.clock, sink: lines))
      try await running([BusLifetime(bus, host: host)]) {
        try await eventually("both are told, after a while") {
          for number: UInt32 in [1, 2] { try await bus.publish(Message(), to: .changes(Partition(number))) }
          return lines.records.count >= 2
        }
        let refusals = bus.events()
        try await bus.publish(Message(), to: .changes(Partition(2)))
        // Those of the last round may still come.
        var refusal = await refusals.next()
        while refusal?.denies("Publish", "changes.1") == true { refusal = await refusals.next() }
        #expect(refusal?.denies("Publish", "changes.2") == true)
        #expect(bus.isConnected)
      }
      #expect(lines.records.count == 2, "\(lines.records.map(\.message))")
    }
  }

  @Test("Expired, unknown or absent credentials are refused with notAuthenticated or never connect")
  func refusedCredentials() async throws {
    try await withRealm { realm in
      let stranger = try NKey.generate(.account)
      let bad: [Credentials?] = [
        try realm.device("pi-4", user: "ann", expires: realm.now - 5),
        try realm.service("@sync", sync, account: stranger), nil,
      ]
      for credentials in bad {
        let refusal = await failure {
          let bus = try await realm.connect(credentials)
          try await bus.waitUntilConnected(deadline: .seconds(20))
        }
        #expect(refusal?.code == .notAuthenticated, "\(String(describing: refusal))")
      }
    }
  }

  @Test("TRU-09: a connection whose credentials end shows those that were made meanwhile, and goes on")
  func renewed() async throws {
    try await withRealm { realm in
      let now = realm.host.clock.wallTime.milliseconds / 1_000
      let first = try realm.device("pi-4", user: "ann", expires: now + 3)
      let shown = Mutex(first)
      var options = NATSOptions(urls: [realm.configuration.url], credentials: first, name: "test")
      options.renewed = { shown.withLock(\.self) }
      let bus = try await NATSBus.connect(options, host: realm.host)
      try await bus.waitUntilConnected(deadline: .seconds(5))
      let events = bus.events()
      // Another key too, as after a new enrolment of the same device: what signs belongs to what is shown.
      let second = try realm.device("pi-4", user: "ann", expires: now + 3_600)
      shown.withLock { $0 = second }
      while let event = await events.next(), event != .disconnected {}
      try await bus.waitUntilConnected(deadline: .seconds(10))
    }
  }

  @Test("Revocation through $SYS.REQ.CLAIMS.UPDATE cuts the device off, and only it")
  func revocation() async throws {
    try await withRealm { realm in
      let system = try await realm.connect(
        realm.service("@sys", Permissions(), account: realm.systemKey))
      let lost = try realm.device("lost", user: "ann")
      let (device, other) = (try await realm.connect(lost), try await realm.connect(realm.device("kept", user: "ann")))
      let events = device.events()
      #expect(device.isConnected && other.isConnected)
      let token = try realm.accountToken(revoking: lost.key.publicKey)
      let answer = try await system.request(
        Message(Array(token.text.utf8)), to: .claimsUpdate, deadline: .seconds(10))
      let json = try JSON.parse(String(decoding: answer.payload, as: UTF8.self))
      #expect(json["data"]?["code"]?.intValue == 200, "\(json.encoded())")
      try await eventually("the device is cut off") { !device.isConnected }
      var seen: [BusEvent] = []
      while let event = await events.next() {
        seen.append(event)
        if event == .disconnected { break }
      }
      #expect(seen.contains(.disconnected))
      let again = await failure {
        let bus = try await realm.connect(lost)
        try await bus.waitUntilConnected(deadline: .milliseconds(500))
      }
      #expect(again != nil)
      #expect(other.isConnected)
      await #expect(throws: Never.self) {
        try await other.publish(Message(), to: .exchange(EnrolledDevice("ann", "kept")))
      }
    }
  }

  @Test("A broker that comes back knows its account before it lets anybody in: none of its clients is refused")
  func brokerComesBack() async throws {
    try await withTemporaryDirectory { directory in
      let realm = try Realm(in: directory)
      var server = try await NATSServerProcess.start(realm.configuration, in: directory, host: realm.host)
      var buses: [NATSBus] = []
      for number in 0..<16 {
        var options = NATSOptions(
          urls: [realm.configuration.url], credentials: try realm.device("pi-\(number)", user: "ann"), name: "test")
        options.firstRetry = .milliseconds(1)
        options.lastRetry = .milliseconds(2)
        buses.append(try await NATSBus.connect(options, host: realm.host))
      }
      let events = buses.map { $0.events() }
      server.kill()
      _ = await server.wait()
      server = try await NATSServerProcess.start(realm.configuration, in: directory, host: realm.host)
      for (bus, events) in zip(buses, events) {
        #expect(await events.next() == .disconnected)
        #expect(await events.next() == .connected)
        #expect(bus.isConnected)
      }
      await server.stop(clock: realm.host.clock)
    }
  }

  @Test("SIM-95: TLS with client certificates: not without one of ours, not to another's server, and it says why")
  func tls() async throws {
    try await withTemporaryDirectory { directory in
      let now = Host.quiet.clock.wallTime.milliseconds / 1_000
      let validity = CertificateValidity(notBefore: now - 60, notAfter: now + 3_600)
      func write(_ text: String, _ name: String) throws -> String {
        try TextFile.writeSecret(text, to: "\(directory)/\(name)")
        return "\(directory)/\(name)"
      }
      let authority = try CertificateAuthority.create(commonName: "ours", validity: validity)
      let other = try CertificateAuthority.create(commonName: "theirs", validity: validity)
      let server = try authority.issue(.server, commonName: "nats", names: [.ip("127.0.0.1")], validity: validity)
      let client = try authority.issue(.client, commonName: "pi-4", names: [], validity: validity)
      let ours = try write(authority.certificate, "ca.pem")
      let realm = try Realm(
        in: directory,
        tls: .init(
          certificateFile: write(server.certificate, "server.pem"), keyFile: write(server.privateKey, "server.key"),
          clientAuthorityFile: ours))
      let process = try await NATSServerProcess.start(realm.configuration, in: directory, host: realm.host)
      let identity = (try write(client.certificate, "client.pem"), try write(client.privateKey, "client.key"))
      let credentials = try realm.device("pi-4", user: "ann")
      func attempt(_ tls: NATSOptions.TLS, for patience: Duration = .milliseconds(500)) async -> CaravanError? {
        await failure {
          let bus = try await realm.connect(credentials, tls: tls)
          try await bus.waitUntilConnected(deadline: patience)
        }
      }
      let good = await attempt(
        .init(authorityFile: ours, certificateFile: identity.0, keyFile: identity.1), for: .seconds(20))
      #expect(good == nil)
      let nobody = await attempt(.init(authorityFile: ours), for: .seconds(5))
      #expect(nobody?.code == .unavailable && nobody?.message.contains("does it ask for a client certificate") == true)
      let missing = await attempt(.init(authorityFile: "\(directory)/none.pem"))
      #expect(missing?.code == .invalidData)
      #expect(missing?.message.contains("/none.pem': No such file or directory") == true)
      let theirs = try write(other.certificate, "other.pem")
      let stranger = await attempt(.init(authorityFile: theirs, certificateFile: identity.0, keyFile: identity.1))
      #expect(stranger?.code == .unavailable && stranger?.message.contains("TLS failed") == true)
      #expect(stranger?.message.contains("unable to get local issuer certificate") == true)
      await process.stop(clock: realm.host.clock)
    }
  }

  @Test("tls:// is kept to: a broker in its place that speaks no TLS does not see the credentials")
  func downgrade() async throws {
    try await withRealm { realm in
      let credentials = try realm.device("pi-4", user: "ann")
      for url in [realm.configuration.url, realm.configuration.url.replacing("nats://", with: "tls://")] {
        let refusal = await failure {
          let bus = try await NATSBus.connect(
            NATSOptions(urls: [url], credentials: credentials, name: "test"), host: realm.host)
          try await bus.waitUntilConnected(deadline: .seconds(20))
        }
        #expect(refusal?.code == (url.hasPrefix("tls://") ? .unavailable : nil), "\(String(describing: refusal))")
      }
    }
  }
}

extension BusEvent {
  func denies(_ what: String, _ subject: String) -> Bool {
    guard case .denied(let denied, let text) = self else { return false }
    return denied == (what == "Publish" ? .publish : .subscription)
      && text.localizedContains("Permissions Violation for \(what)") && text.contains("\"\(subject)\"")
  }
}

extension String {
  fileprivate func localizedContains(_ other: String) -> Bool { lowercased().contains(other.lowercased()) }
}
