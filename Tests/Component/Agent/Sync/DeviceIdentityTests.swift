import CaravanAgentStore
import CaravanAgentSync
import CaravanCrypto
import CaravanModel
import CaravanSQLite
import CaravanTestKit
import Testing

/// Goal: the agent is who its token says, or refuses to start. Method: tokens made here.
@Suite struct DeviceIdentityTests {
  private func credentials(_ name: String = "laptop_3", tags: [String]) throws -> Credentials {
    let (account, scope, user) = (try NKey.generate(.account), try NKey.generate(.account), try NKey.generate(.user))
    let claims = JWTClaims(
      subject: user.publicKey, name: name, issuedAt: 1,
      .user(UserClaims(.scoped, issuerAccount: account.publicKey, tags: tags)))
    return try Credentials(jwt: claims.sign(with: scope), key: user)
  }

  @Test("UNI-20: the token's name is the device, its tag the user")
  func device() throws {
    let credentials = try credentials(tags: ["user:ada"])
    let laptop = EnrolledDevice(
      user: try UserID("ada"), device: try DeviceID("laptop"), enrolment: 3, environment: .development)
    #expect(try DeviceIdentity(credentials) == DeviceIdentity(device: laptop, credentials: credentials.digest))
    let old = try DeviceIdentity(self.credentials("laptop", tags: ["user:ada"]))
    #expect(
      old.device == EnrolledDevice(user: laptop.user, device: laptop.device, enrolment: 1, environment: .development)
        && old.isUnnumbered)
    #expect(credentials.digest.utf8.count == 32)
    #expect(try self.credentials(tags: ["user:ada"]).digest != credentials.digest)
  }

  @Test("A token without a user is no device's; a user's name that is no name is refused")
  func refused() throws {
    let (account, user) = (try NKey.generate(.account), try NKey.generate(.user))
    let claims = JWTClaims(
      subject: user.publicKey, name: "svc_sync", issuedAt: 1, .user(UserClaims(.explicit(Permissions()))))
    let service = try Credentials(jwt: claims.sign(with: account), key: user)
    let without = #expect(throws: CaravanError.self) { try DeviceIdentity(service) }
    #expect(without?.code == .notAuthenticated)
    let malformed = #expect(throws: CaravanError.self) { try DeviceIdentity(credentials(tags: ["user:-"])) }
    #expect(malformed?.code == .invalidData)
  }

  @Test("TRU-04: a store is of one environment; one from before devices had one is development's")
  func environment() async throws {
    let (tried, used) = (EnrolledDevice("ada", "laptop"), EnrolledDevice("ada", "laptop", in: .production))
    try await StoreFixture.with { f in
      try await f.store.belong(to: tried)
      try await f.crash()
      let error = await #expect(throws: CaravanError.self) { try await f.store.belong(to: used) }
      #expect(error?.code == .notAuthenticated && error?.message.contains("ada/production") == true)
      try await f.store.belong(to: tried)
    }
    try await StoreFixture.with { f in
      try await f.store.belong(to: used)
      try await f.crash()
      await #expect(throws: CaravanError.self) { try await f.store.belong(to: tried) }
      try await f.store.belong(to: used)
    }
  }

  @Test("UNI-20: a store is the user's whose device opened it first; a rotten name keeps nobody out")
  func store() async throws {
    let (ada, bob) = (EnrolledDevice("ada", "laptop"), EnrolledDevice("bob", "laptop"))
    try await StoreFixture.with { f in
      try await f.store.belong(to: ada)
      try await f.crash()
      let error = await #expect(throws: CaravanError.self) { try await f.store.belong(to: bob) }
      #expect(error?.code == .notAuthenticated && error?.message.contains("user 'ada'") == true)
      try await f.store.belong(to: ada)
      try await f.crash { directory in
        let database = try Connection(.file("\(directory)/agent.db"))
        defer { database.close() }
        try database.run("UPDATE meta SET value = CAST(replace(value, 'ada', 'adb') AS BLOB) WHERE key = 'user'")
      }
      try await f.store.belong(to: ada)
      await #expect(throws: CaravanError.self) { try await f.store.belong(to: bob) }
    }
  }
}
