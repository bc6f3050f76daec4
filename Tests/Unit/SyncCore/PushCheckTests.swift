import CaravanModel
import CaravanRuntime
import CaravanSyncCore
import CaravanTestKit
import CaravanWire
import Testing

/// What of a pushed row is refused, and with which words. The scanner is held against the generated decoder.
@Suite struct PushCheckTests {
  private let type = CaravanModel.RecordType(
    id: 1, definition: 1, name: "album",
    fields: [
      CaravanModel.FieldDefinition(id: 1, name: "name", kind: .text),
      CaravanModel.FieldDefinition(id: 2, name: "date", kind: .integer),
      CaravanModel.FieldDefinition(id: 3, name: "place", kind: .real),
      CaravanModel.FieldDefinition(id: 4, name: "raw", kind: .data),
      CaravanModel.FieldDefinition(id: 5, name: "photo", kind: .object),
    ])

  private static func hash(_ byte: UInt8) -> ChunkHash { ChunkHash([UInt8](repeating: byte, count: 32))! }

  private let photo = AssetManifest(parts: [
    .init(hash: hash(1), length: 100), .init(hash: hash(2), length: 7), .init(hash: hash(1), length: 100),
  ])

  private var row: RecordFields {
    RecordFields([1: .text("Zürich ü"), 2: .integer(-5), 3: .real(47.3), 4: .data([0, 255]), 5: .asset(photo)])
  }

  private func check(_ body: [UInt8]) -> CaravanError? {
    do throws(CaravanError) { _ = try PushCheck.save("r1", body: body, against: type) } catch {
      return error
    }
    return nil
  }

  private func check(_ fields: RecordFields) -> CaravanError? { check(fields.body) }

  @Test("A row of every kind passes, with an object that uses a chunk twice")
  func everyKind() { #expect(check(row) == nil) }

  @Test("Text of any length: a NUL byte or half a letter is found wherever it stands")
  func text() {
    for length in 0...20 {
      #expect(check(textRow([UInt8](repeating: 0x61, count: length))) == nil)
      for place in 0..<length {
        for wrong: UInt8 in [0, 0xc3, 0xff] {
          var text = [UInt8](repeating: 0x61, count: length)
          text[place] = wrong
          #expect(check(textRow(text))?.code == .invalidData, "\(wrong) at \(place) of \(length)")
        }
      }
    }
  }

  /// Field 1 with a text.
  private func textRow(_ text: [UInt8]) -> [UInt8] {
    [0x0a, UInt8(text.count + 4), 0x08, 1, 0x12, UInt8(text.count)] + text
  }

  @Test("Null, absent fields and the empty row pass")
  func nulls() {
    #expect(check(RecordFields([1: .null])) == nil)
    #expect(check(RecordFields()) == nil)
  }

  @Test("CK-26: a field that the type does not know passes, of a known kind and of one to come")
  func unknownField() {
    #expect(check(RecordFields([9: .text("x")])) == nil)
    // Field 1, value number 12 (varint 1), as a later release may define.
    #expect(check([0x0a, 0x04, 0x08, 0x01, 0x60, 0x01]) == nil)
    // A private extension (number 100) beside the fields.
    #expect(check(RecordFields([2: .integer(1)]).body + [0xa2, 0x06, 0x01, 0x00]) == nil)
  }

  @Test("An integer passes where a real is expected")
  func integerAsReal() { #expect(check(RecordFields([3: .integer(4)])) == nil) }

  @Test(
    "SIM-94: a wrong kind is refused with record, field, expected and actual kind",
    arguments: 1...5 as ClosedRange<UInt32>)
  func wrongKind(_ field: UInt32) throws {
    let values: [Value] = [.text("x"), .integer(1), .real(1), .data([1]), .asset(photo)]
    let expected = try #require(type.field(id: field))
    for value in values {
      let refusal = check(RecordFields([field: value]))
      let fits = (try? expected.check(value)) != nil
      #expect((refusal == nil) == fits, "\(value) in \(expected.name): \(String(describing: refusal))")
      guard let refusal else { continue }
      #expect(refusal.code == .schemaViolation)
      for word in ["'r1'", "'\(expected.name)'", expected.kind.rawValue, value.kindName] {
        #expect(refusal.message.contains(word), "\(refusal.message)")
      }
    }
  }

  @Test("SIM-36: the chunks found are those the objects name, and a list is one of them")
  func chunks() throws {
    let named = try PushCheck.save("r1", body: row.body, against: type)
    #expect(Set(try ChunkHash.list(named.chunks)) == [Self.hash(1), Self.hash(2)])
    #expect(named.lists.isEmpty)
    let large = RecordFields([1: .text("x"), 5: .assetList(Self.hash(9), size: 1 << 30)])
    let listed = try PushCheck.save("r1", body: large.body, against: type)
    #expect(try ChunkHash.list(listed.chunks) == [Self.hash(9)])
    #expect(listed.lists == [.init(hash: Self.hash(9), size: 1 << 30)])
  }

  @Test(
    "Bodies that no reader could decode are refused",
    arguments: [
      ([0x0a], "a tag without its value"), ([0x0a, 0x05, 0x08, 0x01], "a field cut short"),
      ([0x08, 0x01], "a field that is no message"), ([0x0b], "a group"), ([0x00], "field number 0"),
      ([0x0a, 0x02, 0x08, 0x00], "field id 0"), ([0x0a, 0x02, 0x08, 0x01, 0x0a, 0x02, 0x08, 0x01], "a field twice"),
      ([0x0a, 0x04, 0x08, 0x02, 0x08, 0x02], "an id twice"),
      ([0x0a, 0x07, 0x08, 0x02, 0x18, 0x02, 0x18, 0x02], "two values"),
      ([0x0a, 0x05, 0x08, 0x01, 0x12, 0x01, 0xff], "text that is not UTF-8"),
      ([0x0a, 0x05, 0x08, 0x01, 0x12, 0x01, 0x00], "text with a NUL"),
      ([0x0a, 0x04, 0x08, 0x01, 0x10, 0x01], "text as a number"),
      ([0x0a, 0x0c, 0x08] + [UInt8](repeating: 0xff, count: 10) + [0x01], "a number of 71 bits"),
    ] as [([UInt8], String)])
  func malformed(_ body: [UInt8], _ what: String) {
    #expect(check(body)?.code == .invalidData, "\(what)")
  }

  @Test("Objects whose hashes, lengths and size disagree are refused")
  func badObjects() {
    let hashes = Self.hash(1).bytes + Self.hash(2).bytes
    let good = Asset(size: 30, hashes: hashes, lengths: [10, 20])
    func check(_ change: (inout Asset) -> Void) -> ErrorCode? {
      var asset = good
      change(&asset)
      return self.check(Fields(fields: [Field(id: 5, value: .asset(asset))]).encoded())?.code
    }
    #expect(check { _ in } == nil)
    #expect(check { $0.size = 31 } == .invalidData)
    #expect(check { $0.lengths = [30] } == .invalidData)
    #expect(check { $0.lengths = [0, 30] } == .invalidData)
    #expect(check { ($0.lengths, $0.size) = ([10, 262_145], 262_155) } == .invalidData)
    #expect(check { $0.hashes.removeLast() } == .invalidData)
    #expect(check { $0.list = Self.hash(3).bytes } == .invalidData)
    #expect(check { ($0.hashes, $0.lengths, $0.list) = ([], [], [1]) } == .invalidData)
    #expect(check { ($0.hashes, $0.lengths, $0.list) = ([], [], Self.hash(3).bytes) } == nil)
  }

  @Test("An object of more chunks than allowed, and a body of more bytes, are refused as too large")
  func tooLarge() {
    let many = AssetManifest(
      parts: Array(repeating: .init(hash: Self.hash(1), length: 1), count: Limits.chunksPerObject + 1))
    #expect(check(RecordFields([5: .asset(many)]))?.code == .limitExceeded)
    #expect(check(RecordFields([4: .data([UInt8](repeating: 1, count: Limits.recordBytes))]))?.code == .limitExceeded)
  }

  @Test("Whatever damage a body takes: what the scanner lets pass, the decoder reads, and finds of the right kinds")
  func agreesWithTheDecoder() throws {
    var passed = 0
    let random = SeededRandom(seed: 7)
    let whole = row.body
    for _ in 0..<40_000 {
      var body = whole
      for _ in 0...random.below(2) { body[Int(random.below(UInt64(body.count)))] = UInt8(random.below(256)) }
      if random.below(4) == 0 { body.removeLast(Int(random.below(UInt64(body.count)))) }
      let read = try? RecordFields(body: body)
      let refusal = check(body)
      guard refusal == nil else { continue }
      passed += 1
      let fields = try #require(read, "the scanner passed what the decoder refuses: \(body)")
      try type.check(fields)
    }
    #expect(passed > 1_000, "too few damaged bodies pass for the comparison to mean anything: \(passed)")
  }

  @Test("A push is 1 to 400 records with names, each once")
  func batches() {
    func code(_ names: [String]) -> ErrorCode? {
      do throws(CaravanError) { try PushCheck.batch(names) } catch { return error.code }
      return nil
    }
    #expect(code(["a", "b"]) == nil)
    #expect(code([]) == .limitExceeded)
    #expect(code((0..<Limits.recordsPerCommit).map { "r\($0)" }) == nil)
    #expect(code((0...Limits.recordsPerCommit).map { "r\($0)" }) == .limitExceeded)
    #expect(code(["a", "b", "a"]) == .invalidData)
    #expect(code([""]) == .invalidData)
    #expect(code(["a\u{7}"]) == .invalidData)
  }
}
