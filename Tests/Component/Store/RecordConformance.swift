import CaravanModel
import CaravanStore
import CaravanWire
import Testing

/// Goal: any store keeps the promises of records, ops and paging. Method: the protocol only, on every kind of store.
@Suite(.timeLimit(.minutes(2))) struct RecordConformance {
  @Test("UNI-01, CK-41: saves take seqs, an update moves its one entry", arguments: StoreKind.allCases)
  func saves(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let first = try await bench.commit(zone, [Sample.save("a"), Sample.save("b", body: [])])
      #expect(first.accepted == [1, 2])
      guard case .applied(_, 2, let incarnation, _) = first else { throw Unexpected(first) }
      #expect(incarnation > 0)
      #expect(
        try await bench.outcomes(zone, [Sample.save("a", base: .version(1), body: [9])]) == [.accepted(version: 3)])

      let entries = try await bench.pull(zone)
      #expect(entries.map(\.name) == ["b", "a"] && entries.map(\.version) == [2, 3])
      #expect(entries.map(\.created) == [2, 1] && entries.map(\.body) == [[], [9]])
      #expect(entries.allSatisfy { $0.writer == "phone" && $0.type == 1 && !$0.deleted && !$0.own })
      let fetched = try await bench.store.fetch(["a", "none", "b"], in: zone)
      #expect(
        fetched.map(\.name) == ["a", "b"] && fetched.map(\.version) == [3, 2] && fetched.map(\.body) == [[9], []])
    }
  }

  @Test("CK-25: a save on another base is a conflict and shows the server's copy", arguments: StoreKind.allCases)
  func conflicts(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("a", body: [1])])
      let server = try #require(try await bench.store.fetch(["a"], in: zone).first)
      let outcomes = try await bench.outcomes(
        zone,
        [
          Sample.save("a", base: .absent), Sample.save("b", base: .version(4)), Sample.save("c"),
          Sample.delete("a", base: .version(9)),
        ])
      #expect(
        outcomes == [
          .conflict(server: server), .conflict(server: nil), .accepted(version: 2), .conflict(server: server),
        ])
      #expect(try await bench.outcomes(zone, [Sample.delete("a")]) == [.accepted(version: 3)])
      let gone = try await bench.outcomes(zone, [Sample.save("a", base: .version(1))])
      guard case .conflict(let tombstone?) = gone.first else { throw Unexpected(gone) }
      #expect(tombstone.isDeleted && tombstone.version == 3 && tombstone.created == 1 && tombstone.body == [])
    }
  }

  @Test("commits handed over together stand each for itself, in their order", arguments: StoreKind.allCases)
  func together(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let users = ["ada", "bob", "cyd", "dan"]
      func commit(_ user: String, _ number: UInt64, _ name: String) throws -> Commit {
        Commit(
          zone: try Sample.zone(of: user), op: OpID(writer: user, epoch: 1, number: number), isAtomic: false,
          mutations: [Sample.save(name)])
      }
      var commits = try users.map { try commit($0, 1, "a") }
      commits.insert(try commit("eve", StoreLimits.highestNumber + 1, "refused"), at: 2)
      // One op twice is done once.
      commits.append(commits[0])
      let results = await bench.store.commit(commits)
      #expect(results.count == 6)
      for (place, result) in results.enumerated() {
        guard place != 2 else {
          #expect(throws: CaravanError.self) { try result.get() }
          continue
        }
        #expect(try result.get().accepted == [1])
      }
      for user in users { #expect(try await bench.pull(Sample.zone(of: user)).map(\.name) == ["a"]) }
      #expect(try await bench.pull(Sample.zone(of: "eve")).isEmpty)
      #expect(await bench.store.commit([]).isEmpty)
    }
  }

  @Test("CK-23: an atomic batch is all or nothing", arguments: StoreKind.allCases)
  func atomic(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("a")])
      let mixed = [Sample.save("n"), Sample.save("a", base: .absent)]
      let outcomes = try await bench.outcomes(zone, mixed, atomic: true)
      #expect(outcomes.first == .aborted)
      #expect(try await bench.store.fetch(["n"], in: zone).isEmpty)
      #expect(try await bench.outcomes(zone, [Sample.save("n"), Sample.save("m")], atomic: true).count == 2)
      #expect(try await bench.pull(zone).map(\.name) == ["a", "n", "m"])
    }
  }

  @Test("UNI-07, REC-25: an op sent again has the same result and no effect", arguments: StoreKind.allCases)
  func replay(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("a", body: [1])])
      let op = bench.op()
      let mutations = [Sample.save("x"), Sample.save("a", base: .absent), Sample.delete("none")]
      let first = try await bench.commit(zone, mutations, op: op)
      try await bench.commit(zone, [Sample.save("a", body: [2]), Sample.save("x", body: [3])])
      let again = try await bench.commit(zone, mutations, op: op)
      #expect(again.accepted == first.accepted)
      guard case .applied(let outcomes, let seq, _, _) = again, case .conflict(let server?) = outcomes[1] else {
        throw Unexpected(again)
      }
      #expect(seq == 2 && server.body == [2], "a conflict shows what the store holds now")
      #expect(try await bench.pull(zone).map(\.body) == [[2], [3]])
      #expect(try await bench.store.settle(op, in: zone) == again)
    }
  }

  @Test("UNI-07: a settled op never applies", arguments: StoreKind.allCases)
  func settled(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let op = bench.op()
      #expect(try await bench.store.settle(op, in: zone) == .aborted)
      #expect(try await bench.commit(zone, [Sample.save("a")], op: op) == .aborted)
      #expect(try await bench.store.settle(op, in: zone) == .aborted)
      #expect(try await bench.store.fetch(["a"], in: zone).isEmpty)
    }
  }

  @Test(
    "UNI-07: an op id used in another zone is refused, not answered with the other's result",
    arguments: StoreKind.allCases)
  func foreignOp(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let op = bench.op()
      try await bench.commit(Sample.zone("one"), [Sample.save("a")], op: op)
      let error = await #expect(throws: CaravanError.self) {
        try await bench.commit(Sample.zone("two"), [Sample.save("a")], op: op)
      }
      #expect(error?.code == .invalidData)
      #expect(try await bench.commit(Sample.zone("one"), [Sample.save("a")], op: op).accepted == [1])
    }
  }

  @Test("UNI-07: settle and commit race; both tell the same story", arguments: StoreKind.allCases)
  func race(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      for round in 0..<60 {
        let op = bench.op()
        let name = "r\(round)"
        async let commit = bench.commit(zone, [Sample.save(name)], op: op)
        async let settle = bench.store.settle(op, in: zone)
        let (committed, told) = try await (commit, settle)
        let exists = try await bench.store.fetch([name], in: zone).count == 1
        #expect(committed == told && (committed == .aborted) == !exists)
      }
    }
  }

  @Test(
    "UNI-07: an op below its writer's floor is refused; other writers and epochs are not touched",
    arguments: StoreKind.allCases)
  func floors(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      let ops = (1...300).map { OpID(writer: "phone", epoch: 1, number: UInt64($0)) }
      for op in ops { try await bench.commit(zone, [Sample.save("a")], op: op, floor: op.number) }
      let late = await #expect(throws: CaravanError.self) {
        try await bench.commit(zone, [Sample.save("a")], op: ops[0])
      }
      #expect(late?.code == .invalidData)
      await #expect(throws: CaravanError.self) { try await bench.store.settle(ops[0], in: zone) }
      #expect(try await bench.commit(zone, [], op: ops[299]).accepted == [300], "the newest is kept")
      let other = OpID(writer: "phone", epoch: 2, number: 1)
      #expect(try await bench.commit(zone, [Sample.save("a")], op: other).accepted == [301])
      #expect(try await bench.store.fetch(["a"], in: zone).first?.version == 301)
    }
  }

  @Test("CK-43: a tombstone is sent to whoever may hold the record, and to nobody else", arguments: StoreKind.allCases)
  func elision(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("old")])
      let (start, _) = try await bench.page(ChangeQuery(zone: zone))
      try await bench.commit(zone, [Sample.save("new")])
      try await bench.commit(zone, [Sample.delete("old"), Sample.delete("new")])
      let seen = try await bench.pull(zone, from: start.next)
      #expect(seen.map(\.name) == ["old"] && seen[0].deleted && seen[0].created == 1 && seen[0].version == 3)
      #expect(try await bench.pull(zone).isEmpty, "a new device holds nothing that could be gone")
      let page = try await bench.store.changes(ChangeQuery(zone: zone))
      #expect(page.next?.seq == 4 && !page.more, "elided entries are passed all the same")
      let reader = ChangeQuery(zone: zone, position: start.next, reader: .init(writer: "tablet", epoch: 1))
      #expect(try await bench.page(reader).1.map(\.name) == ["old"], "it never wrote here")
      let writer = ChangeQuery(zone: zone, position: start.next, reader: .init(writer: "phone", epoch: 2))
      #expect(
        try await bench.page(writer).1.map(\.name) == ["old", "new"],
        "a writer holds what is newer than its position, whatever became of its store since")
    }
  }

  @Test("E11: a record made anew under an old name does not hide the old one's end", arguments: StoreKind.allCases)
  func recreation(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("a")])
      let (start, _) = try await bench.page(ChangeQuery(zone: zone))
      try await bench.commit(zone, [Sample.delete("a")])
      try await bench.commit(zone, [Sample.save("a", base: .absent)])
      try await bench.commit(zone, [Sample.delete("a")])
      let seen = try await bench.pull(zone, from: start.next)
      #expect(seen.map(\.deleted) == [true] && seen.map(\.created) == [1])
    }
  }

  @Test("UNI-11: what the reader wrote itself comes without its body", arguments: StoreKind.allCases)
  func own(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("mine")], op: bench.op("phone", epoch: 5))
      try await bench.commit(zone, [Sample.save("before")], op: bench.op("phone", epoch: 4))
      try await bench.commit(zone, [Sample.save("theirs")], op: bench.op("tablet", epoch: 5))
      let reader = ChangeQuery.Reader(writer: "phone", epoch: 5)
      let (_, entries) = try await bench.page(ChangeQuery(zone: zone, reader: reader))
      #expect(entries.map(\.own) == [true, false, false])
      #expect(entries.map(\.body) == [[], [1, 2, 3], [1, 2, 3]])
      #expect(entries.map(\.writer) == ["phone", "phone", "tablet"])
    }
  }

  @Test("MOB-51, MOB-52, E12: what the reader knows it wrote does not come at all", arguments: StoreKind.allCases)
  func known(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("mine"), Sample.save("gone")], op: bench.op("phone"))
      try await bench.commit(zone, [Sample.save("theirs")], op: bench.op("tablet"))
      try await bench.commit(zone, [Sample.delete("gone")], op: bench.op("phone"))
      try await bench.commit(zone, [Sample.save("news")], op: bench.op("phone"))
      func shown(_ reader: ChangeQuery.Reader) async throws -> [String] {
        let (page, entries) = try await bench.page(ChangeQuery(zone: zone, reader: reader))
        #expect(page.next?.seq == 5 && !page.more, "what is left out is passed all the same")
        return entries.map(\.name)
      }
      #expect(try await shown(.init(writer: "phone", epoch: 1, ownThrough: 4)) == ["theirs", "news"])
      #expect(try await shown(.init(writer: "phone", epoch: 1, ownThrough: 5)) == ["theirs"])
      #expect(try await shown(.init(writer: "phone", epoch: 2, ownThrough: 5)).contains("mine"), "another life of it")
      #expect(try await shown(.init(writer: "tablet", epoch: 1, ownThrough: 9)).contains("mine"))
    }
  }

  @Test("CK-40: pages end where batches end, and cut only a batch larger than a page", arguments: StoreKind.allCases)
  func paging(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      for batch in [4, 3, 9, 2] {
        let names = (0..<batch).map { "b\(batch).\($0)" }
        try await bench.commit(zone, names.map { Sample.save($0) })
      }
      var query = ChangeQuery(zone: zone, maxRecords: 6)
      var sizes: [Int] = []
      while true {
        let (page, entries) = try await bench.page(query)
        sizes.append(entries.count)
        query.position = page.next
        if !page.more { break }
      }
      // 4 | 3 (the nine do not fit) | 6 of the nine | its other 3 and the last 2
      #expect(sizes == [4, 3, 6, 5])
      for size in 1...19 { #expect(try await bench.pull(zone, maxRecords: size).count == 18) }
    }
  }

  @Test("CK-40: pages keep to their bytes, but for a single record that is larger", arguments: StoreKind.allCases)
  func pageBytes(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      for size in [100, 5_000, 200_000, 100, 100] {
        try await bench.commit(zone, [Sample.save("r\(bench.op().number)", body: [UInt8](repeating: 7, count: size))])
      }
      var query = ChangeQuery(zone: zone, maxBytes: 6_000)
      var counts: [Int] = []
      while true {
        let (page, entries) = try await bench.page(query)
        counts.append(entries.count)
        #expect(page.page.count <= 6_000 || entries.count == 1)
        query.position = page.next
        if !page.more { break }
      }
      #expect(counts == [2, 1, 2])
    }
  }

  @Test("a page's encoding is the one of the generated messages", arguments: [false, true])
  func encoding(isOwn: Bool) {
    let entries = [
      CaravanModel.Entry(name: "ä", version: 1, created: 1, type: 7, body: [0, 255], writer: "phone"),
      CaravanModel.Entry(
        name: String(repeating: "n", count: 255), version: 1 << 39, created: 0, isDeleted: true, writer: ""),
      CaravanModel.Entry(
        name: "x", version: 128, created: 127, body: [UInt8](repeating: 1, count: 70_000), writer: "p"),
    ]
    var page = EntryPageWriter()
    for entry in entries { page.append(entry, isOwn: isOwn) }
    let expected = EntryPage(
      entries: entries.map {
        var entry = CaravanWire.Entry($0)
        entry.own = isOwn
        if isOwn { entry.body = [] }
        return entry
      })
    #expect(page.bytes == expected.encoded() && page.count == 3)
  }
}
