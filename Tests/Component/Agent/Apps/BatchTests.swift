import CaravanAgentStore
import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanWire
import Testing

/// Goal: an app's batch is one change. Method: apps on the socket.
@Suite("Batches of apps (REC-23)", .timeLimit(.minutes(2)))
struct BatchTests {
  @Test("REC-23: rows, objects, changes and deletions take effect when the closure has returned, and not before")
  func together() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        for name in ["a", "b", "c"] { try await table.write(["name": .text(name)]) }
        let photo = StoreFixture.noise(700_000)
        let ids = try await table.batch { batch in
          let short = try await batch.write(["name": .text("short")], contents: ["photo": [1, 2, 3]])
          let long = try await batch.write(["name": .text("long")], contents: ["photo": photo])
          let streamed = try await batch.write(["name": .text("streamed")], objects: ["photo"]) { writer in
            try await writer.write(photo.prefix(600_000), to: "photo", at: 0)
          }
          try await batch.update(.init("name = 'a'"), ["date": .integer(7)])
          try await batch.update(.init("name = 'b'"), [:], contents: ["photo": [9]])
          #expect(try await batch.delete(.init("name = 'c'")).count == 1)
          #expect(try await table.rows().all().count == 3)
          return [short, long, streamed]
        }
        let rows = try await table.rows().all()
        #expect(rows.map { $0["name"] } == ["a", "b", "short", "long", "streamed"].map { .text($0) })
        #expect(rows.map { $0["date"] } == [.integer(7), .null, .null, .null, .null])
        #expect(rows.map { $0.objects["photo"] ?? 0 } == [0, 1, 3, 700_000, 600_000])
        #expect(rows.suffix(3).map(\.id) == ids)
        #expect(try await table.contents(of: "photo", row: ids[1]).all() == photo)
      }
    }
  }

  @Test("REC-23: a closure that throws, and a commit that is refused, change nothing and leave nothing open")
  func allOrNone() async throws {
    struct Enough: Error {}
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", "name VARCHAR PRIMARY KEY, photo OBJECT")
        await #expect(throws: Enough.self) {
          try await table.batch { batch in
            try await batch.write(["name": .text("a")], contents: ["photo": [1]])
            throw Enough()
          }
        }
        let taken = try await refusal {
          try await table.batch { batch in
            try await batch.write(["name": .text("a")])
            try await batch.write(["name": .text("b")])
            try await table.write(["name": .text("b")])
          }
        }
        #expect(taken.code == .objectExists)
        #expect(try await table.rows().all().map { $0["name"] } == [.text("b")])
        // What a refused commit had open would be in the way.
        for _ in 0..<40 {
          _ = try await refusal {
            try await table.batch { batch in
              try await batch.update(.all, [:], contents: ["photo": [2]])
              try await batch.write(["name": .text("b")])
            }
          }
        }
        #expect(try await table.update(.all, [:], contents: ["photo": [3]]).count == 1)
      }
    }
  }

  @Test("an empty batch is nothing, and one that has ended takes no more")
  func ended() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema)
        let batch = try await table.batch { $0 }
        #expect(try await refusal { try await batch.write(["name": .text("a")]) }.code == .cancelled)
        #expect(try await table.rows().all().isEmpty)
      }
    }
  }

  @Test("a deletion among writes is held and says nothing but what goes; a close names writes")
  func badRequests() async throws {
    try await AppFixture.with { f in
      try await f.app { _ = try await $0.createTable("t", AppFixture.schema) }
      let peer = try await f.raw("album", isNew: false)
      let bad: [AppRequest.Kind] = [
        .beginWrite(BeginWrite(table: "t", deletion: true)),
        .beginWrite(BeginWrite(table: "t", cells: [Cell(column: "name")], hold: true, deletion: true)),
        .beginWrite(BeginWrite(table: "t", objects: ["photo"], hold: true, deletion: true)),
        .closeWrite(CloseWrite()), .closeWrite(CloseWrite(writes: [77], abandon: true)),
      ]
      for (index, kind) in bad.enumerated() {
        await peer.send(AppRequest(id: UInt64(10 + index), kind: kind))
        guard case .failure(let failure)? = try await peer.receive()?.kind else {
          Issue.record("\(kind) was not refused")
          continue
        }
        #expect(failure.model().code == .invalidData)
      }
    }
  }
}
