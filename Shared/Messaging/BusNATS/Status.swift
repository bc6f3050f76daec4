internal import CCaravanNats
internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime

/// A library handle. Safe because libnats locks every call on connections and subscriptions (nats.h: the API
/// "is thread-safe"), and what else there is has one owner at a time; whoever owns it destroys it once, after the last
/// use.
struct Handle: @unchecked Sendable, Hashable {
  let pointer: OpaquePointer
}

enum Library {
  /// Starts the library's threads, once for the process.
  static let open: natsStatus = {
    let status = nats_Open(-1)
    return status == NATS_OK ? nats_SetMessageDeliveryPoolSize(NATSLimits.deliveryThreads) : status
  }()
}

/// - Throws: the refusal, with `what` was tried in the message.
func check(_ status: natsStatus, _ what: @autoclosure () -> String) throws(CaravanError) {
  if status != NATS_OK { throw CaravanError(status, what()) }
}

extension CaravanError {
  init(_ status: natsStatus, _ what: String) {
    let reason = String(cString: natsStatus_GetText(status))
    switch status {
    case NATS_MAX_PAYLOAD: self.init(.limitExceeded, "\(what): larger than the broker's max_payload")
    case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED:
      self.init(.notAuthenticated, "\(what): the broker refuses these credentials (\(reason))")
    case NATS_INVALID_SUBJECT, NATS_INVALID_ARG, NATS_INVALID_QUEUE_NAME:
      self.init(.invalidData, "\(what): \(reason)")
    case NATS_TIMEOUT: self.init(.timedOut, "\(what): the broker does not answer")
    case NATS_CONNECTION_CLOSED, NATS_DRAINING: self = .busClosed
    case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_REQUIRED, NATS_SECURE_CONNECTION_WANTED:
      self.init(.unavailable, "\(what): TLS failed (\(Self.detail ?? reason))")
    default: self.init(.unavailable, "\(what): \(reason)")
    }
  }

  /// What the library noted of the last call of this thread, without where in its source that was:
  /// `SSL handshake error: 62:hostname mismatch:expected=…`.
  private static var detail: String? {
    var status = NATS_OK
    guard let text = nats_GetLastError(&status), status != NATS_OK else { return nil }
    let line = String(cString: text)
    guard line.hasPrefix("("), let end = line.firstIndex(of: ")") else { return line }
    return String(line[end...].drop { character in character == ")" || character == ":" || character == " " })
  }
}

extension natsStatus {
  /// The broker and this process are not meant for each other: the library does not try again by itself.
  var isRefusal: Bool {
    switch self {
    case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED, NATS_SSL_ERROR, NATS_SECURE_CONNECTION_REQUIRED,
      NATS_SECURE_CONNECTION_WANTED:
      true
    default: false
    }
  }
}

extension Duration {
  var milliseconds: Int64 { max(1, wholeMilliseconds) }
}
