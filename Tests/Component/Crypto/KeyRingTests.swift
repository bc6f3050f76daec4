import CaravanCrypto
import Testing

/// Goal: a ring opens what its keys sealed, and nothing else (TRU-09). Method: values, and texts of its file.
@Suite struct KeyRingTests {
  private let message = Array("a message".utf8)

  private func key(_ number: UInt8) throws -> TicketKey {
    try TicketKey([UInt8](repeating: number, count: TicketKey.byteCount))
  }

  @Test("TRU-09: the first key seals, all open, and the key with which a deployment began as before rings")
  func opens() throws {
    let before = try key(1)
    let old = before.mac(over: message)
    let added = try KeyRing(before).adding(try key(2), at: 100)
    #expect(added.mac(over: message) == old, "the new key does not seal yet")
    let pending = try #require(added.pending)
    let ring = try #require(added.sealing(with: pending.id, at: 200))
    #expect(ring.mac(over: message) != old && ring.pending == nil)
    #expect(added.verify(ring.mac(over: message), over: message), "whoever has not heard of the second step opens it")
    #expect(ring.verify(old, over: message))
    #expect(try ring.mac(over: message) != key(2).mac(over: message), "the MAC covers the key's id")
    #expect(try !ring.verify(key(2).mac(over: message), over: message))
    #expect(try !ring.verify(key(3).mac(over: message), over: message))
    #expect(ring.sealing(with: "00000000", at: 300) == nil)
  }

  @Test("TRU-09: every bit of a MAC and of its message counts, whichever key made it")
  func tampered() throws {
    let ring = try KeyRing([.init(key(2), added: 9), .init(key(1), ended: 9), .init(key(3), added: 5, ended: 7)])
    let macs = try ring.members.map { try KeyRing([$0]).mac(over: message) }
    for mac in macs {
      #expect(ring.verify(mac, over: message))
      for bit in 0..<(mac.count * 8) {
        var forged = mac
        forged[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(!ring.verify(forged, over: message))
      }
      #expect(!ring.verify(mac, over: message + [0]) && !ring.verify(Array(mac.dropLast()), over: message))
      #expect(!ring.verify([], over: message))
    }
  }

  @Test("TRU-09: a ring has one key at least, eight at most, and none twice")
  func bounds() throws {
    #expect(throws: CryptoError.self) { try KeyRing([]) }
    let full = try KeyRing((1...8).map { .init(try key($0), added: Int64($0)) })
    #expect(full.members.count == KeyRing.most)
    #expect(throws: CryptoError.self) { try full.adding(key(9), at: 9) }
    #expect(throws: CryptoError.self) { try KeyRing(key(1)).adding(key(1), at: 9) }
    let text = full.fileText + String(repeating: "0a", count: 32) + "\n"
    #expect(throws: CryptoError.self) { try KeyRing(parsing: text) }
  }

  @Test("TRU-09: keys retire by when another took their place; the one that seals and the next one stay")
  func retirement() throws {
    let ring = try KeyRing([
      .init(key(1), added: 5), .init(key(2), added: 4, ended: 10), .init(key(3), ended: 9), .init(key(4), added: 11),
    ])
    #expect(ring.retiring(endedBy: 8) == ring)
    #expect(try ring.retiring(endedBy: 9).members.map(\.key) == [key(1), key(2), key(4)])
    #expect(try ring.retiring(endedBy: .max).members.map(\.key) == [key(1), key(4)])
  }

  @Test("TRU-09: who distrusts the key that seals gets another at once; the others stay, and no id is unknown")
  func distrust() throws {
    let ring = try KeyRing([.init(key(1), added: 5), .init(key(2), ended: 5)])
    let ids = ring.members.map(\.id)
    let changed = try ring.distrusting([ids[0]], for: key(3), at: 9)
    #expect(try changed.members.map(\.key) == [key(3), key(2)])
    #expect(!changed.verify(ring.mac(over: message), over: message))
    #expect(try ring.distrusting([ids[1]], for: key(3), at: 9).members.map(\.key) == [key(1)])
    #expect(try ring.distrusting(Set(ids), for: key(3), at: 9).members.map(\.key) == [key(3)])
    #expect(try ring.distrusting(["00000000"], for: key(3), at: 9) == ring)
  }

  @Test("TRU-09: a file of before is a ring of one; a ring comes back from its file; comments are passed over")
  func file() throws {
    let old = String(repeating: "07", count: 32)
    for text in [old, old + "\n", old + "\r\n", "\n# mine\n \(old)  # a note\n\n"] {
      #expect(try KeyRing(parsing: text) == KeyRing(key(7)))
    }
    #expect(try KeyRing(key(7)).fileText == old + "\n", "as releases before rings read it")
    let ring = try KeyRing([.init(key(2), added: 9), .init(key(7), ended: 9), .init(key(3), added: 5, ended: 7)])
    #expect(try KeyRing(parsing: ring.fileText) == ring)
    let alone = try KeyRing([.init(key(2), added: 9)])
    #expect(try KeyRing(parsing: alone.fileText) == alone)
  }

  @Test(
    "TRU-09: a file that is none is refused, by its line and without what it holds",
    arguments: [
      "", "# nothing\n", "0707", "zz", "07 07", "KEY # added=x", "KEY # added=-1", "KEY # ended=", "KEY\nKEY",
    ])
  func badFile(text: String) throws {
    let secret = String(repeating: "07", count: 32)
    let error = #expect(throws: CryptoError.self) {
      try KeyRing(parsing: text.replacing("KEY", with: secret))
    }
    #expect(error?.message.contains("0707") == false)
    #expect(try !"\(KeyRing(key(7)))".contains("0707"))
  }
}
