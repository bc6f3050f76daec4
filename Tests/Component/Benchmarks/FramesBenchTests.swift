import CaravanWire
import Testing

@testable import CaravanBenchmarks

/// Goal: rows of many apps take less in one frame than in a frame an app (BEN-11, SIM-92), whatever they hold.
@Suite("bench frames")
struct FramesBenchTests {
  @Test("MOB-36: the same rows together are fewer bytes than apart, also where most of them are compressed already")
  func together() throws {
    let drive = try RadioWorkload(trace: "", photos: "", hours: 0.2, seed: 4)
    let traffic = [
      FrameTraffic.drive(drive), .chatter(hours: 0.2, seed: 4), .thumbnails(hours: 0.2, seed: 4),
    ]
    for traffic in traffic {
      let frames = traffic.frames(every: 60)
      #expect(frames.reduce(0) { $0 + $1.reduce(0) { $0 + $1.mutations.count } } == traffic.items.count)
      let sizes = try FramesBench.sizes(frames)
      #expect(sizes.together < sizes.apart, "\(traffic.name): \(sizes)")
      #expect(sizes.apart <= sizes.plain + 24 * frames.reduce(0) { $0 + $1.count })
    }
    let chatter = try FramesBench.sizes(traffic[1].frames(every: 60))
    #expect(chatter.together * 10 < chatter.apart * 6, "short rows of many apps: \(chatter)")
  }
}
