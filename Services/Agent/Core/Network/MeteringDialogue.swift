/// What is said over the system's D-Bus to learn whether the link's bytes cost: NetworkManager's property `Metered`,
/// asked for again whenever it may have changed. Only bytes go in and out, so it runs without a bus.
public struct MeteringDialogue: Sendable {
  /// What NetworkManager says or guesses; nil: it does not know, or does not run.
  public private(set) var isMetered: Bool?

  private static let manager = "org.freedesktop.NetworkManager"
  private static let managerPath = "/org/freedesktop/NetworkManager"
  private static let bus = "org.freedesktop.DBus"
  private static let properties = "org.freedesktop.DBus.Properties"

  private var received: [UInt8] = []
  private var isOpen = false
  private var serial: UInt32 = 0
  /// The question that waits for its answer.
  private var asked: UInt32?
  /// Something has changed since that question.
  private var asksAgain = false

  public init() {}

  /// What the client says first (D-Bus specification, "Authentication Protocol": EXTERNAL).
  public static func opening(user: UInt32) -> [UInt8] {
    let hex = String(user).utf8.map { "3\(Character(UnicodeScalar($0)))" }.joined()
    return [0] + Array("AUTH EXTERNAL \(hex)\r\n".utf8)
  }

  /// - Returns: what is to be said to that.
  /// - Throws: when it is no D-Bus, or it does not let us in: hang up.
  public mutating func receive(_ bytes: [UInt8]) throws(DBusMessage.Malformed) -> [UInt8] {
    received += bytes
    guard received.count <= DBusMessage.maximumBytes else { throw DBusMessage.Malformed() }
    var answer: [UInt8] = []
    if !isOpen {
      guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else { return [] }
      guard received.starts(with: Array("OK ".utf8)) else { throw DBusMessage.Malformed() }
      received.removeFirst(end + 1)
      isOpen = true
      answer = begin()
    }
    while let message = try DBusMessage.take(from: &received) { answer += take(message) }
    checkInvariants()
    return answer
  }

  private func checkInvariants() {
    assert(isOpen == (serial > 0), "something was said before the bus let us in, or nothing after")
    assert(!asksAgain || asked != nil, "a question is to follow one that was answered")
    assert(received.count <= DBusMessage.maximumBytes, "\(received.count) bytes wait for the rest of a message")
  }

  /// They are numbered for ever, and a bus may make us ask as often as it likes.
  private mutating func nextSerial() -> UInt32 {
    serial = serial == .max ? 1 : serial + 1
    return serial
  }

  private mutating func begin() -> [UInt8] {
    assert(serial == 0 && asked == nil, "the dialogue has begun before")
    let calls = [
      call("Hello"),
      call(
        "AddMatch",
        "type='signal',sender='\(Self.manager)',path='\(Self.managerPath)',interface='\(Self.properties)',"
          + "member='PropertiesChanged'"),
      call("AddMatch", "type='signal',sender='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.manager)'"),
      ask(),
    ]
    return Array("BEGIN\r\n".utf8) + calls.flatMap { $0 }
  }

  private mutating func call(_ member: String, _ arguments: String...) -> [UInt8] {
    DBusMessage.call(
      nextSerial(), Self.bus, member, at: "/org/freedesktop/DBus", of: Self.bus, arguments)
  }

  private mutating func ask() -> [UInt8] {
    assert(asked == nil, "two questions wait for one answer")
    let serial = nextSerial()
    asked = serial
    asksAgain = false
    return DBusMessage.call(
      serial, Self.properties, "Get", at: Self.managerPath, of: Self.manager, [Self.manager, "Metered"])
  }

  private mutating func take(_ message: DBusMessage) -> [UInt8] {
    switch message.kind {
    case .call: return []
    case .signal:
      guard message.member == "PropertiesChanged" || message.member == "NameOwnerChanged" else { return [] }
      guard asked == nil else {
        asksAgain = true
        return []
      }
      return ask()
    case .reply, .failure:
      guard let asked, message.replySerial == asked else { return [] }
      self.asked = nil
      isMetered = message.kind == .failure ? nil : Self.meaning(of: message.variantNumber)
      return asksAgain ? ask() : []
    }
  }

  /// NMMetered.
  private static func meaning(of number: UInt32?) -> Bool? {
    switch number {
    case 1, 3: true  // yes, and a guess at it
    case 2, 4: false  // no, and a guess at it
    default: nil
    }
  }
}
