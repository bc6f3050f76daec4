internal import CaravanAgentStore
internal import CaravanBus
internal import CaravanCLIDriver
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanStorageDriver
internal import CaravanStore
internal import CaravanTestKit
internal import CaravanWire

// Storage as the simulation looks at it, past the bus.
extension Store {
  /// Every live row of the zone.
  func entries(of place: Place) async throws(CaravanError) -> [CaravanModel.Entry] {
    let zone = try ZoneID(place.database, place.table)
    var query = ChangeQuery(zone: zone)
    var entries: [CaravanModel.Entry] = []
    while true {
      let page = try await changes(query)
      entries += try EntryPage.decode(page.page).entries.map { $0.model() }.filter { !$0.isDeleted }
      guard page.more else { return entries }
      query.position = page.next
    }
  }
}

extension App {
  static func versions(of place: Place, in store: LocalStore) async throws(CaravanError) -> [String: Seq] {
    var page = try await store.beginRead(ReadRequest(table: place.id, columns: ["tag"]), owner: owner)
    var rows = page.rows
    while page.hasMore {
      page = try await store.nextPage(page.cursor, owner: owner)
      rows += page.rows
    }
    return Dictionary(rows.map { ($0.id, $0.version) }) { first, _ in first }
  }
}

/// Looks at everything once all is quiet.
struct FinalCheck: Sendable {
  private let suite: Suite
  private let contents: Contents

  init(_ suite: Suite, _ contents: Contents) {
    self.suite = suite
    self.contents = contents
  }

  func outcome() async throws -> History.Outcome {
    guard let store = suite.vault.store else { throw SeedFailure(what: "storage is down at the end") }
    var outcome = suite.ground.recorder.history.end
    for user in suite.scale.users {
      for (_, place) in suite.scale.places(of: user) {
        let entries = try await store.entries(of: place)
        outcome.cloud[place] = try await rows(entries, of: place, store, &outcome.chunkProblems)
        if suite.scale.isQueried { outcome.queried[place] = try await query(place, expecting: entries) }
      }
    }
    for device in suite.devices { try await look(at: device, &outcome) }
    try await collectGarbage(store, &outcome.chunkProblems)
    return outcome
  }

  // MARK: The cloud

  private func rows(
    _ entries: [CaravanModel.Entry], of place: Place, _ store: any Store, _ problems: inout [String]
  ) async throws -> [SeenRow] {
    var rows: [SeenRow] = []
    for entry in entries {
      guard let tag = Recorder.tag(of: entry), var content = contents[tag] else {
        problems.append("row \(entry.name) of \(place) has no content that anybody wrote")
        continue
      }
      // Cells come from the body, the object from its chunks.
      let record = try RecordFields(body: entry.body)
      content.photo = nil
      var isSame = true
      for (_, value) in record.ascending {
        switch value {
        case .asset, .assetList:
          if let manifest = try await store.manifest(value, in: place.database) {
            content.photo = try await bytes(manifest, place, store, &problems)
          } else {
            problems.append("\(place) names a list that is not there")
          }
        case .integer(let number): content.n = number
        case .text(let text): isSame = isSame && [content.name, content.note, "\(tag)"].contains(text)
        case .null, .real, .data, .location, .reference, .list: continue
        }
      }
      if !isSame { content.note = "other text" }
      rows.append(SeenRow(entry.name, seq: entry.version, tag: tag, digest: content.digest(tag)))
    }
    return rows
  }

  private func bytes(
    _ manifest: AssetManifest, _ place: Place, _ store: any Store, _ problems: inout [String]
  ) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    let parts = manifest.parts
    let found = try await store.chunks(parts.map(\.hash), in: place.database, maxBytes: 64 << 20)
    for (part, chunk) in zip(parts, found) {
      if chunk.bytes?.count != Int(part.length) {
        problems.append("\(place) names chunk \(part.hash), which is not there")
      }
      bytes += chunk.bytes ?? []
    }
    return bytes
  }

  /// Waits until the index says that it has seen all.
  private func query(_ place: Place, expecting entries: [CaravanModel.Entry]) async throws -> [String: UInt64] {
    let bus = suite.ground.connect("inspector", as: .holder(.cli))
    defer { bus.close() }
    let partition = Partition(of: place.database)
    let expected = Dictionary(entries.map { ($0.name, $0.version) }) { first, _ in first }
    var found: [String: UInt64] = [:]
    for _ in 0..<40 {
      let request = QueryRequest(Query(database: place.database, type: place.table, limit: Limits.queryRows))
      do {
        let reply: QueryReply = try await bus.call(
          request, to: .partitioned(.query, partition, method: "find"), deadline: .seconds(5))
        found = Dictionary(reply.hits.map { ($0.entry?.name ?? "", $0.entry?.version ?? 0) }) { first, _ in first }
        if found == expected { return found }
      } catch {
        if error.code == .tableNotFound { return [:] }
      }
      try await suite.ground.simulation.host("inspector").host.clock.sleep(for: .seconds(1))
    }
    return found
  }

  // MARK: Devices

  private func look(at device: SimulatedDevice, _ outcome: inout History.Outcome) async throws {
    guard let session = device.slot.session else { throw SeedFailure(what: "\(device.name) is down at the end") }
    for (_, place) in suite.scale.places(of: device.user) {
      outcome.devices[device.name, default: [:]][place] = try await App.rows(of: place, in: session.store)
    }
    await device.checkLinkCosts()
    outcome.falseFigures += try await Figures(device: device, clock: device.part.machine.host.clock).problems()
    outcome.chunkProblems += try await session.store.problems().map { "\(device.name): \($0)" }
    // All rows here agree with the cloud's, so nothing but their chunks may be here.
    let named = try await distinctChunks(of: device, outcome.devices[device.name] ?? [:])
    let held = try await session.store.storedChunks()
    if held != named { outcome.chunkProblems.append("\(device.name) keeps \(held) chunks, its rows name \(named)") }
  }

  private func distinctChunks(of device: SimulatedDevice, _ rows: [Place: [SeenRow]]) async throws -> Int {
    guard let store = suite.vault.store else { return 0 }
    var hashes: Set<ChunkHash> = []
    for (_, place) in suite.scale.places(of: device.user) {
      let here = Set((rows[place] ?? []).map(\.row))
      for entry in try await store.entries(of: place) where here.contains(entry.name) {
        hashes.formUnion(try await store.chunks(of: entry, in: place.database))
      }
    }
    if suite.scale.hasPairs, device.name == suite.devices[0].name {
      let place = AtomicPairs.place(of: device.user)
      for entry in try await store.entries(of: place) {
        hashes.formUnion(try await store.chunks(of: entry, in: place.database))
      }
    }
    return hashes.count
  }

  // MARK: Garbage

  /// Long after the last write the cloud keeps the chunks that rows name, and no other. What only a snapshot or a zone
  /// that is gone still named has its own grace once these are collected.
  private func collectGarbage(_ store: any Store, _ problems: inout [String]) async throws {
    try await suite.waitForMoves()
    for _ in 0..<2 {
      suite.services[0].machine.adjustWallTime(
        by: StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(120))
      try suite.vault.clock?.accept()
      while try await store.collect() {}
    }
    var named = 0
    for user in suite.scale.users {
      var places = suite.scale.places(of: user).map(\.place)
      if suite.scale.hasPairs, user == suite.devices[0].user { places.append(AtomicPairs.place(of: user)) }
      for app in Set(places.map(\.app)).sorted() {
        var hashes: Set<ChunkHash> = []
        for place in places where place.app == app {
          for entry in try await store.entries(of: place) {
            hashes.formUnion(try await store.chunks(of: entry, in: place.database))
          }
        }
        named += hashes.count
      }
    }
    let kept = try await store.status().chunks
    if kept != UInt64(named) { problems.append("the cloud keeps \(kept) chunks, rows name \(named)") }
  }
}
