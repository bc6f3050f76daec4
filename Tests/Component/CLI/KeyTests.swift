import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import Foundation
import Testing

@testable import CaravanCLIDriver

/// Goal: keys are made once and kept, and the broker takes what is made of them. Method: directories of the test's own,
/// and `nats-server -t`.
@Suite("The key directory", .timeLimit(.minutes(2)))
struct KeyTests {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("caravan-keys-\(UUID().uuidString)").path

  func contents(_ path: String) throws -> [String: Data] {
    let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return try names.reduce(into: [:]) { files, name in
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory),
        !isDirectory.boolValue
      else { return }
      files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
    }
  }

  func withPath(_ body: () throws -> Void) throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body()
  }

  @Test("made once, complete, secret, and the same when asked for again")
  func idempotent() throws {
    try withPath {
      _ = try KeyDirectory.ensure(path, at: 1_800_000_000)
      let first = try contents(path)
      let expected =
        ["operator.nk", "system.nk", "account.nk", "device-signing.nk", "operator.jwt", "system.jwt", "account.jwt"]
        + ["ticket.key", "token.key", "webhook.key", "vapid.key", "alias.key", "admin.token", "metrics.token", "lock"]
        + Holder.allCases.map { "creds/\($0.rawValue).creds" }
      #expect(first.keys.sorted() == expected.sorted())
      for name in first.keys {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
      }
      _ = try KeyDirectory.ensure(path, at: 1_900_000_000)
      #expect(try contents(path) == first)
    }
  }

  @Test("what is missing is made from what is there; what is another's is refused")
  func repaired() throws {
    try withPath {
      let keys = try KeyDirectory.ensure(path, at: 1_800_000_000)
      for name in ["account.jwt", "creds/sync.creds"] { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
      let again = try KeyDirectory.ensure(path, at: 1_800_000_001)
      #expect(again.accountKey == keys.accountKey)
      #expect(try Credentials.reading("\(path)/creds/sync.creds").account == keys.accountKey.publicKey)
      try Data("\(keys.operatorKey.seedText)\n".utf8).write(to: URL(fileURLWithPath: "\(path)/account.nk"))
      let error = #expect(throws: CaravanError.self) { try KeyDirectory.ensure(path, at: 1_800_000_002) }
      #expect(error?.message.contains("account.nk") == true)
    }
  }

  @Test("credentials of an older release get today's permissions, under the same key")
  func reissued() throws {
    try withPath {
      let keys = try KeyDirectory.ensure(path, at: 1_800_000_000)
      let file = "\(path)/creds/sync.creds"
      let before = try Credentials.reading(file)
      let old = try JWTClaims(
        subject: before.key.publicKey, name: "svc_sync", issuedAt: 1,
        .user(UserClaims(.explicit(Permissions(publish: .init(allow: ["old.>"])))))
      ).sign(with: keys.accountKey)
      try TextFile.writeSecret(try Credentials(jwt: old, key: before.key).rendered, to: file)
      _ = try KeyDirectory.ensure(path, at: 1_800_000_000)
      #expect(try Credentials.reading(file) == before)
    }
  }

  @Test("a revocation survives everything that is signed later")
  func revocations() throws {
    try withPath {
      let keys = try KeyDirectory.ensure(path, at: 1_800_000_000)
      let (first, second) = (try NKey.generate(.user).publicKey, try NKey.generate(.user).publicKey)
      try keys.save(account: keys.accountToken(revoking: [first], at: 1_800_000_100))
      try keys.save(account: keys.accountToken(revoking: [second], at: 1_800_000_200))
      _ = try KeyDirectory.ensure(path, at: 1_800_000_300)
      #expect(try keys.revocations() == [first: 1_800_000_100, second: 1_800_000_200])
    }
  }

  @Test("nats-server takes the configuration of a container, before and after a revocation")
  func containerConfiguration() async throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let said = Collector()
    let command = [
      "keys", "init", "--dir", path, "--tls-name", "nats", "--tls-name", "127.0.0.1", "--nats-data", "\(path)/data",
      "--owner", "\(getuid())",
    ]
    let terminal = Terminal(host: .live()) { said.add($0) }
    #expect(await Caravan.run(command, environment: [:], terminal) == 0)
    let first = try contents(path)
    for name in ["ca", "nats-cert", "nats-key", "http-cert", "http-key"] { #expect(first["tls/\(name).pem"] != nil) }
    #expect(await Caravan.run(command, environment: [:], terminal) == 0)
    #expect(try contents(path) == first)
    #expect(said.lines == ["keys made in \(path)", "keys in \(path) are complete"])
    let keys = try KeyDirectory.open(path)
    let before = try test(configuration: "\(path)/nats.conf")
    #expect(before.status == 0, "\(before.output)")
    try keys.save(account: keys.accountToken(revoking: [NKey.generate(.user).publicKey], at: 1_800_000_000))
    #expect(try contents(path)["nats.conf"] != first["nats.conf"])
    #expect(try test(configuration: "\(path)/nats.conf").status == 0)
  }

  /// `nats-server -t`, with the certificates where they are here.
  private func test(configuration file: String) throws -> (status: Int32, output: String) {
    let text = try String(contentsOfFile: file, encoding: .utf8)
      .replacingOccurrences(of: "/run/secrets/nats-", with: "\(path)/tls/nats-")
    let copy = "\(path)-checked.conf"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try text.write(toFile: copy, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: NATSServerProcess.program)
    process.arguments = ["-t", "-c", copy]
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: said, as: UTF8.self))
  }
}
