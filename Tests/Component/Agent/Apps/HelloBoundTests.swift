import CaravanClient
import CaravanModel
import CaravanWire
import Testing

/// Goal: who has not said who it is can send little. Method: raw connections.
@Suite(.timeLimit(.minutes(1))) struct HelloBoundTests {
  @Test("TRU-02: before its hello an app may send a hello's bytes; afterwards a message as long as any")
  func beforeHello() async throws {
    try await AppFixture.with { f in
      let stranger = try RawPeer(f.socket)
      await stranger.send(Frame.head(message: 64 << 10))
      guard case .failure(let failure)? = try await stranger.receive()?.kind else {
        throw CaravanError(.internalError, "no answer")
      }
      #expect(failure.model().code == .limitExceeded)
      #expect(try await stranger.receive() == nil)
      let app = try await f.raw("album")
      let text = String(repeating: "x", count: 100_000)
      await app.send(AppRequest(id: 2, kind: .deleteRows(DeleteRows(table: text))))
      guard case .failure(let refusal)? = try await app.receive()?.kind else {
        throw CaravanError(.internalError, "no answer")
      }
      #expect(refusal.model().code != .limitExceeded || refusal.message.contains("announced") == false)
    }
  }
}
