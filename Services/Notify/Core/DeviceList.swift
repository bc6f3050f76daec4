package import CaravanModel

/// What a device wants to hear of, in the order of its bitmap. The device numbers its lists (E13).
package struct DeviceList: Sendable, Hashable {
  package struct Item: Sendable, Hashable {
    package let zone: ZoneID
    /// 0: at once.
    package let period: UInt32
    /// It is told that the zone has changed, and nothing of what: its link is not for that zone's rows (MOB-46).
    package let isToldOnly: Bool
    /// How much longer, in milliseconds, it waits for a notification with which it may go (MOB-57).
    package let tolerance: UInt32

    package init(zone: ZoneID, period: UInt32, isToldOnly: Bool = false, tolerance: UInt32 = 0) {
      self.zone = zone
      self.period = min(period, NotifyLimits.longestPeriodMilliseconds)
      self.tolerance = min(tolerance, NotifyLimits.longestToleranceMilliseconds)
      self.isToldOnly = isToldOnly
    }
  }

  package let generation: UInt64
  package private(set) var items: [Item]

  /// - Throws: `limitExceeded` beyond `Limits.subscriptionsPerDevice`.
  package init(generation: UInt64, items: [Item]) throws(CaravanError) {
    guard items.count <= Limits.subscriptionsPerDevice else {
      throw CaravanError(
        .limitExceeded, "a device has \(items.count) subscriptions: the limit is \(Limits.subscriptionsPerDevice)")
    }
    self.generation = generation
    self.items = items
  }

  /// With each zone replaced by one that equals it.
  func mapZones(_ zone: (ZoneID) -> ZoneID) -> DeviceList {
    var list = self
    list.items = items.map {
      Item(zone: zone($0.zone), period: $0.period, isToldOnly: $0.isToldOnly, tolerance: $0.tolerance)
    }
    assert(list == self, "a zone was replaced by another one")
    return list
  }
}

/// One notification: which of a device's subscriptions changed.
package struct PendingNotification: Sendable, Hashable {
  package let device: EnrolledDevice
  /// Grows; never the number of another notification to this device.
  package let number: UInt64
  package let generation: UInt64
  package let bitmap: Bitmap
  /// By subscription; for some of those in the bitmap.
  package let inlinePage: [Int: InlinePage]
  /// How long, in milliseconds, that has waited beyond its period which has waited longest.
  package let waited: UInt32

  package init(
    device: EnrolledDevice, number: UInt64, generation: UInt64, bitmap: Bitmap, inlinePage: [Int: InlinePage] = [:],
    waited: UInt32 = 0
  ) {
    precondition(!bitmap.isEmpty, "a notification of nothing")
    precondition(
      inlinePage.values.reduce(0) { $0 + $1.page.count } <= NotifyLimits.inlinePageBytes,
      "a notification carries too much")
    assert(inlinePage.keys.allSatisfy { bitmap[$0] }, "what changed is said of a subscription that did not")
    self.device = device
    self.number = number
    self.generation = generation
    self.bitmap = bitmap
    self.inlinePage = inlinePage
    self.waited = waited
  }
}
