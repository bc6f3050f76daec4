package import CaravanModel
package import CaravanWire

/// A message between an app and its agent, and the bytes of an object that stand behind it. They are not in it, because
/// then they would be copied whenever a message is packed and unpacked.
package struct Frame: Sendable {
  package var message: [UInt8]
  package var data: [UInt8]

  package init(_ message: [UInt8], data: [UInt8] = []) {
    self.message = message
    self.data = data
  }

  static let headBytes = 8

  /// What comes before a frame: how many bytes its message has, and its data, little-endian.
  package static func head(message: Int, data: Int = 0) -> [UInt8] {
    var lengths = UInt64(UInt32(message)) | UInt64(UInt32(data)) << 32
    return (0..<headBytes).map { _ in
      defer { lengths >>= 8 }
      return UInt8(truncatingIfNeeded: lengths)
    }
  }

  /// - Throws: `invalidData` for what is no request, or none that has data behind it.
  package func request() throws(CaravanError) -> AppRequest {
    var request = try AppRequest.decode(message)
    guard !data.isEmpty else { return request }
    guard case .writeObject(var write)? = request.kind, write.data.isEmpty else { throw Self.surplus(data.count) }
    write.data = data
    request.kind = .writeObject(write)
    return request
  }

  /// - Throws: as `request`.
  package func reply() throws(CaravanError) -> AppReply {
    var reply = try AppReply.decode(message)
    guard !data.isEmpty else { return reply }
    guard case .objectBytes(var bytes)? = reply.kind, bytes.data.isEmpty else { throw Self.surplus(data.count) }
    bytes.data = data
    reply.kind = .objectBytes(bytes)
    return reply
  }

  private static func surplus(_ count: Int) -> CaravanError {
    CaravanError(.invalidData, "\(count) bytes stand behind a message that has none: send an object's bytes only")
  }
}

extension FrameSocket {
  package func post(_ reply: AppReply) {
    guard case .objectBytes(var bytes)? = reply.kind else { return post(reply.encoded()) }
    let data = bytes.data
    bytes.data = []
    post(AppReply(id: reply.id, kind: .objectBytes(bytes)).encoded(), data: data[...])
  }
}
