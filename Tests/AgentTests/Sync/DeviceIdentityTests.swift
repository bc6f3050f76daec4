import AgentDriver
import Crypto
import Model
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
    let identity = try DeviceIdentity(credentials(tags: ["user:ada"]))
    #expect(identity == DeviceIdentity(user: try UserID("ada"), device: try DeviceID("laptop")))
  }

  @Test("A token without a user is no device's; a user's name that is no name is refused")
  func refused() throws {
    let without = #expect(throws: CaravanError.self) { try DeviceIdentity(credentials(tags: ["role:sync"])) }
    #expect(without?.code == .notAuthenticated)
    let malformed = #expect(throws: CaravanError.self) { try DeviceIdentity(credentials(tags: ["user:-"])) }
    #expect(malformed?.code == .invalidData)
  }
}
