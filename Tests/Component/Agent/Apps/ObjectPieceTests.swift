import CaravanAgentStore
import CaravanClient
import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: pieces of objects that follow one another need no answers, and none is lost for that. Method: through the
/// socket.
@Suite("Pieces of objects")
struct ObjectPieceTests {
  @Test("a piece that more follow is answered only when it is refused")
  func waived() async throws {
    try await AppFixture.with { f in
      try await f.app { try await $0.createTable("t", AppFixture.schema) }
      let peer = try await f.raw("album")
      await peer.send(AppRequest(id: 1, kind: .beginWrite(BeginWrite(table: "t", objects: ["photo"]))))
      guard case .writeOpened(let opened)? = try await peer.receive()?.kind else {
        throw CaravanError(.internalError, "the write was not opened")
      }
      func piece(_ id: UInt64, _ object: String, at offset: UInt64, more: Bool) -> AppRequest {
        AppRequest(
          id: id,
          kind: .writeObject(WriteObject(write: opened.write, object: object, offset: offset, data: [9], more: more)))
      }
      await peer.send(piece(2, "photo", at: 0, more: true))
      await peer.send(piece(3, "nothing", at: 1, more: true))
      await peer.send(piece(4, "photo", at: 1, more: true))
      await peer.send(piece(5, "photo", at: 2, more: false))
      let refusal = try await peer.receive()
      #expect(refusal?.id == 3)
      guard case .failure? = refusal?.kind else { throw CaravanError(.internalError, "it was not refused") }
      #expect(try await peer.receive() == AppReply(id: 5, kind: .done(Empty())))
    }
  }

  @Test("a refusal in the middle of an object ends the write, whatever follows it; the row is not there")
  func refused() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        // The first pieces are within the limit, those behind them are not; the last is answered.
        let start = UInt64(StoreLimits.objectBytes() - 2 * ClientLimits.objectPieceBytes)
        await #expect {
          try await table.write(["name": .text("x")], objects: ["photo"]) {
            try await $0.write(StoreFixture.noise(7 * ClientLimits.objectPieceBytes + 5), to: "photo", at: start)
          }
        } throws: {
          ($0 as? CaravanError)?.code == .limitExceeded
        }
        #expect(try await table.rows().all().isEmpty)
        // As many requests as there may be are still possible: none waits for an answer that will not come.
        let end = UInt64(StoreLimits.objectBytes() - ClientLimits.objectPieceBytes)
        let bytes = StoreFixture.noise(2 * ClientLimits.objectPieceBytes)
        for _ in 0...ClientLimits.requestsInFlight {
          await #expect(throws: CaravanError.self) {
            try await table.write([:], objects: ["photo"]) { try await $0.write(bytes, to: "photo", at: end) }
          }
        }
        try await table.write(["name": .text("y")], contents: ["photo": [1]])
        #expect(try await table.rows().all().count == 1)
      }
    }
  }

  @Test("objects of every number of pieces come back as they were", arguments: 0...9)
  func whole(pieces: Int) async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        for count in [pieces * ClientLimits.objectPieceBytes, pieces * ClientLimits.objectPieceBytes + 1] {
          let bytes = StoreFixture.noise(count, seed: UInt64(count))
          let row = try await table.write([:], objects: ["photo"]) { try await $0.write(bytes, to: "photo", at: 0) }
          #expect(try await table.contents(of: "photo", row: row).all() == bytes)
        }
      }
    }
  }
}
