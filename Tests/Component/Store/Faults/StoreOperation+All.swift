import CaravanModel
import CaravanStore
import CaravanWire

extension StoreOperation {
  /// Each is one transaction of the store's, which tries it again by itself where it may, or reads.
  static let all = commits + settlements + groups + locks + objects + zones + ownership + reads

  static let commits: [StoreOperation] = [
    StoreOperation("the first commit of a user") { place throws(CaravanError) in
      text(try await place.commit(1, [Sample.save("a", base: .absent), Sample.save("b")]))
    },
    StoreOperation("a batch that saves, deletes and reads") { place throws(CaravanError) in
      try await place.commit(1, [Sample.save("a"), Sample.save("b"), Sample.save("c")])
    } act: { place throws(CaravanError) in
      text(
        try await place.commit(
          2,
          [
            Sample.save("a", base: .version(1), body: [9]), Sample.delete("b", base: .version(2)),
            Sample.read("c", base: .version(3)), Sample.save("b", base: .absent, body: [7]),
          ]))
    },
    StoreOperation("a commit with an object, in the place of another") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1), Sample.chunk(2), Sample.chunk(3)], in: place.database)
      try await place.commit(1, [Sample.save("a", chunks: [Sample.hash(1), Sample.hash(2)])])
    } act: { place throws(CaravanError) in
      text(try await place.commit(2, [Sample.save("a", base: .version(1), chunks: [Sample.hash(2), Sample.hash(3)])]))
    },
    StoreOperation("a commit that lacks an object") { place throws(CaravanError) in
      text(try await place.commit(1, [Sample.save("a", chunks: [Sample.hash(1)])]))
    },
    StoreOperation("a deletion that takes others with it") { place throws(CaravanError) in
      try await place.commit(
        1,
        [
          Sample.save("root"), Sample.link("leaf", to: [CaravanModel.Reference(to: "root", .owning)]),
          Sample.link("twig", to: [CaravanModel.Reference(to: "leaf", .owning)]),
        ])
    } act: { place throws(CaravanError) in
      text(try await place.commit(2, [Sample.delete("root")]))
    },
    StoreOperation("a merge of fields") { place throws(CaravanError) in
      let terms = WriteTerms(scope: .changed, policy: .fieldMerge)
      try await place.commit(1, [Sample.save("r", base: .absent, [1: .text("a")], terms)])
      try await place.commit(2, [Sample.save("r", base: .version(1), [1: .text("b")], terms)])
    } act: { place throws(CaravanError) in
      let terms = WriteTerms(scope: .changed, policy: .fieldMerge)
      return text(try await place.commit(3, [Sample.save("r", base: .version(1), [2: .integer(2)], terms)]))
    },
    StoreOperation("some rows in conflict, the others not") { place throws(CaravanError) in
      try await place.commit(1, [Sample.save("a"), Sample.save("b")])
    } act: { place throws(CaravanError) in
      text(
        try await place.commit(
          2, [Sample.save("a", base: .absent), Sample.save("b", base: .version(2)), Sample.save("c")], atomic: false))
    },
    StoreOperation("a batch that fails as a whole") { place throws(CaravanError) in
      try await place.commit(1, [Sample.save("a")])
    } act: { place throws(CaravanError) in
      text(try await place.commit(2, [Sample.save("b"), Sample.save("a", base: .absent)]))
    },
    StoreOperation("finding what is over, and deleting it") { place throws(CaravanError) in
      let over = WriteTerms(expiry: .at(1))
      try await place.commit(1, [Sample.save("a", [:], over), Sample.save("b"), Sample.save("c", [:], over)])
    } act: { place throws(CaravanError) in
      let over = try await place.store.expired(after: nil, atMost: 4_096).filter { $0.zone == place.zone }
      // None, when it was done before and nobody heard of it.
      guard over.isEmpty || over.map(\.version) == [1, 3] else { return "found \(over)" }
      return text(
        try await place.commit(
          2, [Sample.delete("a", base: .version(1)), Sample.delete("c", base: .version(3))], atomic: false))
    },
    StoreOperation("a commit that moves its writer's floor") { place throws(CaravanError) in
      for number in 1...9 { try await place.commit(UInt64(number), [Sample.save("a\(number)")]) }
    } act: { place throws(CaravanError) in
      text(try await place.commit(10, [Sample.save("b")], floor: 9))
    },
  ]

  static let settlements: [StoreOperation] = [
    StoreOperation("a commit that came before") { place throws(CaravanError) in
      try await place.commit(1, [Sample.save("a")])
    } act: { place throws(CaravanError) in
      text(try await place.commit(1, [Sample.save("a")]))
    },
    StoreOperation("a commit below its writer's floor: refused") { place throws(CaravanError) in
      try await place.commit(9, [Sample.save("a")], floor: 9)
    } act: { place throws(CaravanError) in
      try await refusal { () throws(CaravanError) in try await place.commit(1, [Sample.save("b")]) }
    },
    StoreOperation("an op of another zone: refused") { place throws(CaravanError) in
      try await place.commit(1, [Sample.save("a")])
    } act: { place throws(CaravanError) in
      let other = try ZoneID(place.database, "other")
      return try await refusal { () throws(CaravanError) in
        try await place.store.commit(
          Commit(zone: other, op: place.op(1), isAtomic: true, mutations: [Sample.save("b")]))
      }
    },
    StoreOperation("settling what never came") { place throws(CaravanError) in
      text(try await place.store.settle(place.op(1), in: place.zone))
    },
    StoreOperation("settling what came") { place throws(CaravanError) in
      try await place.commit(1, [Sample.save("a")])
    } act: { place throws(CaravanError) in
      text(try await place.store.settle(place.op(1), in: place.zone))
    },
  ]

  /// A refusal by the store's rules is an answer, a fault is none.
  private static func refusal(
    _ body: () async throws(CaravanError) -> CommitResult
  ) async throws(CaravanError) -> String {
    do throws(CaravanError) { return text(try await body()) } catch {
      guard !error.isTransient else { throw error }
      return "refused \(error.code)"
    }
  }

  static let objects: [StoreOperation] = [
    StoreOperation("staging two chunks, one of them again") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database)
    } act: { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1), Sample.chunk(2, size: 9_000)], in: place.database)
      return "staged"
    },
    StoreOperation("staging chunks for one user, where another has staged some") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database, as: .staged(by: "eve"))
    } act: { place throws(CaravanError) in
      let chunks = [Sample.chunk(1), Sample.chunk(2, size: 9_000)]
      try await place.store.stage(chunks, in: place.database, as: .staged(by: "ann"))
      return "staged"
    },
    StoreOperation("asking what is missing of what a user has staged") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database, as: .staged(by: "ann"))
    } act: { place throws(CaravanError) in
      let hashes = [Sample.hash(1), Sample.hash(2)]
      return "\(try await place.store.missing(hashes, in: place.database, as: .staged(by: "ann")))"
    },
    StoreOperation("asking what a user sees") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database, as: .staged(by: "ann"))
    } act: { place throws(CaravanError) in
      let hashes = [Sample.hash(1), Sample.hash(2)]
      return "\(try await place.store.visible(hashes, in: place.database, as: .staged(by: "ann")))"
    },
    StoreOperation("asking what is missing") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database)
    } act: { place throws(CaravanError) in
      "\(try await place.store.missing([Sample.hash(1), Sample.hash(2)], in: place.database))"
    },
  ]

  static let zones: [StoreOperation] = [
    StoreOperation("making a zone") { place throws(CaravanError) in
      "\(try await place.store.createZone(place.zone, writer: place.name).seq)"
    },
    StoreOperation("deleting a zone", isRepeatable: false) { place throws(CaravanError) in
      try await place.commit(1, [Sample.save("a"), Sample.save("b")])
    } act: { place throws(CaravanError) in
      "\(try await place.store.deleteZone(place.zone, writer: place.name))"
    },
  ]

  static let ownership: [StoreOperation] = [
    StoreOperation("taking a lease") { place throws(CaravanError) in
      let leases = try await place.store.lease(["\(place.name)/lease"], holder: "me", ttl: .seconds(60))
      return "\(leases.map { ($0.isGranted, $0.token) })"
    },
    StoreOperation("moving a cursor") { place throws(CaravanError) in
      _ = try await place.store.lease(["\(place.name)/lease"], holder: "me", ttl: .seconds(60))
    } act: { place throws(CaravanError) in
      let proof = LeaseProof(lease: "\(place.name)/lease", token: 1)
      try await place.store.moveCursor(of: place.name, in: Partition(of: place.database), to: 5, proof: proof)
      return "moved"
    },
  ]

  static let reads: [StoreOperation] = [
    StoreOperation("a pull", prepare: fill) { place throws(CaravanError) in
      let start = try await place.store.changes(ChangeQuery(zone: place.zone)).next?.moved(to: 1)
      let page = try await place.store.changes(ChangeQuery(zone: place.zone, position: start))
      let entries = try EntryPage.decode(page.page).entries.map { text($0.model()) }
      return "\(entries) to \(page.next?.seq ?? 0), \(page.more)"
    },
    StoreOperation("a fetch", prepare: fill) { place throws(CaravanError) in
      "\(try await place.store.fetch(["a", "b", "none"], in: place.zone).map { text($0) })"
    },
    StoreOperation("reading chunks", prepare: fill) { place throws(CaravanError) in
      "\(try await place.store.chunks([Sample.hash(1), Sample.hash(2)], in: place.database, maxBytes: 1 << 20))"
    },
    StoreOperation("listing zones", prepare: fill) { place throws(CaravanError) in
      let partition = Partition(of: place.database)
      return "\(try await place.store.zones(in: partition, .database(place.database)).map(\.seq))"
    },
    StoreOperation("reading the log", prepare: fill) { place throws(CaravanError) in
      let page = try await place.store.log(of: Partition(of: place.database), after: 0, atMost: 4_096)
      return "\(page.entries.filter { $0.zone == place.zone }.map { [$0.low, $0.high] })"
    },
  ]

  private static let fill: @Sendable (Place) async throws(CaravanError) -> Void = { place throws(CaravanError) in
    try await place.store.stage([Sample.chunk(1)], in: place.database)
    try await place.commit(1, [Sample.save("a", chunks: [Sample.hash(1)]), Sample.save("b"), Sample.save("c")])
    try await place.commit(2, [Sample.delete("c")])
  }
}
