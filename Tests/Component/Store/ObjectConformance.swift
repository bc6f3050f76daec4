import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: what must go to the object store is known as surely as the records it belongs to. Method: the protocol only,
/// on every kind of store; time in the test's hands.
@Suite(.timeLimit(.minutes(2))) struct ObjectConformance {
  private static func photo(_ name: String, _ chunks: UInt8...) -> Mutation {
    Sample.save(name, chunks: chunks.map { Sample.hash($0) })
  }

  private static func with(
    _ kind: StoreKind, _ body: (StoreBench, ZoneID) async throws -> Void
  ) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.store.stage((1...4).map { Sample.chunk($0) }, in: zone.database)
      try await body(bench, zone)
    }
  }

  @Test(
    "REC-10, REC-20: a commit notes its records with objects; a later write takes the place of an earlier one",
    arguments: StoreKind.allCases)
  func noting(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      #expect(try await bench.store.objectTasks(atMost: 9).isEmpty)
      try await bench.commit(zone, [Self.photo("a", 1), Sample.save("plain"), Self.photo("b", 1, 2)])
      try await bench.commit(zone, [Self.photo("a", 3)])
      let tasks = try await bench.store.objectTasks(atMost: 9).sorted { $0.name < $1.name }
      #expect(tasks.map(\.name) == ["a", "b"] && tasks.map(\.version) == [4, 3])
      #expect(tasks.allSatisfy { $0.zone == zone && $0.attempts == 0 && $0.paths.isEmpty && $0.entry != nil })
      #expect(tasks.map { $0.entry?.version } == [4, 3])
      #expect(try await bench.store.objectCounts(of: nil, in: nil) == ObjectCounts(waiting: 2))
      try await bench.store.finish(tasks[0], .done, paths: ["p/a"])
      try await bench.store.finish(tasks[1], .done, paths: ["p/b"])
      #expect(try await bench.store.objectTasks(atMost: 9).isEmpty)
      #expect(try await bench.store.objectCounts(of: nil, in: nil) == ObjectCounts())
      // Gone, and with another content.
      try await bench.commit(zone, [Sample.delete("a"), Sample.save("b")])
      let changed = try await bench.store.objectTasks(atMost: 9).sorted { $0.name < $1.name }
      #expect(changed.map(\.paths) == [["p/a"], ["p/b"]] && changed.map { $0.entry?.isDeleted } == [true, false])
      for task in changed { try await bench.store.finish(task, .done, paths: []) }
      try await bench.commit(zone, [Sample.save("b")])
      #expect(try await bench.store.objectTasks(atMost: 9).isEmpty, "nothing is there, and nothing to be brought")
    }
  }

  @Test("an empty object is noted too, where nothing but empty ones is, and goes", arguments: StoreKind.allCases)
  func empty(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      let nothing = CaravanModel.Value.asset(AssetManifest(parts: []))
      try await bench.commit(
        zone, [Sample.save("one", [1: .text("x"), 2: nothing]), Sample.save("plain", [1: .text("x")])])
      try await bench.commit(zone, [Sample.save("list", [1: .list([nothing])])])
      let tasks = try await bench.store.objectTasks(atMost: 9).sorted { $0.name < $1.name }
      #expect(tasks.map(\.name) == ["list", "one"])
      for task in tasks { try await bench.store.finish(task, .done, paths: ["p/\(task.name)"]) }
      try await bench.commit(zone, [Sample.delete("one")])
      #expect(try await bench.store.objectTasks(atMost: 9).map(\.paths) == [["p/one"]])
      _ = try await bench.store.deleteZone(zone, writer: "phone")
      try await bench.collectAll()
      #expect(Set(try await bench.store.objectTasks(atMost: 9).map(\.paths)) == [["p/one"], ["p/list"]])
    }
  }

  @Test(
    "a task that failed comes again after its wait; what was written meanwhile comes at once",
    arguments: StoreKind.allCases)
  func failing(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      try await bench.commit(zone, [Self.photo("a", 1), Self.photo("b", 2)])
      let tasks = try await bench.store.objectTasks(atMost: 9).sorted { $0.name < $1.name }
      try await bench.store.finish(tasks[0], .failed("down", retryAfter: .seconds(5)), paths: ["p/half"])
      try await bench.store.finish(tasks[1], .refused("too large"), paths: [])
      #expect(try await bench.store.objectTasks(atMost: 9).isEmpty)
      let counts = try await bench.store.objectCounts(of: nil, in: nil)
      #expect(counts.waiting == 1 && counts.failing == 1 && counts.refused == 1)
      bench.clock.advance(by: .seconds(6))
      let again = try #require(try await bench.store.objectTasks(atMost: 9).first)
      #expect(again.name == "a" && again.attempts == 1 && again.paths == ["p/half"])
      try await bench.commit(zone, [Self.photo("a", 3), Self.photo("b", 4)])
      try await bench.store.finish(again, .done, paths: ["p/a"])
      let new = try await bench.store.objectTasks(atMost: 9).sorted { $0.name < $1.name }
      #expect(new.map(\.name) == ["a", "b"] && new[0].version == 3 && new[0].paths == ["p/a"])
      // Somebody thought to be dead ends the older version after the newer one.
      for task in new { try await bench.store.finish(task, .done, paths: ["p/\(task.name)"]) }
      try await bench.store.finish(again, .done, paths: ["p/old"])
      #expect(try await bench.store.objectTasks(atMost: 9).map(\.paths) == [["p/old"]])
    }
  }

  @Test("objects go with their zone; a zone made anew has its own", arguments: StoreKind.allCases)
  func zones(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      try await bench.commit(zone, [Self.photo("a", 1)])
      let first = try #require(try await bench.store.objectTasks(atMost: 9).first)
      try await bench.store.finish(first, .done, paths: ["p/a"])
      _ = try await bench.store.deleteZone(zone, writer: "phone")
      try await bench.collectAll()
      try await bench.commit(zone, [Self.photo("a", 2)])
      let tasks = try await bench.store.objectTasks(atMost: 9).sorted { $0.incarnation < $1.incarnation }
      #expect(tasks.map(\.paths) == [["p/a"], []] && tasks.map { $0.entry?.name } == [nil, "a"])
      try await bench.store.finish(tasks[0], .done, paths: [])
      #expect(try await bench.store.objectTasks(atMost: 9).map(\.incarnation) == [tasks[1].incarnation])
    }
  }

  @Test("REC-28: how the objects of one group stand", arguments: StoreKind.allCases)
  func groups(kind: StoreKind) async throws {
    try await Self.with(kind) { bench, zone in
      try await bench.commit(zone, [Self.photo("other", 1)])
      let op = bench.op()
      let mutations = [Self.photo("a", 1), Self.photo("b", 2), Self.photo("c", 3)]
      let parts = try await bench.stage(mutations, of: op, in: zone)
      _ = try await bench.commit(group: op, mutations, parts: parts, in: zone)
      #expect(try await bench.store.objectCounts(of: op, in: zone) == ObjectCounts(waiting: 3))
      let tasks = try await bench.store.objectTasks(atMost: 9).filter { $0.name != "other" }
      try await bench.store.finish(tasks[0], .done, paths: ["p/0"])
      try await bench.store.finish(tasks[1], .failed("down", retryAfter: .seconds(1)), paths: [])
      let some = ObjectCounts(waiting: 2, failing: 1, refused: 0, problem: "down")
      #expect(try await bench.store.objectCounts(of: op, in: zone) == some)
      for task in tasks[1...] { try await bench.store.finish(task, .refused("no"), paths: []) }
      #expect(try await bench.store.objectCounts(of: op, in: zone) == ObjectCounts(refused: 2, problem: "no"))
    }
  }
}
