package import CaravanRuntime

/// How people use their devices: most on Monday, least on Saturday (BEN-17), and hardly in the night.
package enum Week {
  package static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  /// Of a thousand occasions people take so many.
  private static let use = [1_000, 800, 700, 650, 550, 200, 350]
  private static let nightUse = 40
  private static let day: Int64 = 86_400_000
  private static let wakingHours: Range<Int64> = 7..<23

  /// Index into `days`. Unix time began on a Thursday.
  package static func day(of time: WallTime) -> Int { Int((time.milliseconds / day + 3) % 7) }

  /// Per mille.
  package static func use(at time: WallTime) -> Int {
    let use = use[day(of: time)]
    return wakingHours.contains(time.milliseconds % day / 3_600_000) ? use : use * nightUse / 1_000
  }
}
