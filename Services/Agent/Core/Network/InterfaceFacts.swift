internal import CaravanModel

/// What /sys/class/net/NAME says of a device.
public struct InterfaceFacts: Sendable, Hashable {
  /// The content of `uevent`.
  public var uevent: String
  /// There is a `wireless` or a `phy80211`.
  public var isWireless: Bool
  /// Names of the devices that it goes over (`lower_NAME`).
  public var lower: [String]

  public init(uevent: String = "", isWireless: Bool = false, lower: [String] = []) {
    self.uevent = uevent
    self.isWireless = isWireless
    self.lower = lower
  }

  /// Nil: it says nothing of that.
  var link: LinkClass? {
    if isWireless { return .wifi }
    let lines = uevent.split(separator: "\n")
    switch lines.first(where: { $0.hasPrefix("DEVTYPE=") })?.dropFirst("DEVTYPE=".utf8.count) {
    case "wlan": return .wifi
    // A phone in the pocket is reached by Bluetooth, and has the bill.
    case "wwan", "bluetooth": return .cellular
    default: return nil
    }
  }
}
