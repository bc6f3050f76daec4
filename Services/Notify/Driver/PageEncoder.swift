import CaravanModel
import CaravanNotifyCore
import CaravanTokens
import CaravanWire

/// Encodes what travels with notifications, once for all devices of a zone: sealing its two tokens is most of the work.
struct PageEncoder: Sendable {
  private struct Encoded {
    let zone: ZoneID
    let slot: Int
    let cargo: Cargo
    let bytes: [UInt8]
  }

  private let tokens: TokenSeal
  /// The latest first.
  private var recent: [Encoded] = []

  init(tokens: TokenSeal) { self.tokens = tokens }

  /// A `Notification` with this page, and nothing else.
  mutating func encoded(_ cargo: Cargo, of zone: ZoneID, slot: Int) -> [UInt8] {
    // A page ends where its zone stood then, and has all since `low`: whoever has both numbers has the page.
    let known = recent.first {
      $0.slot == slot && $0.cargo.high == cargo.high && $0.cargo.low == cargo.low
        && $0.cargo.incarnation == cargo.incarnation && $0.zone == zone
    }
    if let known { return known.bytes }
    func token(_ seq: Seq) -> [UInt8] {
      tokens.seal(ChangePosition(incarnation: cargo.incarnation, seq: seq), of: zone)
    }
    let page = NotifiedPage(
      subscription: UInt32(slot), from: token(cargo.low), token: token(cargo.high), page: cargo.page,
      point: cargo.high)
    let bytes = Notification(pages: [page]).encoded()
    recent.insert(Encoded(zone: zone, slot: slot, cargo: cargo, bytes: bytes), at: 0)
    if recent.count > NotifyLimits.cachedPages { recent.removeLast() }
    return bytes
  }
}
