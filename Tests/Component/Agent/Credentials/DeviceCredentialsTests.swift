import CaravanAgentSync
import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a device whose credentials are from before enrolments had numbers has them renewed by itself, once. Method: a
/// cloud that signs, on the bus in memory.
@Suite struct DeviceCredentialsTests {
  private static let host = Host.live(logLevel: .error)

  private struct Signer {
    let account: NKey
    let scope: NKey
    let key: NKey

    init() throws {
      (account, scope, key) = (try .generate(.account), try .generate(.account), try .generate(.user))
    }

    func sign(_ name: String, at seconds: Int64, for key: NKey? = nil) throws -> JWT {
      try JWTClaims(
        subject: (key ?? self.key).publicKey, name: name, issuedAt: seconds,
        .user(UserClaims(.scoped, issuerAccount: account.publicKey, tags: ["user:ada"]))
      ).sign(with: scope)
    }
  }

  /// Connects a device with old credentials whose renewal is answered with `answer`.
  /// - Returns: the names that it connected with.
  private func connect(
    _ signer: Signer, in directory: String, answer: JWT?
  ) async throws -> (names: [String], current: String) {
    let old = try Credentials(jwt: signer.sign("laptop", at: 5), key: signer.key)
    let hub = InProcessHub(clock: Self.host.clock, random: SeededRandom(seed: 1))
    let cloud = hub.connect(as: "cloud")
    let renew = Endpoint("renew", .everyRenewal, group: nil, maxInFlight: 1) { incoming throws(CaravanError) in
      guard let answer, incoming.subject.text == "edge.ada.laptop.renew" else {
        throw CaravanError(.notAuthenticated, "not enrolled")
      }
      return RenewedCredentials(jwt: answer.text).encoded()
    }
    let service = ServiceHost(
      name: "caravan-gateway", version: "1.0.0", bus: cloud, host: Self.host, endpoints: [renew])
    let own = DeviceCredentials(directory: directory, host: Self.host) { old }
    let names = Mutex<[String]>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await service.run() }
      defer { service.shutDown() }
      try await eventually("served") { service.isServing(.everyRenewal) }
      _ = try await own.connect { (credentials) throws(CaravanError) in
        names.withLock { $0.append(credentials.jwt.claims.name) }
        return hub.connect(as: "laptop")
      }
    }
    return (names.withLock { $0 }, own.current.jwt.claims.name)
  }

  @Test("TRU-01: old credentials are renewed before the device speaks, and kept over a restart")
  func renews() async throws {
    try await withTemporaryDirectory { directory in
      let signer = try Signer()
      let first = try await connect(signer, in: directory, answer: signer.sign("laptop_1", at: 9))
      #expect(first.names == ["laptop", "laptop_1"] && first.current == "laptop_1")
      let second = try await connect(signer, in: directory, answer: nil)
      #expect(second.names == ["laptop_1"], "nobody is asked again")
    }
  }

  @Test("TRU-01: what is not this device's is not taken, and the old credentials stay")
  func foreign() async throws {
    try await withTemporaryDirectory { directory in
      let signer = try Signer()
      let answers = [
        try signer.sign("tablet_1", at: 9), try signer.sign("laptop_2", at: 9), try signer.sign("laptop", at: 9),
        try signer.sign("laptop_1", at: 9, for: .generate(.user)),
      ]
      for answer in answers {
        await #expect(throws: CaravanError.self) { try await connect(signer, in: directory, answer: answer) }
      }
      let refused = await #expect(throws: CaravanError.self) {
        try await connect(signer, in: directory, answer: nil)
      }
      #expect(refused?.code == .notAuthenticated)
    }
  }
}
