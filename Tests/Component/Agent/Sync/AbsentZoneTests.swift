import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: a zone that the cloud hides and shows again costs nothing; one that stays away is asked about, and given up in
/// time. Method: a whole agent in virtual time against a scripted cloud.
@Suite("Zones that the cloud hides", .timeLimit(.minutes(1))) struct AbsentZoneTests {
  private static let table = AgentCluster.samples

  private static func status(_ device: AgentCluster.Device) async throws -> TableStatusView {
    try #require(try await device.agent.store.status(of: AgentCluster.app).first { $0.table == table })
  }

  private static func hide(_ device: AgentCluster.Device, _ isHidden: Bool) {
    device.cloud.state.withLock { if isHidden { $0.hidden.insert(table.name) } else { $0.hidden.remove(table.name) } }
  }

  /// One row is at the cloud, one is not, and the cloud says that there is no zone.
  private static func begin(_ device: AgentCluster.Device) async throws {
    try await device.register(table)
    try await device.write("sent", to: table)
    try await device.pass(.seconds(5))
    #expect(device.rows(in: table) == 1)
    hide(device, true)
    try await device.write("unsent", to: table)
    try await device.pass(.seconds(5))
    let status = try await status(device)
    #expect(status.zoneIsGone && status.aside == 1 && status.rows == 0)
  }

  @Test("TRU-14: a push that hears it keeps its rows; when the zone is there again they go, unasked")
  func back() throws {
    try AgentCluster.run { device in
      try await Self.begin(device)
      await #expect { try await device.write("more", to: Self.table) } throws: {
        ($0 as? CaravanError)?.code == .zoneDoesNotExist
      }
      Self.hide(device, false)
      try await device.pass(.seconds(700))
      let status = try await Self.status(device)
      #expect(!status.zoneIsGone && status.rows == 2 && status.dirty == 0)
      #expect(device.rows(in: Self.table) == 2)
    }
  }

  @Test("TRU-14: when an app syncs, it is told; and the answer, ten minutes later, is believed")
  func gone() throws {
    try AgentCluster.run { device in
      try await Self.begin(device)
      await #expect {
        try await device.agent.engine.syncNow(Self.table, write: true, read: true)
      } throws: { ($0 as? CaravanError)?.code == .zoneDoesNotExist }
      try await device.pass(.seconds(500))
      #expect(try await Self.status(device).aside == 1)
      try await device.pass(.seconds(900))
      let status = try await Self.status(device)
      #expect(!status.zoneIsGone && status.rows == 0 && status.dirty == 0)
    }
  }

  @Test("TRU-14: an agent that starts again asks again, and gives up no sooner for it")
  func restarted() throws {
    try AgentCluster.run(lives: 3) { device, life in
      switch life {
      case 0: try await Self.begin(device)
      case 1:
        Self.hide(device, true)
        try await device.pass(.seconds(400))
        #expect(try await Self.status(device).aside == 1)
        Self.hide(device, false)
      default:
        try await device.pass(.seconds(60))
        #expect(try await Self.status(device).rows == 2)
        #expect(device.rows(in: Self.table) == 2)
      }
    }
  }
}
