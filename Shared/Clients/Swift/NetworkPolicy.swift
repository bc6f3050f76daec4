public import CaravanModel
internal import CaravanWire

/// What the user allows the device, whatever apps prefer.
public struct NetworkPolicy: Sendable, Hashable {
  /// Nothing is sent over a dearer link; nil: nothing at all.
  public var maximumLink: CaravanModel.LinkClass?
  /// Bytes a day, both directions, from midnight UTC; links that are not named have no budget.
  public var dailyBytes: [CaravanModel.LinkClass: UInt64]

  /// - Parameters:
  ///   - maximumLink: the dearest link that is used; nil: none is.
  ///   - dailyBytes: of each link that has a budget.
  public init(maximumLink: CaravanModel.LinkClass? = .roaming, dailyBytes: [CaravanModel.LinkClass: UInt64] = [:]) {
    self.maximumLink = maximumLink
    self.dailyBytes = dailyBytes
  }

  init(_ policy: CaravanWire.NetworkPolicy) {
    maximumLink = policy.maximumLink.model
    dailyBytes = [:]
    for budget in policy.budgets { if let link = budget.link.model { dailyBytes[link] = budget.dailyBytes } }
  }

  var wire: CaravanWire.NetworkPolicy {
    CaravanWire.NetworkPolicy(
      maximumLink: CaravanWire.LinkClass(maximumLink),
      budgets: dailyBytes.sorted { $0.key < $1.key }.map {
        LinkBudget(link: CaravanWire.LinkClass($0.key), dailyBytes: $0.value)
      })
  }
}

/// What one link carried today for a table, or for the device itself.
public struct LinkUse: Sendable, Hashable {
  /// The class of the link.
  public let link: CaravanModel.LinkClass
  /// Nil: the device's own.
  public let table: String?
  /// From the device to the cloud, as they were on the wire.
  public let bytesUp: UInt64
  /// From the cloud to the device, as they were on the wire.
  public let bytesDown: UInt64

  init?(_ usage: CaravanWire.LinkUsage) {
    guard let link = usage.link.model else { return nil }
    self.link = link
    table = usage.table.isEmpty ? nil : usage.table
    bytesUp = usage.bytesUp
    bytesDown = usage.bytesDown
  }
}
