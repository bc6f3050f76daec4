import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire

extension StoreOperation {
  /// What takes several transactions, of which each stands by itself; whoever asked asks again.
  static let maintenance: [StoreOperation] = [
    StoreOperation("beginning to read by snapshots") { place throws(CaravanError) in
      try await place.fill()
    } act: { place throws(CaravanError) in
      let page = try await place.read(nil)
      return "\(try names(page)) of \(page.next?.target ?? 0)"
    },
    StoreOperation("reading what only a snapshot has") { place throws(CaravanError) in
      try await place.fill()
      _ = try await place.read(nil)
      try await place.change()
    } act: { place throws(CaravanError) in
      try await place.readOn()
    },
    StoreOperation("collecting chunks that nobody needs") { place throws(CaravanError) in
      try await place.pass(StoreLimits.stagingLease)
      try await place.store.stage([Sample.chunk(1), Sample.chunk(2)], in: place.database)
      try await place.commit(1, [Sample.save("a", chunks: [Sample.hash(2)])])
      place.clock.advance(by: StoreLimits.stagingLease + StoreLimits.stagingGrace)
    } act: { place throws(CaravanError) in
      _ = try await place.store.collect()
      return "collected"
    },
    StoreOperation("collecting a group that nobody goes on with") { place throws(CaravanError) in
      try await place.pass(StoreLimits.groupLease)
      try await place.store.stage([Sample.chunk(1)], in: place.database)
      _ = try await place.store.beginGroup(place.op(1), floor: 0, in: place.zone)
      _ = try await place.store.stage(Groups.part(place.op(1), place.zone, 0, chunks: [1]))
      place.clock.advance(by: StoreLimits.groupLease + .seconds(1))
    } act: { place throws(CaravanError) in
      _ = try await place.store.collect()
      return "collected"
    } prove: { place throws(CaravanError) in
      // Its part goes in another step, from which the chunk's lease runs.
      for _ in 0..<2 { try await place.pass(StoreLimits.stagingLease + StoreLimits.stagingGrace) }
      let chunk = try await place.store.chunks([Sample.hash(1)], in: place.database, maxBytes: 1 << 20)
      return "\(text(try await place.commit(1, [Sample.save("a")]))), \(chunk.map { $0.bytes?.count })"
    },
    StoreOperation("collecting while a device reads by snapshots") { place throws(CaravanError) in
      try await place.pass(StoreLimits.snapshotPatience)
      try await place.fill()
      _ = try await place.read(nil)
      try await place.change()
    } act: { place throws(CaravanError) in
      _ = try await place.store.collect()
      return "collected"
    } prove: { place throws(CaravanError) in
      try await place.readOn()
    },
    StoreOperation("collecting what no device reads any more") { place throws(CaravanError) in
      try await place.pass(StoreLimits.snapshotPatience)
      try await place.fill()
      _ = try await place.read(nil)
      try await place.change()
      _ = try await place.store.collect()
      place.clock.advance(by: StoreLimits.snapshotPatience + .seconds(1))
    } act: { place throws(CaravanError) in
      _ = try await place.store.collect()
      return "collected"
    } prove: { place throws(CaravanError) in
      let rest = try await place.readOn()
      try await place.pass(StoreLimits.stagingLease + StoreLimits.stagingGrace)
      let chunk = try await place.store.chunks([Sample.hash(1)], in: place.database, maxBytes: 1 << 20)
      return "\(rest), \(chunk.map { $0.bytes?.count })"
    },
    StoreOperation("collecting a deleted zone") { place throws(CaravanError) in
      try await place.store.stage([Sample.chunk(1)], in: place.database)
      try await place.commit(1, [Sample.save("a", chunks: [Sample.hash(1)]), Sample.save("b")])
      _ = try await place.store.deleteZone(place.zone, writer: place.name)
    } act: { place throws(CaravanError) in
      while try await place.store.collect() {}
      return "collected"
    },
  ]

  fileprivate static func names(_ page: ChangePage) throws(CaravanError) -> [String] {
    try EntryPage.decode(page.page).entries.map { "\($0.name)@\($0.version)" }
  }
}

extension StoreOperation.Place {
  /// After which nothing is left to do of others' that were here before.
  fileprivate func pass(_ time: Duration) async throws(CaravanError) {
    clock.advance(by: time + .seconds(1))
    while try await store.collect() {}
  }

  /// Four versions.
  fileprivate func fill() async throws(CaravanError) {
    try await store.stage([Sample.chunk(1)], in: database)
    try await commit(1, [Sample.save("a", chunks: [Sample.hash(1)]), Sample.save("b"), Sample.save("c")])
    try await commit(2, [Sample.delete("c")])
  }

  /// A fifth and a sixth, in the place of the first and the second.
  fileprivate func change() async throws(CaravanError) {
    try await commit(3, [Sample.save("a", body: [9]), Sample.save("b", body: [9])])
  }

  fileprivate func read(_ position: CaravanModel.ChangePosition?) async throws(CaravanError) -> ChangePage {
    try await store.changes(
      ChangeQuery(
        zone: zone, position: position, maxRecords: position == nil ? 1 : 100,
        reader: .init(writer: "tablet", epoch: 1), bySnapshots: true))
  }

  /// Of the snapshot at the fourth version, of which the first is known.
  fileprivate func readOn() async throws(CaravanError) -> String {
    var position = try await store.changes(ChangeQuery(zone: zone)).next
    position?.seq = 1
    position?.target = 4
    let page = try await read(position)
    guard !page.resetRequired else { return "begin anew" }
    return "\(try StoreOperation.names(page)), consistent: \(page.isConsistent), to \(page.next?.seq ?? 0)"
  }
}
