/// A message of D-Bus, as far as calls with texts and what comes back from them go (D-Bus specification, "Message
/// Protocol").
public struct DBusMessage: Sendable, Hashable {
  public enum Kind: UInt8, Sendable {
    case call = 1
    case reply = 2
    case failure = 3
    case signal = 4
  }

  public struct Malformed: Error, Hashable {
    public init() {}
  }

  public var kind: Kind
  public var serial: UInt32
  public var replySerial: UInt32?
  public var member: String
  public var body: [UInt8]

  public init(kind: Kind, serial: UInt32, replySerial: UInt32? = nil, member: String = "", body: [UInt8] = []) {
    self.kind = kind
    self.serial = serial
    self.replySerial = replySerial
    self.member = member
    self.body = body
  }

  /// Ours are a few hundred bytes; NetworkManager's, with its list of everything, a few thousand.
  public static let maximumBytes = 1 << 20

  // MARK: Writing

  /// A call that starts no program.
  public static func call(
    _ serial: UInt32, _ interface: String, _ member: String, at path: String, of destination: String,
    _ arguments: [String] = []
  ) -> [UInt8] {
    assert(serial > 0, "a message of D-Bus has a number, from 1")
    assert(path.utf8.first == UInt8(ascii: "/"), "'\(path)' is no path of an object")
    var fields = Writer()
    fields.field(1, "o") { $0.string(path) }
    fields.field(2, "s") { $0.string(interface) }
    fields.field(3, "s") { $0.string(member) }
    fields.field(6, "s") { $0.string(destination) }
    if !arguments.isEmpty {
      fields.field(8, "g") { $0.signature(String(repeating: "s", count: arguments.count)) }
    }
    var body = Writer()
    for argument in arguments { body.string(argument) }
    let noReplyNorStart: UInt8 = 0x2  // NO_AUTO_START
    var message = Writer()
    message.bytes = [UInt8(ascii: "l"), Kind.call.rawValue, noReplyNorStart, 1]
    message.uint32(UInt32(body.bytes.count))
    message.uint32(serial)
    message.uint32(UInt32(fields.bytes.count))
    message.bytes += fields.bytes
    message.pad(to: 8)
    assert(message.bytes.count + body.bytes.count <= maximumBytes, "a call is larger than what is read")
    let call = message.bytes + body.bytes
    assert(reads(call, as: member), "a call of \(member) does not read as one")
    return call
  }

  /// What is written is what would be read, which writes and reads check of one another.
  private static func reads(_ call: [UInt8], as member: String) -> Bool {
    var rest = call
    let message = try? take(from: &rest)
    return rest.isEmpty && message?.kind == .call && message?.member == member
  }

  private struct Writer {
    var bytes: [UInt8] = []

    mutating func pad(to boundary: Int) { while bytes.count % boundary != 0 { bytes.append(0) } }

    mutating func uint32(_ value: UInt32) {
      pad(to: 4)
      for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func string(_ text: String) {
      uint32(UInt32(text.utf8.count))
      bytes += Array(text.utf8) + [0]
    }

    mutating func signature(_ text: String) { bytes += [UInt8(text.utf8.count)] + Array(text.utf8) + [0] }

    /// Header fields begin at a multiple of 8 of the message, as of their array.
    mutating func field(_ code: UInt8, _ type: String, _ value: (inout Writer) -> Void) {
      pad(to: 8)
      bytes.append(code)
      signature(type)
      value(&self)
    }
  }

  // MARK: Reading

  /// Takes the first message off what has come; nil: there is not all of it yet.
  /// - Throws: when it is none.
  public static func take(from bytes: inout [UInt8]) throws(Malformed) -> DBusMessage? {
    guard bytes.count >= 16 else { return nil }
    guard bytes[0] == UInt8(ascii: "l"), bytes[3] == 1 else { throw Malformed() }
    var reader = Reader(bytes: bytes, offset: 4)
    let (bodyLength, serial, fieldsLength) = (try reader.uint32(), try reader.uint32(), try reader.uint32())
    guard bodyLength < maximumBytes, fieldsLength < maximumBytes else { throw Malformed() }
    let fieldsEnd = 16 + Int(fieldsLength)
    let bodyStart = (fieldsEnd + 7) & ~7
    let end = bodyStart + Int(bodyLength)
    guard bytes.count >= end else { return nil }
    guard let kind = Kind(rawValue: bytes[1]) else { throw Malformed() }
    var message = DBusMessage(kind: kind, serial: serial, body: Array(bytes[bodyStart..<end]))
    while reader.offset < fieldsEnd {
      try reader.pad(to: 8)
      let code = try reader.byte()
      switch (code, try reader.signature()) {
      case (5, "u"): message.replySerial = try reader.uint32()
      case (3, "s"): message.member = try reader.string()
      case (_, "s"), (_, "o"): _ = try reader.string()
      case (_, "g"): _ = try reader.signature()
      case (_, "u"): _ = try reader.uint32()
      default: throw Malformed()
      }
    }
    assert(end >= 16 && reader.offset <= bytes.count, "a message of \(end) bytes is read for ever, or too far")
    bytes.removeFirst(end)
    return message
  }

  /// A body of one variant that holds a number; nil: it is another.
  public var variantNumber: UInt32? {
    var reader = Reader(bytes: body, offset: 0)
    guard (try? reader.signature()) == "u" else { return nil }
    return try? reader.uint32()
  }

  private struct Reader {
    let bytes: [UInt8]
    var offset: Int

    mutating func take(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
      assert(count >= 0 && offset <= bytes.count, "bytes are read backwards, or behind the last")
      guard count <= bytes.count - offset else { throw Malformed() }
      defer { offset += count }
      return bytes[offset..<offset + count]
    }

    mutating func pad(to boundary: Int) throws(Malformed) {
      assert(boundary.nonzeroBitCount == 1, "\(boundary) is no power of 2")
      _ = try take(-offset & (boundary - 1))
    }

    mutating func byte() throws(Malformed) -> UInt8 { try take(1).first ?? 0 }

    mutating func uint32() throws(Malformed) -> UInt32 {
      try pad(to: 4)
      return try take(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func string() throws(Malformed) -> String {
      let text = try take(Int(uint32()))
      _ = try byte()
      return String(decoding: text, as: UTF8.self)
    }

    mutating func signature() throws(Malformed) -> String {
      let text = try take(Int(byte()))
      _ = try byte()
      return String(decoding: text, as: UTF8.self)
    }
  }
}
