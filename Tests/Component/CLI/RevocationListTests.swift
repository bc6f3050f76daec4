import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanCLIDriver

/// Goal: the list of revoked keys, which travels whole, stays short, and nobody comes back by being forgotten (TRU-09).
/// Method: weeks of revocations in values, and the token that the broker would get.
@Suite struct RevocationListTests {
  private static let day: Int64 = 86_400

  private static func key() throws -> PublicNKey { try NKey.generate(.user).publicKey }

  @Test(
    "TRU-09: a key is forgotten when its last credentials are over, and one whose credentials never end is not")
  func forgets() throws {
    let (ending, lasting, later) = (try Self.key(), try Self.key(), try Self.key())
    var list = RevocationList()
    try list.revoke([ending], isEnding: true, at: 0)
    try list.revoke([lasting], isEnding: false, at: 0)
    try list.revoke([later], isEnding: true, at: 8 * Self.day)
    #expect(Set(list.times.keys) == [ending, lasting, later], "the last credentials may be a week younger than that")
    try list.revoke([], isEnding: true, at: 8 * Self.day + 1)
    #expect(Set(list.times.keys) == [lasting, later] && list.ending == [later])
    // Revoked again, by somebody who knows less.
    try list.revoke([later], isEnding: false, at: 9 * Self.day)
    try list.revoke([], isEnding: true, at: 90 * Self.day)
    #expect(Set(list.times.keys) == [lasting, later])
  }

  @Test(
    "TRU-09: of 100,000 revocations in ten weeks an eighth is told at a time; more than can be are refused"
  )
  func hundredThousand() throws {
    var (list, most) = (RevocationList(), 0)
    let perDay = 100_000 / 70
    var number: UInt64 = 0
    func some(_ count: Int) throws -> [PublicNKey] {
      try (0..<count).map { _ in
        number += 1
        let bytes = withUnsafeBytes(of: number.bigEndian) { [UInt8](repeating: 7, count: 24) + $0 }
        return PublicNKey(.user, try Ed25519PublicKey(bytes))
      }
    }
    for day in 0..<70 as Range<Int64> {
      try list.revoke(some(perDay), isEnding: true, at: day * Self.day)
      most = max(most, list.times.count)
    }
    #expect(most <= 9 * perDay)
    let account = try NKey.generate(.account)
    let signer = try NKey.generate(.operator)
    func token(_ list: RevocationList) throws -> Int {
      let claims = AccountClaims(revocations: list.times)
      return try JWTClaims(subject: account.publicKey, name: "caravan", issuedAt: 0, .account(claims))
        .sign(with: signer).text.utf8.count
    }
    let bytes = try token(list)
    #expect(bytes < Limits.messageBytes / 2, "\(bytes) bytes for \(list.times.count) keys")

    var full = RevocationList()
    try full.revoke(some(RevocationList.most), isEnding: true, at: 0)
    #expect(try token(full) < Limits.messageBytes)
    let refusal = #expect(throws: CaravanError.self) {
      var more = full
      try more.revoke(some(1), isEnding: true, at: Self.day)
    }
    #expect(refusal?.code == .limitExceeded)
    try full.revoke(some(1), isEnding: true, at: 9 * Self.day)
    #expect(full.times.count == 1)
  }

  @Test("TRU-09: what ends survives a restart of whoever revokes")
  func kept() async throws {
    try await withTemporaryDirectory { path in
      let keys = try KeyDirectory.ensure("\(path)/keys", at: 1_800_000_000)
      let (ending, lasting) = (try Self.key(), try Self.key())
      var list = try keys.revocationList()
      try list.revoke([ending], isEnding: true, at: 1_800_000_000)
      try list.revoke([lasting], isEnding: false, at: 1_800_000_000)
      try keys.save(account: keys.accountToken(list, at: 1_800_000_000), list)
      #expect(try KeyDirectory.open("\(path)/keys").revocationList() == list)
      var later = try KeyDirectory.open("\(path)/keys").revocationList()
      try later.revoke([], isEnding: true, at: 1_800_000_000 + 9 * Self.day)
      try keys.save(account: keys.accountToken(later, at: 1_800_800_000), later)
      #expect(try KeyDirectory.open("\(path)/keys").revocationList().times.keys.map(\.self) == [lasting])
    }
  }
}
