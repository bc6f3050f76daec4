import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanTestKit
import Testing

@Suite("Plans written down with the change")
struct PlanAtOnceTests {
  @Test("the change of a table that goes at once is planned with it; the next one waits for the outcome")
  func planned() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await f.store.planAtOnce([StoreFixture.photos])
      try await f.write("a", photo: [1, 2])
      #expect(try await f.rows().map(\.state) == [.pending])
      try await f.write("b")
      #expect(try await f.status().dirty == 1)
      let plan = try #require(try await f.collect())
      #expect(plan.op == 1 && plan.mutations.count == 1)
      #expect(try await f.collect() == nil, "handed out once")
      try await f.accept(plan, from: 10)
      let next = try #require(try await f.collect())
      #expect(next.op == 2 && next.mutations.count == 1)
    }
  }

  @Test("nothing is planned for other tables, or before there is a type")
  func others() async throws {
    try await StoreFixture.with { f in
      try await f.store.planAtOnce([StoreFixture.photos])
      try await f.write("before its type")
      #expect(try await f.status().pending == 0)
      try await f.agree()
      try await f.store.planAtOnce([])
      try await f.write("of a table that waits")
      #expect(try await f.status().pending == 0)
    }
  }

  @Test("a plan that nobody took is given up when the table no longer goes at once")
  func givenUp() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await f.store.planAtOnce([StoreFixture.photos])
      try await f.write("a")
      try await f.store.planAtOnce([])
      #expect(try await f.status().pending == 0)
      #expect(try await f.status().dirty == 1)
      let plan = try #require(try await f.collect())
      #expect(plan.op == 2, "a number is never used twice")
    }
  }

  @Test("UNI-07: after a crash it is a plan in flight like any other")
  func crash() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      try await f.store.planAtOnce([StoreFixture.photos])
      try await f.write("a")
      try await f.crash()
      #expect(try await f.store.plansInFlight().map(\.op) == [1])
    }
  }

  @Test("a change that fails leaves no plan and no number behind")
  func failure() async throws {
    try await StoreFixture.with { f in
      try await f.agree()
      let id = try await f.write("a")
      try await f.accept(try #require(try await f.collect()), from: 10)
      try await f.store.planAtOnce([StoreFixture.photos])
      let opened = try await f.store.openWrite(
        StoreFixture.photos, cells: [], objects: ["photo"], selection: Selection("name = ?", [.text("a")]),
        owner: f.owner)
      _ = try await f.store.delete(StoreFixture.photos, selection: Selection("name = ?", [.text("a")]))
      await #expect(throws: CaravanError.self) { try await f.store.closeWrite(opened.handle, owner: f.owner) }
      try await f.store.abandonWrite(opened.handle, owner: f.owner)
      let plan = try #require(try await f.collect())
      #expect(plan.op == 2 && plan.mutations.map(\.name) == [id])
    }
  }
}
