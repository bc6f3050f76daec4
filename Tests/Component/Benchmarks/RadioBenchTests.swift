import Testing

@testable import CaravanBenchmarks

/// Goal: what `caravan bench radio` reports is right. Method: its model by hand, its optimum against all subsets, its
/// schedules on a workload made up.
@Suite("bench radio")
struct RadioBenchTests {
  private let radio = RadioModel()

  @Test("A transfer costs promotion, its bytes and a tail; one within the tail only what it adds")
  func model() {
    let one = RadioModel.Transfer(at: 100, bytes: 0)
    let cold = radio.usage(of: [one])
    #expect(cold.clusters == 1)
    #expect(abs(cold.onSeconds - (0.26 + 0.14 + 11.6)) < 1e-9)
    let warm = radio.usage(of: [one, RadioModel.Transfer(at: 105, bytes: 705_000)])
    #expect(warm.clusters == 1)
    #expect(abs(warm.onSeconds - (5 + 0.14 + 1 + 11.6)) < 1e-9)
    let apart = radio.usage(of: [RadioModel.Transfer(at: 150, bytes: 0), one])
    #expect(apart.clusters == 2)
    #expect(abs(apart.onSeconds - 24) < 1e-9)
  }

  @Test("The optimum is the smallest set of moments that touches every interval")
  func optimum() {
    var dice = RadioDice(seed: 9)
    for _ in 0..<200 {
      let intervals = (0..<(1 + dice.below(8))).map { _ in
        let release = Double(dice.below(20))
        return TransferOptimum.Interval(release: release, deadline: release + Double(dice.below(8)))
      }
      let found = TransferOptimum(intervals).moments
      for interval in intervals {
        #expect(found.contains { $0 >= interval.release && $0 <= interval.deadline })
      }
      // Some smallest set consists of deadlines only.
      let deadlines = intervals.map(\.deadline)
      let smallest = (0..<(1 << deadlines.count)).filter { set in
        intervals.allSatisfy { interval in
          deadlines.indices.contains { index in
            set >> index & 1 == 1 && deadlines[index] >= interval.release && deadlines[index] <= interval.deadline
          }
        }
      }.map(\.nonzeroBitCount).min()
      #expect(found.count == smallest)
    }
  }

  @Test(
    "BEN-04, SIM-90: together with tolerance the optimum's clusters, and a fifth of the radio time of no coordination")
  func workload() throws {
    let workload = try RadioWorkload(trace: "", photos: "", hours: 0.5, seed: 4)
    for tolerance in [0.0, 60] {
      let apps = RadioBench.apps(tolerance: tolerance)
      func usage(_ schedule: RadioSchedule) throws -> RadioModel.Usage {
        radio.usage(of: try schedule.radioTransfers(apps, workload.items))
      }
      let ours = try usage(.together(apps, workload.items))
      let optimum = try usage(.optimum(apps, workload.items))
      let apart = try usage(.separate(apps, workload.items, phases: [3, 17, 41]))
      #expect(Double(ours.transfers) <= 1.05 * Double(optimum.transfers))
      #expect(Double(ours.clusters) <= 1.05 * Double(optimum.clusters))
      #expect(ours.onSeconds < apart.onSeconds)
      if tolerance > 0 { #expect(try usage(.asMade(workload.items)).onSeconds >= 5 * ours.onSeconds) }
      // Nothing is left behind, nothing goes twice.
      let sent = RadioSchedule.together(apps, workload.items).transfers.flatMap(\.items)
      #expect(sent.sorted() == Array(workload.items.indices))
    }
  }

  @Test("BEN-15, MOB-33, MOB-34: tables of harmonic periods go at multiples of the shortest, whenever registered")
  func alignment() {
    let apps = [60.0, 120, 300, 600].map { RadioApp(name: "every\(Int($0))", periodSeconds: $0, toleranceSeconds: 0) }
    let items = (0..<360).flatMap { step in
      apps.indices.map { RadioItem(app: $0, at: Double(step) * 10 + 0.5, body: []) }
    }
    let aligned = RadioSchedule.together(apps, items).transfers
    #expect(aligned.allSatisfy { $0.at.truncatingRemainder(dividingBy: 60) == 0 })
    #expect(aligned.count <= 60)
    #expect(aligned.reduce(0) { $0 + $1.items.count } == items.count)
    #expect(RadioSchedule.separate(apps, items, phases: [7, 31, 111, 450]).transfers.count >= 100)
  }

  @Test("A trace that is no trace is refused with its name")
  func refusals() {
    #expect(throws: (any Error).self) { try RadioWorkload(trace: "/dev/null", photos: "", hours: 0.1, seed: 1) }
    #expect(throws: (any Error).self) { try RadioWorkload(trace: "", photos: "/dev", hours: 0.1, seed: 1) }
  }
}
