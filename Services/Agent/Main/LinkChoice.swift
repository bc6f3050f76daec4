import Model
import Runtime

/// What `--link` says: a class of links, or that there is none.
struct LinkChoice: FlagValue, CustomStringConvertible {
  let link: LinkClass?

  init(_ link: LinkClass?) { self.link = link }

  init?(flagText: String) {
    guard flagText != "none" else {
      self.init(nil)
      return
    }
    guard let link = LinkClass(name: flagText) else { return nil }
    self.init(link)
  }

  static var flagKind: String { "one of wired, wifi, cellular, roaming, none" }
  var description: String { link?.name ?? "none" }
}
