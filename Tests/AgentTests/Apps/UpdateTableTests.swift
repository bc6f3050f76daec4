import Client
import Model
import Testing

/// Goal: a table's properties change under it. Method: through the socket.
@Suite("updateTable")
struct UpdateTableTests {
  @Test("SIM-11: updateTable changes whether a table is synced, and loses nothing")
  func updateTable() async throws {
    try await AppFixture.with { f in
      try await f.app { client in
        let table = try await client.createTable("t", AppFixture.schema, isLocalOnly: true)
        try await table.write(["name": .text("x")], contents: ["photo": [1, 2, 3]])
        #expect(try await client.status().tables[0].dirty == 0)
        try await client.updateTable("t", .init(replication: .full))
        #expect(try await client.status().tables[0].dirty == 1)
        let row = try await table.rows().all()[0]
        #expect(try await table.contents(of: "photo", row: row.id).all() == [1, 2, 3])
        try await client.updateTable("t", .init(replication: .localOnly))
        #expect(try await table.rows().all().count == 1)
        await #expect { try await client.updateTable("u", .init(replication: .localOnly)) } throws: {
          ($0 as? CaravanError)?.code == .tableNotFound
        }
      }
    }
  }
}
