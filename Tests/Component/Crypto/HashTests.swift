import CaravanCrypto
import CaravanEncoding
import Testing

@Suite("Hashes and MACs")
struct HashTests {
  static let vectors = [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
  ]

  @Test("SHA-256: FIPS 180-4 vectors, whichever way the bytes come in", arguments: vectors)
  func sha256(text: String, digest: String) {
    let bytes = Array(text.utf8)
    #expect(SHA256.hash(bytes).description == digest)
    #expect(SHA256.hash(bytes[...]).description == digest)
    #expect(SHA256.hash(bytes.span).description == digest)
    #expect(SHA256.hash(bytes.span.bytes).description == digest)
    #expect(bytes.withUnsafeBytes { SHA256.hash($0) }.description == digest)
    var hasher = SHA256()
    for start in stride(from: 0, to: bytes.count, by: 997) {
      hasher.update(bytes[start..<min(start + 997, bytes.count)])
    }
    #expect(hasher.finalize().description == digest)
  }

  @Test("A digest is its bytes: both ways, in order, 32 of them")
  func digest() throws {
    let bytes = (0..<32).map { UInt8($0) }
    let digest = try SHA256Digest(bytes)
    #expect(digest.bytes == bytes)
    #expect(digest.words.0 == 0x0001_0203_0405_0607)
    #expect(try SHA256Digest(hex: digest.description) == digest)
    var later = bytes
    later[31] += 1
    #expect(try digest < SHA256Digest(later))
    #expect(throws: EncodingError.self) { try SHA256Digest(bytes.dropLast()) }
    #expect(throws: EncodingError.self) { try SHA256Digest(bytes + [0]) }
  }

  static let macs: [(key: [UInt8], message: [UInt8], mac: String)] = [
    (
      Array(repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      Array(repeating: 0xAA, count: 20), Array(repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      Array(repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ]

  @Test("HMAC-SHA256: RFC 4231 cases 1, 2, 3 and 6", arguments: macs)
  func hmac(key: [UInt8], message: [UInt8], mac: String) {
    #expect(HMACSHA256.authenticate(message, key: key).description == mac)
  }

  @Test("A ticket MAC is the left half of the HMAC; any changed bit, cut or other key is refused")
  func ticket() throws {
    let key = try TicketKey(Array(repeating: 0x0C, count: 32))
    let message = Array("Test With Truncation".utf8)
    let mac = key.mac(over: message)
    #expect(mac == Array(HMACSHA256.authenticate(message, key: key.bytes).bytes[..<16]))
    #expect(key.verify(mac, over: message))
    for bit in 0..<128 {
      var forged = mac
      forged[bit / 8] ^= 1 << (bit % 8)
      #expect(!key.verify(forged, over: message))
    }
    #expect(!key.verify(Array(mac.dropLast()), over: message))
    #expect(!key.verify([], over: message))
    #expect(!key.verify(mac, over: message + [0]))
    #expect(try !TicketKey.generate().verify(mac, over: message))
    #expect(throws: CryptoError.self) { try TicketKey([1, 2, 3]) }
    #expect(!"\(key)".contains("12"))
  }

  @Test("Constant-time equality agrees with equality")
  func constantTime() {
    #expect(constantTimeEqual([], []))
    #expect(constantTimeEqual([1, 2], [1, 2]))
    #expect(!constantTimeEqual([1, 2], [1, 3]))
    #expect(!constantTimeEqual([1, 2], [1, 2, 3]))
  }

  @Test("Random bytes: as many as asked, never twice the same")
  func random() throws {
    #expect(try SecureRandom.bytes(0).isEmpty)
    #expect(try SecureRandom.bytes(33).count == 33)
    #expect(try SecureRandom.bytes(32) != SecureRandom.bytes(32))
  }
}
