import Model
import Runtime

/// What `--link` says: that the machine knows, a class of links, or that there is none.
enum LinkChoice: FlagValue, CustomStringConvertible {
  case automatic
  case announced(LinkClass?)

  init?(flagText: String) {
    switch flagText {
    case "auto": self = .automatic
    case "none": self = .announced(nil)
    default:
      guard let link = LinkClass(name: flagText) else { return nil }
      self = .announced(link)
    }
  }

  static var flagKind: String { "one of auto, wired, wifi, cellular, roaming, none" }

  var description: String {
    switch self {
    case .automatic: "auto"
    case .announced(let link): link?.name ?? "none"
    }
  }
}

/// `eth1=cellular`: what a device leads to.
struct DeviceLink: FlagValue {
  let device: String
  let link: LinkClass

  init?(flagText: String) {
    let parts = flagText.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, let link = LinkClass(name: String(parts[1])) else { return nil }
    (device, self.link) = (String(parts[0]), link)
  }

  static var flagKind: String { "DEVICE=LINK, such as eth1=cellular" }
}
