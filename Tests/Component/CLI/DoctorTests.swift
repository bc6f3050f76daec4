import CaravanBusNATS
import CaravanCrypto
import CaravanEncoding
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanTestKit
import Foundation
import Testing

@testable import CaravanCLIDriver

/// Goal: `caravan doctor` finds what is wrong with a real device. Method: whole command lines over real files, sockets
/// and brokers that are broken on purpose.
@Suite("caravan doctor", .timeLimit(.minutes(2)))
struct DoctorTests {
  struct Report {
    let code: Int32
    let findings: [JSON]

    func level(_ subject: String) -> [String] {
      findings.filter { $0["subject"]?.stringValue == subject }.compactMap { $0["level"]?.stringValue }
    }

    func meaning(_ subject: String) -> String {
      findings.filter { $0["subject"]?.stringValue == subject }.compactMap { $0["meaning"]?.stringValue }
        .joined(separator: "; ")
    }
  }

  static func examine(_ arguments: String...) async throws -> Report { try await examine(arguments) }

  static func examine(_ arguments: [String]) async throws -> Report {
    let said = Collector()
    let live = CaravanRuntime.Host.live()
    let host = live.with(log: Log(level: .error, clock: live.clock, sink: NullLogSink()))
    let code = await Caravan.run(
      ["doctor", "--json"] + arguments, environment: [:], Terminal(host: host) { said.add($0) })
    let report = try JSON.parse(said.lines.joined())
    return Report(code: code, findings: report["findings"]?.arrayValue ?? [])
  }

  @Test("nothing works: no agent, damaged credentials, no broker, a directory that cannot be written")
  func broken() async throws {
    try await withTemporaryDirectory { path in
      let port = try LoopbackPort.free(random: CaravanRuntime.Host.live().random)
      try TextFile.writeSecret("no credentials", to: "\(path)/device.creds")
      try TextFile.writeSecret(
        """
        creds = \(path)/device.creds
        data = /proc
        socket = \(path)/agent.sock
        nats = nats://127.0.0.1:\(port)
        link = wifi     # of no concern here
        """, to: "\(path)/agent.conf")
      let report = try await Self.examine("--config", "\(path)/agent.conf")
      #expect(report.code == 1)
      for subject in ["agent", "credentials", "broker", "data"] { #expect(report.level(subject) == ["problem"]) }
      #expect(report.level("clock") == ["ok"])
      #expect(report.meaning("broker").contains("cannot be reached"))
    }
  }

  @Test("a device that waits for its first start: only what is missing is a problem")
  func halfWell() async throws {
    try await withTemporaryDirectory { path in
      let report = try await Self.examine("--data", path, "--socket", "\(path)/agent.sock", "--creds", "\(path)/none")
      #expect(report.code == 1)
      #expect(report.level("data").allSatisfy { $0 != "problem" } && report.level("store") == ["ok"])
      #expect(report.level("agent") == ["problem"] && report.meaning("credentials").contains("is not there"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [], "it leaves no trace")
    }
  }

  @Test("a store that is damaged is told from one that is sound")
  func stores() async throws {
    try await withTemporaryDirectory { path in
      let database = try Connection(.file("\(path)/agent.db"))
      try database.execute("CREATE TABLE t(a TEXT); CREATE INDEX i ON t(a);")
      for n in 0..<500 { try database.execute("INSERT INTO t VALUES ('\(n) \(String(repeating: "x", count: 90))')") }
      // Beside an owner that is at work.
      #expect(try await Self.examine("--data", path).level("store") == ["ok"])
      try database.checkpoint(.truncate)
      database.close()
      #expect(try await Self.examine("--data", path).level("store") == ["ok"])
      // What an agent came upon in use, a quick look does not see.
      let mark = "\(path)/agent.db-damaged"
      #expect(FileManager.default.createFile(atPath: mark, contents: nil))
      #expect(try await Self.examine("--data", path).level("store") == ["problem"])
      try FileManager.default.removeItem(atPath: mark)
      let file = try #require(FileHandle(forUpdatingAtPath: "\(path)/agent.db"))
      try file.seek(toOffset: 5 * 4_096)
      try file.write(contentsOf: [UInt8](repeating: 0x55, count: 4_096))
      try file.close()
      let report = try await Self.examine("--data", path)
      #expect(report.level("store") == ["problem"] && report.code == 1)
    }
  }

  @Test("an address that is none, a name that nobody knows, and something that is no broker")
  func addresses() async throws {
    #expect(try await Self.examine("--nats", "http://x").meaning("broker").contains("is no address"))
    #expect(try await Self.examine("--nats", "nats://name.invalid").meaning("broker").contains("is unknown"))
    #expect(HostPort(brokerURL: "tls://h") == HostPort("h", 4222))
    #expect(HostPort(brokerURL: "nats://[::1]:5") == HostPort("::1", 5))
    #expect(HostPort(brokerURL: "nats://ada:secret@h:5") == HostPort("h", 5) && HostPort(brokerURL: "h:5") != nil)
    for wrong in ["http://h:4222", "nats://h:99999", "nats://h:0", "nats://", "nats://h:", "nats://h h:1"] {
      #expect(HostPort(brokerURL: wrong) == nil, "\(wrong)")
    }
  }

  @Test(
    "credentials that a real broker refuses are told from a broker that is not there",
    .enabled(if: FileManager.default.isExecutableFile(atPath: NATSServerProcess.program)))
  func refusedCredentials() async throws {
    try await withTemporaryDirectory { path in
      try await PermissionTests.with { cluster in
        let good = "\(path)/good.creds"
        try TextFile.writeSecret(try cluster.device("camera", user: "ada").rendered, to: good)
        let well = try await Self.examine("--creds", good, "--nats", cluster.url)
        #expect(well.code == 0, "\(well.findings.map { $0.encoded() })")
        #expect(well.level("broker") == ["ok"] && well.meaning("credentials").contains("'camera' of user 'ada'"))
        #expect(try await Self.examine("--nats", cluster.url).level("broker") == ["warning"])
        // Another deployment's: well-formed, and nobody here knows who signed them.
        let stranger = try NKey.generate(.user)
        let claims = JWTClaims(
          subject: stranger.publicKey, name: "camera", issuedAt: 1_750_000_000,
          .user(UserClaims(.scoped, issuerAccount: try NKey.generate(.account).publicKey, tags: ["user:ada"])))
        let bad = "\(path)/bad.creds"
        let token = try claims.sign(with: NKey.generate(.account))
        try TextFile.writeSecret(try Credentials(jwt: token, key: stranger).rendered, to: bad)
        let refused = try await Self.examine("--creds", bad, "--nats", cluster.url)
        #expect(refused.code == 1 && refused.level("credentials") == ["ok"])
        #expect(refused.meaning("broker").contains("refuses these credentials"))
      }
    }
  }

  @Test(
    "a broker's certificate: its time, and who signed it",
    .enabled(if: FileManager.default.isExecutableFile(atPath: NATSServerProcess.program)))
  func certificates() async throws {
    let live = CaravanRuntime.Host.live()
    let host = live.with(log: Log(level: .error, clock: live.clock, sink: NullLogSink()))
    let now = host.clock.wallTime.milliseconds / 1_000
    let long = CertificateValidity(notBefore: now - 90 * 86_400, notAfter: now + 90 * 86_400)
    let authority = try CertificateAuthority.create(commonName: "ours", validity: long)
    let other = try CertificateAuthority.create(commonName: "theirs", validity: long)
    for (validity, level, says) in [
      (long, "ok", "good for"),
      (CertificateValidity(notBefore: now - 9_000, notAfter: now - 7_300), "problem", "expired 2 hours ago"),
    ] {
      try await withTemporaryDirectory { path in
        let pair = try authority.issue(.server, commonName: "nats", names: [.ip("127.0.0.1")], validity: validity)
        for (name, text) in [
          ("ca", authority.certificate), ("other", other.certificate), ("server", pair.certificate),
          ("key", pair.privateKey),
        ] { try TextFile.writeSecret(text, to: "\(path)/\(name).pem") }
        let configuration = NATSConfiguration(
          port: try LoopbackPort.free(random: host.random),
          tls: .init(certificateFile: "\(path)/server.pem", keyFile: "\(path)/key.pem"))
        let server = try await NATSServerProcess.start(configuration, in: path, host: host)
        let url = configuration.url
        let report = try await Self.examine("--nats", url, "--tls-ca", "\(path)/ca.pem")
        #expect(report.level("certificate") == [level] && report.meaning("certificate").contains(says))
        let distrusted = try await Self.examine("--nats", url, "--tls-ca", "\(path)/other.pem")
        #expect(distrusted.level("certificate") == ["problem"])
        #expect(try await Self.examine("--nats", url).meaning("broker").contains("who signed"))
        await server.stop(clock: host.clock)
      }
    }
  }

  @Test(
    "a broker that asks for a client certificate: one that shows none is told what to give",
    .enabled(if: FileManager.default.isExecutableFile(atPath: NATSServerProcess.program)))
  func clientCertificate() async throws {
    let live = CaravanRuntime.Host.live()
    let host = live.with(log: Log(level: .error, clock: live.clock, sink: NullLogSink()))
    let now = host.clock.wallTime.milliseconds / 1_000
    let validity = CertificateValidity(notBefore: now - 86_400, notAfter: now + 90 * 86_400)
    let authority = try CertificateAuthority.create(commonName: "ours", validity: validity)
    try await withTemporaryDirectory { path in
      let server = try authority.issue(.server, commonName: "nats", names: [.ip("127.0.0.1")], validity: validity)
      let client = try authority.issue(.client, commonName: "camera", names: [], validity: validity)
      for (name, text) in [
        ("ca", authority.certificate), ("server", server.certificate), ("key", server.privateKey),
        ("client", client.certificate), ("client-key", client.privateKey),
      ] { try TextFile.writeSecret(text, to: "\(path)/\(name).pem") }
      let configuration = NATSConfiguration(
        port: try LoopbackPort.free(random: host.random),
        tls: .init(
          certificateFile: "\(path)/server.pem", keyFile: "\(path)/key.pem", clientAuthorityFile: "\(path)/ca.pem"))
      let process = try await NATSServerProcess.start(configuration, in: path, host: host)
      let known = ["--nats", configuration.url, "--tls-ca", "\(path)/ca.pem"]
      let stranger = try await Self.examine(known)
      #expect(stranger.level("broker") == ["problem"] && stranger.level("certificate") == ["ok"])
      #expect(stranger.meaning("broker").contains("asks for a client certificate"))
      let shown = try await Self.examine(
        known + ["--tls-cert", "\(path)/client.pem", "--tls-key", "\(path)/client-key.pem"])
      #expect(shown.meaning("broker").contains("is there; whether it lets this device in"))
      await process.stop(clock: host.clock)
    }
  }

  @Test("without a device to examine it is a wrong command line; so is a configuration that is wrong")
  func usage() async throws {
    let terminal = Terminal(host: .live()) { _ in }
    if !FileManager.default.fileExists(atPath: DoctorCommand.standardConfiguration) {
      #expect(await Caravan.run(["doctor"], environment: [:], terminal) == 2)
    }
    #expect(await Caravan.run(["doctor", "--config", "/nowhere"], environment: [:], terminal) == 2)
    try await withTemporaryDirectory { path in
      for wrong in [
        "tls-ca", "natz = nats://h:4222", "link = pigeon", "device-link = eth1=wifi", "system-bus = /run/bus",
      ] {
        try TextFile.writeSecret("data = \(path)\n\(wrong)\n", to: "\(path)/agent.conf")
        #expect(await Caravan.run(["doctor", "--config", "\(path)/agent.conf"], environment: [:], terminal) == 2)
      }
    }
  }
}
