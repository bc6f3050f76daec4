public import Model

/// What the store keeps of an op until its writer's floor passes it (UNI-07).
public enum OpOutcome: Sendable, Hashable {
  /// - Parameter zoneSeq: after the commit.
  case decided(verdicts: [ZoneCommit.Verdict], zoneSeq: Seq, incarnation: Incarnation)
  /// Settled before it arrived.
  case aborted

  private static let abortedTag: UInt8 = 0
  private static let decidedTag: UInt8 = 1

  /// For the store's own file: a tag, then LEB128 numbers; per verdict `value << 2 | kind`.
  public var encoded: [UInt8] {
    switch self {
    case .aborted: return [Self.abortedTag]
    case .decided(let verdicts, let zoneSeq, let incarnation):
      var bytes = [Self.decidedTag]
      bytes.reserveCapacity(24 + verdicts.count * 4)
      bytes.append(varint: zoneSeq)
      bytes.append(varint: incarnation)
      bytes.append(varint: UInt64(verdicts.count))
      for verdict in verdicts {
        switch verdict {
        case .accepted(let version): bytes.append(varint: version << 2)
        case .conflict(let name):
          bytes.append(varint: UInt64(name.utf8.count) << 2 | 1)
          bytes.append(contentsOf: name.utf8)
        case .aborted: bytes.append(2)
        }
      }
      return bytes
    }
  }

  /// - Throws: `internalError` when the bytes are not what `encoded` makes: the file is damaged.
  public init(encoded bytes: [UInt8]) throws(CaravanError) {
    var rest = bytes[...]
    switch rest.popFirst() {
    case Self.abortedTag: self = .aborted
    case Self.decidedTag:
      let zoneSeq = try rest.takeVarint()
      let incarnation = try rest.takeVarint()
      let count = try rest.takeVarint()
      guard count <= UInt64(bytes.count) else { throw Self.damaged }
      var verdicts: [ZoneCommit.Verdict] = []
      for _ in 0..<count { verdicts.append(try rest.takeVerdict()) }
      self = .decided(verdicts: verdicts, zoneSeq: zoneSeq, incarnation: incarnation)
    default: throw Self.damaged
    }
  }

  fileprivate static let damaged = CaravanError(.internalError, "a stored op outcome is damaged: restore the file")
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

  fileprivate mutating func takeVerdict() throws(CaravanError) -> ZoneCommit.Verdict {
    let word = try takeVarint()
    switch word & 3 {
    case 0: return .accepted(version: word >> 2)
    case 1:
      let length = Int(clamping: word >> 2)
      guard length <= count else { throw OpOutcome.damaged }
      let name = String(decoding: prefix(length), as: UTF8.self)
      removeFirst(length)
      return .conflict(name: name)
    case 2: return .aborted
    default: throw OpOutcome.damaged
    }
  }
}
