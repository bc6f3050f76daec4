import CaravanCrypto
import CaravanEncoding
import Testing

@Suite("Keys")
struct KeyTests {
  static let rfc8032 = [
    (
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    ),
    (
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    ),
    (
      "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    ),
  ]

  @Test("Ed25519: RFC 8032 §7.1 tests 1 to 3; a changed message, signature or key is refused", arguments: rfc8032)
  func ed25519(seed: String, publicKey: String, message: String, signature: String) throws {
    let key = try Ed25519PrivateKey(seed: Hex.decode(seed))
    let message = try Hex.decode(message)
    #expect(key.publicKey.description == publicKey)
    let signed = try key.sign(message)
    #expect(Hex.encode(signed) == signature)
    #expect(key.publicKey.verify(signed, over: message))
    #expect(!key.publicKey.verify(signed, over: message + [0]))
    #expect(!key.publicKey.verify(signed.map { $0 ^ 1 }, over: message))
    #expect(!key.publicKey.verify(Array(signed.dropLast()), over: message))
    #expect(try !Ed25519PrivateKey.generate().publicKey.verify(signed, over: message))
  }

  @Test("Ed25519 keys of the wrong size are refused")
  func sizes() {
    #expect(throws: CryptoError.self) { try Ed25519PrivateKey(seed: [1]) }
    #expect(throws: CryptoError.self) { try Ed25519PublicKey(Array(repeating: 0, count: 33)) }
  }

  /// Made with the nkeys package for Python from seed bytes 0…31; the last pair is the one in the NATS manual.
  static let nkeys: [(NKeyKind, seed: String, publicKey: String)] = [
    (
      .operator, "SOAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H2AJA",
      "OAB2CB576PHBBPQ5ODORRZ2LYCMWPZGWGCN2KDK7DXOIMZASKUY3QZVT"
    ),
    (
      .account, "SAAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4HYMHI",
      "AAB2CB576PHBBPQ5ODORRZ2LYCMWPZGWGCN2KDK7DXOIMZASKUY3QPZV"
    ),
    (
      .user, "SUAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H776Y",
      "UAB2CB576PHBBPQ5ODORRZ2LYCMWPZGWGCN2KDK7DXOIMZASKUY3RLKK"
    ),
    (
      .user, "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY",
      "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
    ),
  ]

  @Test("nkeys: known seeds and public keys, both ways", arguments: nkeys)
  func nkey(kind: NKeyKind, seed: String, publicKey: String) throws {
    let key = try NKey(seed: seed)
    #expect(key.kind == kind)
    #expect(key.seedText == seed)
    #expect(key.publicKey.text == publicKey)
    #expect(try PublicNKey(publicKey, kind: kind) == key.publicKey)
    #expect(key.publicKey.verify(try key.sign([1, 2, 3]), over: [1, 2, 3]))
  }

  @Test(
    "A generated nkey survives its text and starts with its letter", arguments: zip(NKeyKind.allCases, ["O", "A", "U"]))
  func generated(kind: NKeyKind, letter: String) throws {
    let key = try NKey.generate(kind)
    #expect(try NKey(seed: key.seedText) == key)
    #expect(key.seedText.hasPrefix("S\(letter)"))
    #expect(key.publicKey.text.hasPrefix(letter))
    #expect(!"\(key)".contains(key.seedText))
  }

  @Test("Any one changed character of a seed or a public key is refused")
  func typos() throws {
    let (_, seed, publicKey) = Self.nkeys[3]
    for index in seed.indices {
      let typo = seed.replacingCharacter(at: index, with: seed[index] == "B" ? "C" : "B")
      #expect(throws: CryptoError.self) { try NKey(seed: typo) }
    }
    for index in publicKey.indices {
      let typo = publicKey.replacingCharacter(at: index, with: publicKey[index] == "B" ? "C" : "B")
      #expect(throws: CryptoError.self) { try PublicNKey(typo) }
    }
  }

  @Test("A public key is no seed, a seed no public key, an account no user, an unknown kind nothing")
  func mixedUp() throws {
    let (_, seed, publicKey) = Self.nkeys[1]
    #expect(throws: CryptoError.self) { try NKey(seed: publicKey) }
    #expect(throws: CryptoError.self) { try PublicNKey(seed) }
    #expect(throws: CryptoError.self) { try PublicNKey(publicKey, kind: .user) }
    #expect(throws: CryptoError.self) { try NKey(seed: "") }
    // A server's public key: prefix byte 13 << 3.
    let server = [UInt8(13 << 3)] + [UInt8](repeating: 7, count: 32)
    let crc = CRC16.xmodem(server)
    let text = Base32.encode(server + [UInt8(crc & 0xFF), UInt8(crc >> 8)])
    #expect(text.hasPrefix("N"))
    #expect(throws: CryptoError.self) { try PublicNKey(text) }
  }
}

extension String {
  func replacingCharacter(at index: Index, with character: Character) -> String {
    var copy = self
    copy.replaceSubrange(index...index, with: String(character))
    return copy
  }
}
