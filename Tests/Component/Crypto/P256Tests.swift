import CaravanCrypto
import CaravanEncoding
import Testing

@Suite("P-256, AES-128-GCM and HKDF") struct P256Tests {
  @Test("P-256: a signature holds for its message and key alone, and secrets agree both ways")
  func keys() throws {
    let (key, other) = (try P256PrivateKey.generate(), try P256PrivateKey.generate())
    let signature = try key.sign([1, 2, 3])
    #expect(signature.count == 64 && key.publicKey.verify(signature, over: [1, 2, 3]))
    #expect(!key.publicKey.verify(signature, over: [1, 2, 4]))
    #expect(!other.publicKey.verify(signature, over: [1, 2, 3]))
    for index in [0, 31, 32, 63] {
      var changed = signature
      changed[index] ^= 1
      #expect(!key.publicKey.verify(changed, over: [1, 2, 3]))
    }
    #expect(!key.publicKey.verify(Array(signature.dropLast()), over: [1, 2, 3]))
    #expect(!key.publicKey.verify([UInt8](repeating: 0, count: 64), over: [1, 2, 3]))
    #expect(try key.sharedSecret(with: other.publicKey) == other.sharedSecret(with: key.publicKey))
    #expect(try P256PrivateKey(key.bytes) == key)
  }

  @Test("P-256: the point of a number, and the secret of two (RFC 5903 §8.1)")
  func vector() throws {
    let one = try P256PrivateKey(Hex.decode("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433"))
    let two = try P256PrivateKey(Hex.decode("c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53"))
    #expect(
      Hex.encode(one.publicKey.bytes)
        == "04dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c37725811805271a0461cdb8252d61f1c45"
        + "6fa3e59ab1f45b33acc"
        + "f5f58389e0577b8990bb3")
    #expect(
      try Hex.encode(one.sharedSecret(with: two.publicKey))
        == "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de")
  }

  @Test("P-256: what is no number or point of the curve is refused")
  func malformed() throws {
    let point = try P256PrivateKey.generate().publicKey.bytes
    var off = point
    off[64] ^= 1
    for bytes in [off, Array(point.dropLast()), [2] + point.dropFirst(), [UInt8](repeating: 0, count: 65), []] {
      #expect(throws: CryptoError.self) { try P256PublicKey(bytes) }
    }
    let order = try Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    for bytes in [[], [UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 255, count: 32), [1]] {
      #expect(throws: CryptoError.self) { try P256PrivateKey(bytes) }
    }
  }

  @Test("AES-128-GCM: test case 3 of its specification; what was changed does not open")
  func cipher() throws {
    let key = try Hex.decode("feffe9928665731c6d6a8f9467308308")
    let nonce = try Hex.decode("cafebabefacedbaddecaf888")
    let text = try Hex.decode(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657"
        + "ba637b391aafd255")
    let sealed = try AES128GCM.seal(text, key: key, nonce: nonce)
    #expect(
      Hex.encode(sealed)
        == "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac"
        + "84aa051ba30b396a0aac97"
        + "3d58e091473f59854d5c2af327cd64a62cf35abd2ba6fab4")
    #expect(try AES128GCM.open(sealed, key: key, nonce: nonce) == text)
    for index in [0, sealed.count - 1] {
      var changed = sealed
      changed[index] ^= 1
      #expect(try AES128GCM.open(changed, key: key, nonce: nonce) == nil)
    }
    #expect(try AES128GCM.open(Array(sealed.prefix(15)), key: key, nonce: nonce) == nil)
    #expect(try AES128GCM.open(AES128GCM.seal([], key: key, nonce: nonce), key: key, nonce: nonce) == [])
    #expect(throws: CryptoError.self) { try AES128GCM.seal(text, key: [1], nonce: nonce) }
  }

  @Test("HKDF: test case 1 of RFC 5869, up to one block")
  func derivation() throws {
    let key = HKDFSHA256.derive(
      secret: [UInt8](repeating: 0x0b, count: 22), salt: try Hex.decode("000102030405060708090a0b0c"),
      info: try Hex.decode("f0f1f2f3f4f5f6f7f8f9"), count: 32)
    #expect(Hex.encode(key) == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf")
  }
}
