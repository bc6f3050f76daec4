import CaravanModel
import CaravanNotifyCore
import CaravanTokens
import CaravanWire

/// Encodes what travels with notifications, once for all devices of a zone: sealing its two tokens is most of the work.
struct PageEncoder: Sendable {
  private struct Encoded {
    let zone: ZoneID
    let slot: Int
    let inlinePage: InlinePage
    let bytes: [UInt8]
  }

  private let tokens: TokenSeal
  /// The latest first.
  private var recent: [Encoded] = []

  init(tokens: TokenSeal) { self.tokens = tokens }

  /// A `Notification` with this page, and nothing else.
  mutating func encoded(_ inlinePage: InlinePage, of zone: ZoneID, slot: Int) -> [UInt8] {
    // A page ends where its zone stood then, and has all since `low`: whoever has both numbers has the page.
    let known = recent.first {
      $0.slot == slot && $0.inlinePage.high == inlinePage.high && $0.inlinePage.low == inlinePage.low
        && $0.inlinePage.incarnation == inlinePage.incarnation && $0.zone == zone
    }
    if let known { return known.bytes }
    func token(_ seq: Seq) -> [UInt8] {
      tokens.seal(ChangePosition(incarnation: inlinePage.incarnation, seq: seq), of: zone)
    }
    let page = NotifiedPage(
      subscription: UInt32(slot), from: token(inlinePage.low), token: token(inlinePage.high), page: inlinePage.page,
      point: inlinePage.high)
    let bytes = Notification(pages: [page]).encoded()
    recent.insert(Encoded(zone: zone, slot: slot, inlinePage: inlinePage, bytes: bytes), at: 0)
    if recent.count > NotifyLimits.cachedPages { recent.removeLast() }
    return bytes
  }
}
