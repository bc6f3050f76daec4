import AgentDriver
import Client
import Model
import TestKit
import Testing

/// Goal: an agent that hangs is told from one that works. Method: a socket on which nobody is let in.
@Suite("Patience with the agent")
struct PatienceTests {
  @Test("an agent that is stopped lets nobody in: who has patience for so long is told")
  func stopped() async throws {
    try await AppFixture.with { f in
      let path = f.socket + "2"
      let idle = try await AppServer(socket: path, store: f.store, sync: f.sync, host: f.host)
      await #expect {
        try await CaravanClient.withConnection(to: path, app: "x", within: .milliseconds(50)) { _ in }
      } throws: {
        ($0 as? CaravanError)?.code == .timedOut
      }
      idle.shutDown()
    }
  }
}
