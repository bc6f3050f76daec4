/// Kinds of network, cheapest first (MOB-44). A preference means "this or cheaper".
public enum LinkClass: UInt8, Sendable, Hashable, CaseIterable, Comparable {
  case wired = 1
  case wifi = 2
  case cellular = 3
  case roaming = 4

  /// The cheaper link is the lesser.
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  /// As commands and `agent.conf` write it.
  public var name: String {
    switch self {
    case .wired: "wired"
    case .wifi: "wifi"
    case .cellular: "cellular"
    case .roaming: "roaming"
    }
  }

  /// The class of this name; `3g` and `4g`, as the papers write, are cellular.
  public init?(name: String) {
    switch name.lowercased() {
    case "wired", "ethernet": self = .wired
    case "wifi": self = .wifi
    case "cellular", "3g", "4g", "5g", "lte": self = .cellular
    case "roaming": self = .roaming
    default: return nil
    }
  }
}
