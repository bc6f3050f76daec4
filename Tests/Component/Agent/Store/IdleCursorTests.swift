import CaravanModel
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore

/// Goal: a read that its app has forgotten keeps no snapshot, and with it the log, for longer than its time. Method: a
/// whole agent in virtual time, of which nobody asks anything meanwhile.
@Suite("Idle cursors", .timeLimit(.minutes(2)))
struct IdleCursorTests {
  private static let chat = AgentCluster.chat
  private static let owner: UInt64 = 7

  private static func begin(_ device: AgentCluster.Device) async throws -> UInt64 {
    var request = ReadRequest(table: chat)
    request.pageRows = 1
    let page = try await device.agent.store.beginRead(request, owner: owner)
    #expect(page.hasMore)
    return page.cursor
  }

  private static func isOpen(_ cursor: UInt64, _ device: AgentCluster.Device) async throws -> Bool {
    do throws(CaravanError) { _ = try await device.agent.store.nextPage(cursor, owner: owner) } catch {
      guard error.code == .leaseExpired else { throw error }
      return false
    }
    return true
  }

  @Test("TRU-19: a cursor that nobody uses is closed by a timer when its time is over, and not before")
  func idle() throws {
    try AgentCluster.run { device in
      try await device.register(Self.chat)
      for number in 0..<9 { try await device.write("\(number)", to: Self.chat) }
      let (used, forgotten) = (try await Self.begin(device), try await Self.begin(device))
      try await device.pass(.seconds(40))
      #expect(try await Self.isOpen(used, device))
      try await device.pass(.seconds(19))
      #expect(await device.agent.store.open == [used, forgotten])
      try await device.pass(.seconds(2))
      #expect(await device.agent.store.open == [used])
      #expect(try await !Self.isOpen(forgotten, device))
      try await device.pass(.seconds(38))
      #expect(await device.agent.store.open == [used])
      try await device.pass(.seconds(2))
      #expect(await device.agent.store.open == [])
    }
  }
}

extension LocalStore {
  fileprivate var open: Set<UInt64> { Set(readers.cursors.keys) }
}
