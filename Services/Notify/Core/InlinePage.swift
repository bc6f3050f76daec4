package import CaravanModel

/// What changed in a zone, where that is small: it travels with the notification, and a device whose copy ends where
/// it begins need not ask.
package struct InlinePage: Sendable, Hashable {
  package let incarnation: Incarnation
  /// It has the versions above `low`, up to `high`.
  package let low: Seq
  package private(set) var high: Seq
  /// Encoded `EntryPage`.
  package private(set) var page: [UInt8]

  /// - Returns: nil when it is too large to travel.
  package init?(incarnation: Incarnation, low: Seq, high: Seq, page: [UInt8]) {
    guard page.count <= NotifyLimits.inlinePageBytes else { return nil }
    self.incarnation = incarnation
    self.low = low
    self.high = high
    self.page = page
  }

  /// - Returns: nil when `next` does not follow, or both together are too large.
  func followed(by next: InlinePage) -> InlinePage? {
    guard next.incarnation == incarnation, next.low == high else { return nil }
    // Of two encoded messages with repeated fields, one after the other is the encoding of both.
    return InlinePage(incarnation: incarnation, low: low, high: next.high, page: page + next.page)
  }
}
