internal import CCaravanNats
internal import CaravanBus
internal import CaravanModel
internal import Glibc

/// The names under which headers travel.
private enum HeaderName {
  static let traceparent = "traceparent"
  static let requestID = "Caravan-Request-Id"
  /// ADR-32
  static let errorCode = "Nats-Service-Error-Code"
  static let errorText = "Nats-Service-Error"
}

extension Headers {
  fileprivate var pairs: [(String, String)] {
    [
      (HeaderName.traceparent, traceparent), (HeaderName.requestID, requestID), (HeaderName.errorCode, errorCode),
      (HeaderName.errorText, errorText),
    ].compactMap { name, value in value.map { (name, $0) } }
  }

  fileprivate init(_ message: OpaquePointer) {
    func value(_ name: String) -> String? {
      var text: UnsafePointer<CChar>?
      guard natsMsgHeader_Get(message, name, &text) == NATS_OK, let text else { return nil }
      return strnlen(text, BusLimits.headerBytes + 1) > BusLimits.headerBytes ? nil : String(validatingCString: text)
    }
    self.init(
      traceparent: value(HeaderName.traceparent), requestID: value(HeaderName.requestID),
      errorCode: value(HeaderName.errorCode), errorText: value(HeaderName.errorText))
  }
}

extension Message {
  /// Copies everything out; the caller still owns the library's message.
  init(_ message: OpaquePointer) {
    let count = Int(natsMsg_GetDataLength(message))
    let data = natsMsg_GetData(message)
    let payload = [UInt8](UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count))
    self.init(payload, headers: Headers(message))
  }

  /// Hands the message to the library, which copies it.
  func send(on connection: Handle, to subject: String, reply: String?, _ spent: SpentMessages) -> natsStatus {
    let headers = headers.pairs
    return payload.withUnsafeBytes { bytes in
      let count = Int32(bytes.count)
      guard !headers.isEmpty else {
        guard let reply else {
          return natsConnection_Publish(connection.pointer, subject, bytes.baseAddress, count)
        }
        return natsConnection_PublishRequest(connection.pointer, subject, reply, bytes.baseAddress, count)
      }
      var message: OpaquePointer?
      var status = natsMsg_Create(&message, subject, reply, bytes.baseAddress, count)
      defer { if let message { spent.add(message) } }
      for (name, value) in headers where status == NATS_OK { status = natsMsgHeader_Set(message, name, value) }
      return status == NATS_OK ? natsConnection_PublishMsg(connection.pointer, message) : status
    }
  }
}
