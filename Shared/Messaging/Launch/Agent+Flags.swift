public import CaravanModel
public import CaravanRuntime

extension FlagList {
  /// The agent's, beside those of `bus`; whoever reads its configuration knows what may stand there.
  public static var agent: FlagList {
    [
      Flag<String>.data, Flag<String>.socket, Flag<LinkChoice?>.link, Flag<[DeviceLink]>.deviceLinks,
      Flag<Bool>.metered, Flag<String>.systemBus, Flag<Bool>.openApps, Flag<String>.packagedApps,
    ]
  }
}

extension Flag where Value == String {
  public static var socket: Flag<String> {
    Flag("socket", "PATH", "unix socket that apps connect to", environment: "CARAVAN_SOCKET")
  }
  public static var packagedApps: Flag<String> {
    Flag(
      "packaged-apps", "DIR", "where packages register their apps: NAME.conf with a name and a uid",
      environment: "CARAVAN_PACKAGED_APPS", default: "/usr/share/caravan/apps")
  }
  public static var systemBus: Flag<String> {
    Flag(
      "system-bus", "PATH", "with --link auto: socket of the D-Bus where NetworkManager may be",
      environment: "CARAVAN_SYSTEM_BUS", default: "/run/dbus/system_bus_socket"
    ).only(with: "link", "auto")
  }
}

extension Flag where Value == LinkChoice? {
  public static var link: Flag<LinkChoice?> {
    Flag(
      "link", "CLASS",
      "what this machine is connected by: wired, wifi, cellular, roaming or none; auto: by its routes to the brokers, "
        + "whatever they are (without this flag: auto, or wired where all brokers are on this machine)",
      environment: "CARAVAN_LINK")
  }
}

extension Flag where Value == [DeviceLink] {
  public static var deviceLinks: Flag<[DeviceLink]> {
    Flag(
      "device-link", "DEVICE=CLASS,…",
      "with --link auto: what a device leads to; it may be dearer than the system says, not cheaper",
      environment: "CARAVAN_DEVICE_LINK", default: []
    ).only(with: "link", "auto")
  }
}

extension Flag where Value == Bool {
  public static var metered: Flag<Bool> {
    Flag(
      "metered", "with --link auto: bytes cost, whatever NetworkManager says", environment: "CARAVAN_METERED"
    ).only(with: "link", "auto")
  }
  public static var openApps: Flag<Bool> {
    Flag(
      "open-apps",
      "an app of any user may come, and has its name from then on; without it others than the agent's user wait for "
        + "caravan agent allow",
      environment: "CARAVAN_OPEN_APPS")
  }
}

/// What `--link` says: that the machine knows, a class of links, or that there is none.
public enum LinkChoice: FlagValue, CustomStringConvertible {
  case automatic
  case announced(LinkClass?)

  public init?(flagText: String) {
    switch flagText {
    case "auto": self = .automatic
    case "none": self = .announced(nil)
    default:
      guard let link = LinkClass(name: flagText) else { return nil }
      self = .announced(link)
    }
  }

  /// Where nobody has said: a broker on this machine costs nothing, and the routes to any other are the machine's.
  /// - Parameter brokers: their addresses, as `--nats` has them.
  public init(unsaidWith brokers: [String]) {
    let areHere = brokers.allSatisfy { HostPort(brokerURL: $0)?.isLoopback ?? false }
    self = areHere ? .announced(.wired) : .automatic
  }

  public static var flagKind: String { "one of auto, wired, wifi, cellular, roaming, none" }

  public var description: String {
    switch self {
    case .automatic: "auto"
    case .announced(let link): link?.name ?? "none"
    }
  }
}

/// `eth1=cellular`: what a device leads to.
public struct DeviceLink: FlagValue {
  public let device: String
  public let link: LinkClass

  public init?(flagText: String) {
    let parts = flagText.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, let link = LinkClass(name: String(parts[1])) else { return nil }
    (device, self.link) = (String(parts[0]), link)
  }

  public static var flagKind: String { "DEVICE=LINK, such as eth1=cellular" }
}
