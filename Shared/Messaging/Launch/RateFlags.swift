package import CaravanModel
package import CaravanRuntime

/// A rate as people write it: `RATE` or `RATE/BURST`, accesses a second; 0: no limit. A burst is ten seconds' worth
/// unless said.
package struct RateText: FlagValue, CustomStringConvertible {
  package let rate: Rate?

  package init(_ rate: Rate?) { self.rate = rate }

  package init?(flagText: String) {
    let parts = flagText.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let perSecond = UInt64(parts[0]), perSecond <= 1_000_000_000
    else { return nil }
    let burst = parts.count == 2 ? UInt64(parts[1]) : max(1, perSecond) * 10
    guard let burst, burst > 0 else { return nil }
    rate = perSecond == 0 ? nil : Rate(perSecond: perSecond, burst: burst)
  }

  package static var flagKind: String { "a rate such as 500 or 500/5000" }
  package var description: String { rate.map { "\($0.perSecond)/\($0.burst)" } ?? "0" }
}

/// The flags of the rates that sync and storage keep everybody to, each process by itself.
package enum RateFlags {
  private static let device = flag("device", RateLimits.standard.device)
  private static let user = flag("user", RateLimits.standard.user)
  private static let container = flag("container", RateLimits.standard.container)

  package static let all: FlagList = [device, user, container]

  package static func limits(_ options: Options) -> RateLimits {
    RateLimits(device: options[device].rate, user: options[user].rate, container: options[container].rate)
  }

  private static func flag(_ whose: String, _ rate: Rate?) -> Flag<RateText> {
    Flag(
      "rate-\(whose)", "RATE[/BURST]",
      "records, or pieces of \(Limits.bytesPerAccess >> 10) KiB of objects, a second that one \(whose) may touch, "
        + "and at once, in production; in development one in \(Limits.developmentRates); 0: any",
      environment: "CARAVAN_RATE_\(whose.uppercased())", default: RateText(rate))
  }
}
