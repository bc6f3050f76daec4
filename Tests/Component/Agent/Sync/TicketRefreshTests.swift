import CaravanAgentCore
import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanTokens
import Testing

@testable import CaravanAgentStore

/// Goal: what a device is allowed to do for a time ends in the middle of its work; it asks again, by itself, and the
/// work goes on (REC-09). Method: the real services in virtual time, an object a step; tickets end between two steps.
@Suite struct TicketRefreshTests {
  /// How a ticket that a device holds becomes worth nothing.
  enum End: CaseIterable {
    case time, distrust

    func befalls(_ suite: SuiteCluster, _ clock: any Clock) async throws {
      switch self {
      case .time: try await clock.sleep(for: TicketSeal.lifetime + .seconds(60))
      case .distrust:
        let ring = try KeyRing.reading(suite.keyFile(.tickets))
        let seconds = clock.wallTime.milliseconds / 1_000
        let next = try ring.distrusting(Set(ring.members.map(\.id)), for: .generate(), at: seconds)
        try TextFile.writeSecret(next.fileText, to: suite.keyFile(.tickets))
        try await clock.sleep(for: LaunchLimits.ringTravels)
      }
    }
  }

  @Test("REC-09: a ticket that is void is asked for anew, up and down, and no app hears of it", arguments: End.allCases)
  func void(_ end: End) throws {
    let suite = try SuiteCluster(seed: 9, hasKeyFile: true)
    try suite.cluster.run(deadline: .seconds(20_000)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] {
        try await device.createTable()
        try await device.register()
      }
      for step in 0..<4 {
        let photo = SeededRandom(seed: UInt64(step)).bytes(300_000)
        try await a.writePhoto("p\(step)", photo)
        try await b.until("photo \(step) is at b", within: .seconds(120)) { try await b.photo("p\(step)") == photo }
        try await a.until("nothing waits") { try await a.isSettled() }
        for device in [a, b] {
          let status = try await device.store.status(of: RunningDevice.table.app).first
          #expect(status?.fault == nil && status?.refused == "")
        }
        try await end.befalls(suite, a.clock)
      }
      for device in [a, b] { #expect(try await device.store.problems() == []) }
    }
  }
}
