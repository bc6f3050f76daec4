/// What the answer of a target means for a notification.
package enum DeliveryVerdict: Sendable, Hashable {
  case taken
  /// To be tried again, after so many seconds at least.
  case later(seconds: UInt32)
  /// This notification is not taken, whenever it comes.
  case refused
  /// Nothing is taken there any more.
  case gone

  /// - Parameters:
  ///   - status: of HTTP.
  ///   - retryAfter: that header: seconds; a date counts as none.
  package init(status: Int, retryAfter: String?) {
    let wait = min(retryAfter.flatMap { UInt32($0) } ?? 0, PushLimits.longestWaitSeconds)
    switch status {
    case 200..<300: self = .taken
    // RFC 8030 §7.3: the subscription is gone for good.
    case 404, 410: self = .gone
    // The client follows no redirect. The server's operator may correct one, and may end what these statuses report.
    case 300..<400, 408, 425, 429, 500...: self = .later(seconds: wait)
    // The server does not accept the sender's key, which says nothing about this notification.
    case 401, 403: self = .later(seconds: wait)
    default: self = .refused
    }
  }
}
