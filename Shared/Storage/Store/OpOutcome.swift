public import CaravanModel

/// What the store keeps of an op until its writer's low watermark passes it (UNI-07).
public enum OpOutcome: Sendable, Hashable {
  /// - Parameters:
  ///   - zoneSeq: after the commit.
  ///   - time: of the commit; 0: it wrote nothing, or layout 4 kept it.
  case decided(verdicts: [ZoneCommit.Verdict], zoneSeq: Seq, incarnation: Incarnation, time: Int64 = 0)
  /// Settled before it arrived.
  case aborted

  /// What an answer says of a record that was read, whenever it is given: a batch read what was there at its place in
  /// the zone's order (CK-23), and what later commits made of it is none of its business.
  /// - Parameters:
  ///   - version: that was read.
  ///   - entry: what the store holds now.
  /// - Returns: `aborted`, if that is not there any more.
  public static func shown(_ version: Seq, of entry: Entry?) -> Outcome {
    guard entry?.version ?? 0 == version else { return .aborted }
    if let entry, entry.isDamaged { return .refused(.damagedRecords([entry.name])) }
    return .read(entry.flatMap { $0.isDeleted ? nil : $0 })
  }

  /// What an answer says of a conflict, or of what a policy has decided: nobody is shown what a disk has damaged.
  public static func conflict(with entry: Entry?) -> Outcome {
    if let entry, entry.isDamaged { return .refused(.damagedRecords([entry.name])) }
    return .conflict(server: entry)
  }

  public static func merged(into entry: Entry?) -> Outcome {
    if let entry, entry.isDamaged { return .refused(.damagedRecords([entry.name])) }
    return .merged(version: entry?.version ?? 0, server: entry)
  }

  private static let abortedTag: UInt8 = 0
  /// Without a time.
  private static let decidedTag: UInt8 = 2
  /// With a time at the end.
  private static let timedTag: UInt8 = 3

  /// What a stored verdict is, in the low bits of its first number.
  fileprivate enum Kind: UInt64 {
    case accepted = 0
    case conflict = 1
    case aborted = 2
    case merged = 3
    case read = 4
    case refused = 5

    static let bits: UInt64 = 3
  }

  /// For the store's own file: a tag, then LEB128 numbers; per verdict `value << 3 | kind`, where the value is a
  /// version or the length of a text that follows.
  public var encoded: [UInt8] {
    switch self {
    case .aborted: return [Self.abortedTag]
    case .decided(let verdicts, let zoneSeq, let incarnation, let time):
      var bytes = [time > 0 ? Self.timedTag : Self.decidedTag]
      bytes.reserveCapacity(24 + verdicts.count * 4)
      bytes.append(varint: zoneSeq)
      bytes.append(varint: incarnation)
      bytes.append(varint: UInt64(verdicts.count))
      for verdict in verdicts {
        switch verdict {
        case .accepted(let version): bytes.append(.accepted, value: version)
        case .conflict(let name): bytes.append(.conflict, text: name)
        case .aborted: bytes.append(.aborted, value: 0)
        case .merged(let name): bytes.append(.merged, text: name)
        case .read(let name, let version):
          bytes.append(.read, text: name)
          bytes.append(varint: version)
        case .refused(let error):
          bytes.append(.refused, text: error.code.rawValue)
          bytes.append(varint: UInt64(error.message.utf8.count))
          bytes.append(contentsOf: error.message.utf8)
        }
      }
      if time > 0 { bytes.append(varint: UInt64(time)) }
      return bytes
    }
  }

  /// - Throws: `internalError` when the bytes are not what `encoded` makes: the file is damaged.
  public init(encoded bytes: [UInt8]) throws(CaravanError) {
    var rest = bytes[...]
    let tag = rest.popFirst()
    switch tag {
    case Self.abortedTag: self = .aborted
    case Self.decidedTag, Self.timedTag:
      let zoneSeq = try rest.takeVarint()
      let incarnation = try rest.takeVarint()
      let count = try rest.takeVarint()
      guard count <= UInt64(bytes.count) else { throw Self.damaged }
      var verdicts: [ZoneCommit.Verdict] = []
      for _ in 0..<count { verdicts.append(try rest.takeVerdict()) }
      let time = tag == Self.timedTag ? Int64(clamping: try rest.takeVarint()) : 0
      self = .decided(verdicts: verdicts, zoneSeq: zoneSeq, incarnation: incarnation, time: time)
    default: throw Self.damaged
    }
  }

  fileprivate static let damaged = CaravanError(.internalError, "a stored op outcome is damaged: restore the file")
}

extension [UInt8] {
  fileprivate mutating func append(_ kind: OpOutcome.Kind, value: UInt64) {
    append(varint: value << OpOutcome.Kind.bits | kind.rawValue)
  }

  fileprivate mutating func append(_ kind: OpOutcome.Kind, text: String) {
    append(kind, value: UInt64(text.utf8.count))
    append(contentsOf: text.utf8)
  }
}

extension ArraySlice<UInt8> {
  fileprivate mutating func takeVarint() throws(CaravanError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while let byte = popFirst() {
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
      if shift > 63 { break }
    }
    throw OpOutcome.damaged
  }

  fileprivate mutating func takeText(_ length: UInt64) throws(CaravanError) -> String {
    let length = Int(clamping: length)
    guard length <= count else { throw OpOutcome.damaged }
    defer { removeFirst(length) }
    return String(decoding: prefix(length), as: UTF8.self)
  }

  fileprivate mutating func takeVerdict() throws(CaravanError) -> ZoneCommit.Verdict {
    let word = try takeVarint()
    let value = word >> OpOutcome.Kind.bits
    switch OpOutcome.Kind(rawValue: word & ((1 << OpOutcome.Kind.bits) - 1)) {
    case .accepted: return .accepted(version: value)
    case .conflict: return .conflict(name: try takeText(value))
    case .aborted: return .aborted
    case .merged: return .merged(name: try takeText(value))
    case .read:
      let name = try takeText(value)
      return .read(name: name, version: try takeVarint())
    case .refused:
      guard let code = ErrorCode(rawValue: try takeText(value)) else { throw OpOutcome.damaged }
      return .refused(CaravanError(code, try takeText(takeVarint())))
    case nil: throw OpOutcome.damaged
    }
  }
}
