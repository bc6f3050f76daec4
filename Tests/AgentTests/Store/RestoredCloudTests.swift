import AgentCore
import AgentDriver
import Model
import TestKit
import Testing
import Wire

/// Goal: a cloud that was restored from a backup costs no row that a device still has (UNI-18). Method: the store
/// alone.
@Suite struct RestoredCloudTests {
  @Test("UNI-18: rows that a restored cloud lost are sent again: over its older copy, as new, or they are in conflict")
  func restoredCloud() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let kept = try await f.synced("kept", version: 1)
      let rewritten = try await f.synced("rewritten", version: 8)
      _ = try await f.synced("made later", version: 9)
      let contested = try await f.synced("contested", version: 10)
      _ = try await f.synced("deleted before", version: 3)
      try await f.store.reset(StoreFixture.photos, lost: [LostRange(after: 5, through: 50)])
      #expect(try await f.collect() == nil, "nothing goes before all is named")
      let summary = try await f.apply([
        StoreFixture.entry(kept, 1, "kept"), StoreFixture.entry(rewritten, 2, "as it was"),
        StoreFixture.entry(contested, 51, "written since"),
      ])
      #expect(summary.removed == 1 && summary.conflicts == 1)
      #expect(try await f.names() == ["kept", "rewritten", "made later", "contested"])
      let plan = try #require(try await f.collect())
      #expect(plan.mutations.map(\.base) == [.version(2), .absent] && plan.mutations[0].name == rewritten)
      try await f.store.abort(plan.op)
      #expect(try await f.rows().map(\.state) == [.clean, .dirty, .dirty, .conflict])
    }
  }
}
