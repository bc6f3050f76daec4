import CaravanAgentCore
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: NetworkManager's word on what bytes cost is heard. Method: a bus made by hand, as the D-Bus specification
/// describes it, whose bytes come in pieces; and noise.
@Suite struct MeteringDialogueTests {
  private static func padded(_ bytes: [UInt8], to boundary: Int) -> [UInt8] {
    bytes + [UInt8](repeating: 0, count: -bytes.count & (boundary - 1))
  }

  private static func number(_ value: UInt32) -> [UInt8] {
    [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func message(_ kind: UInt8, replyTo serial: UInt32?, member: String? = nil, _ body: [UInt8]) -> [UInt8]
  {
    var fields: [UInt8] = []
    if let serial { fields += [5, 1, UInt8(ascii: "u"), 0] + number(serial) }
    fields += [7, 1, UInt8(ascii: "s"), 0] + number(4) + Array(":1.7".utf8) + [0]
    if let member {
      fields =
        padded(fields, to: 8) + [3, 1, UInt8(ascii: "s"), 0] + number(UInt32(member.utf8.count))
        + Array(member.utf8) + [0]
    }
    let header =
      [UInt8(ascii: "l"), kind, 0, 1] + number(UInt32(body.count)) + number(99) + number(UInt32(fields.count))
    return padded(header + fields, to: 8) + body
  }

  private static func variant(_ value: UInt32) -> [UInt8] { [1, UInt8(ascii: "u"), 0, 0] + number(value) }
  private static let welcome = Array("OK 1234deadbeef\r\n".utf8)
  private static let changed = message(4, replyTo: nil, member: "PropertiesChanged", [])

  /// Calls in what was said after BEGIN.
  private static func calls(_ bytes: [UInt8]) throws -> [DBusMessage] {
    var rest = bytes
    if rest.starts(with: Array("BEGIN\r\n".utf8)) { rest.removeFirst(7) }
    var calls: [DBusMessage] = []
    while let call = try DBusMessage.take(from: &rest) { calls.append(call) }
    #expect(rest.isEmpty)
    return calls
  }

  @Test("MOB-44: metered and guessed to be metered are metered; who does not know does not say")
  func meanings() throws {
    #expect(MeteringDialogue.opening(user: 1000) == [0] + Array("AUTH EXTERNAL 31303030\r\n".utf8))
    for (number, meaning) in [(0, nil), (1, true), (2, false), (3, true), (4, false), (9, nil)] as [(UInt32, Bool?)] {
      var dialogue = MeteringDialogue()
      var said: [UInt8] = []
      for byte in Self.welcome { said += try dialogue.receive([byte]) }
      let calls = try Self.calls(said)
      #expect(calls.map(\.member) == ["Hello", "AddMatch", "AddMatch", "Get"])
      let question = try #require(calls.last).serial
      for byte in Self.message(2, replyTo: question, Self.variant(number)) {
        #expect(try dialogue.receive([byte]) == [])
      }
      #expect(dialogue.isMetered == meaning)
    }
  }

  @Test("MOB-24: every change is asked about; changes during a question are one more question")
  func changes() throws {
    var dialogue = MeteringDialogue()
    let first = try #require(try Self.calls(dialogue.receive(Self.welcome)).last).serial
    #expect(try dialogue.receive(Self.changed + Self.changed) == [])
    let second = try Self.calls(dialogue.receive(Self.message(2, replyTo: first, Self.variant(1))))
    #expect(second.map(\.member) == ["Get"])
    #expect(dialogue.isMetered == true)
    #expect(try dialogue.receive(Self.message(2, replyTo: second[0].serial, Self.variant(1))) == [])
    let third = try Self.calls(dialogue.receive(Self.changed))
    #expect(third.map(\.member) == ["Get"])
    // It has gone.
    _ = try dialogue.receive(Self.message(3, replyTo: third[0].serial, []))
    #expect(dialogue.isMetered == nil)
  }

  @Test("Who does not let us in, or speaks something else, is hung up on; noise is survived")
  func noise() throws {
    var dialogue = MeteringDialogue()
    #expect(throws: DBusMessage.Malformed.self) { try dialogue.receive(Array("REJECTED EXTERNAL\r\n".utf8)) }
    let dice = SeededRandom(seed: 3)
    let good = Self.welcome + Self.message(2, replyTo: 4, Self.variant(1)) + Self.changed
    for _ in 0..<5_000 {
      var bytes = Array(good.prefix(Int(dice.below(UInt64(good.count + 1)))))
      for _ in 0..<1 + dice.below(4) where !bytes.isEmpty {
        bytes[Int(dice.below(UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: dice.next())
      }
      var dialogue = MeteringDialogue()
      _ = try? dialogue.receive(bytes)
    }
  }
}
