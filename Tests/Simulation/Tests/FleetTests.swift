import CaravanRuntime
import CaravanSimulation
import CaravanTestKit
import Testing

/// Goal: weeks of a fleet end with all devices equal and nothing lost (BEN-17). Method: two days of three devices here;
/// two weeks of twelve, and sixty days of three hundred, are played by `Tests/run`.
@Suite struct FleetTests {
  @Test("BEN-17: people use their devices most on Monday, least on Saturday, hardly in the night")
  func week() {
    // A Monday, noon.
    let monday = WallTime(milliseconds: 1_700_481_600_000)
    #expect(Week.days[Week.day(of: monday)] == "Mon")
    let use = (0..<7).map { Week.use(at: WallTime(milliseconds: monday.milliseconds + $0 * 86_400_000)) }
    #expect(use.max() == use[0])
    #expect(use.min() == use[5])
    #expect(Week.use(at: WallTime(milliseconds: monday.milliseconds + 15 * 3_600_000)) < use[5])
  }

  @Test("BEN-17: a fleet converges through outages, and loses nothing")
  func fleet() throws {
    let directory = try TemporaryDirectory(isInMemory: true)
    let report = try FleetRun.run(3, agents: 3, days: 2, directory: directory.path)
    #expect(report.violations.isEmpty)
    #expect(report.acknowledged > 0 && report.versions > 0)
    #expect(report.troubles.values.reduce(0, +) > 0)
  }
}
