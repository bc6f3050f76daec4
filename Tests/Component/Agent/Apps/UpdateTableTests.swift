import CaravanAgentApps
import CaravanAgentCore
import CaravanAgentStore
import CaravanAgentSync
import CaravanClient
import CaravanModel
import CaravanTestKit
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

  @Test("UNI-15: a table that is local only is not synced, whoever asks, and nothing of it is overwritten")
  func localOnly() throws {
    let suite = try SuiteCluster(seed: 4)
    try suite.cluster.run(deadline: .seconds(600)) {
      let (a, b) = (try await suite.start("a"), try await suite.start("b"))
      for device in [a, b] {
        try await device.store.createTable(
          RunningDevice.table, schema: try SchemaText(parsing: "name VARCHAR PRIMARY KEY, number INTEGER"),
          localOnly: device.name == "b")
      }
      for (number, device) in [a, b].enumerated() { try await device.write("x", Int64(number)) }
      try await a.agent.engine.syncNow(RunningDevice.table, write: true, read: true)
      await #expect {
        try await b.agent.engine.syncNow(RunningDevice.table, write: true, read: true)
      } throws: {
        ($0 as? CaravanError)?.code == .invalidData
      }
      #expect(try await b.numbers() == ["x": 1])
      // Once it is synced, what both have made is a conflict.
      try await b.store.updateTable(RunningDevice.table, TableChange(replication: .full))
      try await b.agent.engine.syncNow(RunningDevice.table, write: true, read: true)
      #expect(try await b.store.status(of: RunningDevice.table.app)[0].conflicts == 1)
      #expect(try await b.numbers() == ["x": 1])
    }
  }
}
