import AgentDriver
import Crypto
import Model
import SQLite
import Testing

/// Goal: the agent is who its token says, or refuses to start. Method: tokens made here.
@Suite struct DeviceIdentityTests {
  private func credentials(tags: [String]) throws -> Credentials {
    let (account, scope, user) = (try NKey.generate(.account), try NKey.generate(.account), try NKey.generate(.user))
    let claims = JWTClaims(
      subject: user.publicKey, name: "laptop", issuedAt: 1,
      .user(UserClaims(.scoped, issuerAccount: account.publicKey, tags: tags)))
    return try Credentials(jwt: claims.sign(with: scope), key: user)
  }

  @Test("UNI-20: the token's name is the device, its tag the user")
  func device() throws {
    let credentials = try credentials(tags: ["user:ada"])
    let (ada, laptop) = (try UserID("ada"), try DeviceID("laptop"))
    #expect(
      try DeviceIdentity(credentials)
        == DeviceIdentity(user: ada, device: laptop, credentials: credentials.digest))
    #expect(credentials.digest.utf8.count == 32)
    #expect(try self.credentials(tags: ["user:ada"]).digest != credentials.digest)
  }

  @Test("A token without a user is no device's; a user's name that is no name is refused")
  func refused() throws {
    let without = #expect(throws: CaravanError.self) { try DeviceIdentity(credentials(tags: ["role:sync"])) }
    #expect(without?.code == .notAuthenticated)
    let malformed = #expect(throws: CaravanError.self) { try DeviceIdentity(credentials(tags: ["user:-"])) }
    #expect(malformed?.code == .invalidData)
  }

  @Test("UNI-20: a store is the user's whose device opened it first; a rotten name keeps nobody out")
  func store() async throws {
    let (ada, bob) = (try UserID("ada"), try UserID("bob"))
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
