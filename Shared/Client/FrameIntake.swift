internal import Model
internal import Runtime

/// Bytes of a connection as they come, made into messages.
struct FrameIntake {
  private static let headBytes = 4

  private let messageBytes: Int
  private var messages = Ring<[UInt8]>()
  private var length: UInt32 = 0
  /// Of the length, how many are here.
  private var headCount = 0
  private var body: [UInt8] = []

  /// Of the messages that wait, with their lengths.
  private(set) var bytes = 0
  /// Why nothing more can be understood; what came before it still counts.
  private(set) var failure: CaravanError?

  /// - Parameter messageBytes: the longest message taken.
  init(messageBytes: Int) { self.messageBytes = messageBytes }

  /// Whether the last message is not all here.
  var isInMessage: Bool { headCount > 0 }

  mutating func popFirst() -> [UInt8]? {
    guard let message = messages.popFirst() else { return nil }
    bytes -= Self.headBytes + message.count
    return message
  }

  mutating func clear() { self = FrameIntake(messageBytes: messageBytes) }

  mutating func add(_ new: [UInt8]) {
    var rest = new[...]
    while failure == nil, !rest.isEmpty {
      if headCount < Self.headBytes {
        takeHead(&rest)
      } else {
        let part = rest.prefix(Int(length) - body.count)
        body += part
        rest = rest.dropFirst(part.count)
      }
      if isWhole { finish() }
    }
  }

  private var isWhole: Bool { headCount == Self.headBytes && body.count == Int(length) }

  private mutating func takeHead(_ rest: inout ArraySlice<UInt8>) {
    while headCount < Self.headBytes, let byte = rest.popFirst() {
      length |= UInt32(byte) << (8 * UInt32(headCount))
      headCount += 1
    }
    guard headCount == Self.headBytes else { return }
    guard Int(length) <= messageBytes else {
      failure = CaravanError(
        .limitExceeded, "a message of \(length) bytes was announced: the limit is \(messageBytes), send parts")
      return
    }
    body.reserveCapacity(Int(length))
  }

  private mutating func finish() {
    bytes += Self.headBytes + body.count
    messages.append(body)
    (length, headCount, body) = (0, 0, [])
  }
}
