import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import Foundation
import Testing

/// Goal: an agent opens what the agent before it left, with what was not sent. Method: directories that agents of
/// layout 4 left when they were killed (Tests/Fixtures/README.md), against what their own commands showed.
@Suite("Directories that agents of releases before have left")
struct FixtureTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures/layout-4").path

  private static func unpack(into directory: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["tar", "--zstd", "-xf", "\(folder)/agents.tar.zst", "-C", directory]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "zstd is there: Deploy/packages test")
  }

  @Test("TRU-18, TRU-01: rows, unsent ones and a conflict are as they were", arguments: ["phone", "tablet"])
  func opens(device: String) async throws {
    let directory = try TemporaryDirectory()
    try Self.unpack(into: directory.path)
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/agents.json"))
    let all = try #require(JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
    let expected = try #require(all[device])
    let rows = try #require(expected["rows"] as? [[String: Any]])
    #expect(rows.count == 7 || rows.count == 8, "the expectation is read")
    let photos = TableID(app: ContainerID(unchecked: "album"), name: "photos")
    let store = try await LocalStore.open(
      "\(directory.path)/\(device)", host: StoreFixture.host(), options: LocalStoreOptions())
    #expect(try await store.problems() == [])
    let shown = try await store.beginRead(ReadRequest(table: photos), owner: 1).rows
    #expect(Set(shown.map(\.id)) == Set(rows.compactMap { $0["id"] as? String }))
    for row in rows {
      let view = try #require(shown.first { $0.id == row["id"] as? String })
      #expect(view.version == (row["version"] as? NSNumber)?.uint64Value)
      #expect("\(view.state)" == row["state"] as? String, "\(view)")
      let cells = row["cells"] as? [String: Any] ?? [:]
      let name = view.cells.first { $0.column == "name" }?.value
      #expect(name == (cells["name"] as? String).map { CaravanModel.Value.text($0) })
      let stars = view.cells.first { $0.column == "stars" }?.value
      #expect(stars == (cells["stars"] as? NSNumber).map { CaravanModel.Value.integer($0.int64Value) })
      let objects = row["objects"] as? [String: NSNumber] ?? [:]
      #expect(view.objects.map(\.size) == objects.values.map(\.uint64Value))
      #expect(view.authorship == nil)
    }
    let status = try #require(try await store.status(of: photos.app).first { $0.table == photos })
    #expect(status.dirty == (expected["dirty"] as? NSNumber)?.intValue)
    let plan = try #require(try await store.collect(photos, maximumRows: 400, maximumBytes: 1 << 20))
    #expect(plan.mutations.count == (device == "phone" ? 3 : 1), "what was not sent is sent now")
    await store.close()
  }
}
