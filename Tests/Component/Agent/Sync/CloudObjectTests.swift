import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: apps save records of their public database with objects and read them, whole and in parts, on any device, and
/// what the cloud has of them from this user does not travel again. Method: apps' sessions on devices with real stores,
/// and the real services behind them, in one simulated cluster.
@Suite("Objects of public records", .timeLimit(.minutes(2))) struct CloudObjectTests {
  private static func photo(_ bytes: Int, seed: UInt64 = 1) -> [UInt8] { SeededRandom(seed: seed).bytes(bytes) }

  @Test("CK-24, CK-25: what one user saves, another reads, whole and in parts; small, empty and of many chunks")
  func roundTrip() throws {
    try RecordApps.run(seed: 71) { apps in
      let (ann, eve) = (try await apps.app("phone", of: "ann"), try await apps.app("laptop", of: "eve"))
      for (id, size) in [("none", 0), ("small", 900), ("some", 700_000), ("many", 5_000_000)] {
        let bytes = Self.photo(size)
        let saved = try await ann.save(id, ["text": .text(id)], objects: ["photo": bytes])
        #expect(saved.verdict == .done && saved.objects.map(\.size) == [UInt64(size)], "\(id): \(saved)")
        let row = try #require(try await eve.row(id))
        #expect(row.objects == [ObjectInfo(column: "photo", size: UInt64(size))] && row.value("text") == .text(id))
        #expect(try await eve.read("photo", of: id, version: row.version) == bytes, "\(id)")
        for range in [0..<1, size / 3..<size / 3 + 70_000, max(0, size - 5)..<size + 100, size..<size + 9] {
          let slice = try await eve.slice("photo", of: id, range.lowerBound, range.count, version: row.version)
          #expect(slice.size == UInt64(size))
          #expect(slice.data == Array(bytes[min(range.lowerBound, size)..<min(range.upperBound, size)]), "\(range)")
        }
      }
      for app in [ann, eve] {
        #expect(try await app.device.store.storedChunks() == 0, "nothing of it is kept on the disk")
        #expect(await app.device.store.chunkFileBytes() == 0)
      }
      let open = try await ann.open(["photo": Self.photo(900_000)])
      #expect(await ann.device.store.chunkFileBytes() > 0 && open > 0)
      await ann.session.end()
      #expect(await ann.device.store.chunkFileBytes() == 0, "what an app leaves open goes with it")
    }
  }

  @Test("CK-25: of an object that has changed a little, little travels; a conflict costs no second upload")
  func deltas() throws {
    try RecordApps.run(seed: 72) { apps in
      let (ann, tablet) = (try await apps.app("phone", of: "ann"), try await apps.app("tablet", of: "ann"))
      var bytes = Self.photo(3_000_000)
      let made = try await ann.save("m1", ["text": .text("a")], objects: ["photo": bytes])
      let first = ann.chunksUp
      #expect(made.verdict == .done && first > 20)
      bytes[1_000_000] ^= 1
      let other = try await tablet.save("m1", ["text": .text("b")], basedOn: nil)
      let lost = try await ann.save("m1", [:], basedOn: made.version, objects: ["photo": bytes])
      #expect(lost.verdict == .conflict && lost.row?.version == other.version)
      #expect(ann.chunksUp - first <= 1, "a conflict uploads nothing but the list")
      let saved = try await ann.save("m1", [:], basedOn: other.version, objects: ["photo": bytes])
      #expect(saved.verdict == .done)
      let more = ann.chunksUp - first
      #expect((1...4).contains(more), "\(more) chunks for one byte, and their list")
      #expect(try await tablet.read("photo", of: "m1", version: saved.version) == bytes)
      let copy = try await ann.save("m2", [:], objects: ["photo": bytes])
      #expect(copy.verdict == .done)
      let removed = try await tablet.save("m1", ["photo": .null], basedOn: nil)
      #expect(removed.verdict == .done)
      let bare = try #require(try await tablet.row("m1"))
      #expect(bare.objects.isEmpty && bare.value("text") == .text("b"))
    }
  }

  @Test("CK-65, CK-24: who may not see a record reads nothing of its objects, and whoever read an older one is told")
  func refusals() throws {
    try RecordApps.run(seed: 73) { apps in
      let (ann, eve) = (try await apps.app("phone", of: "ann"), try await apps.app("laptop", of: "eve"))
      let bytes = Self.photo(400_000)
      let made = try await ann.save("m1", ["text": .text("a")], objects: ["photo": bytes])
      func refusal(_ column: String, of id: String, version: UInt64) async -> String? {
        do { _ = try await eve.slice(column, of: id, 300_000, 9, version: version) } catch {
          return (error as? CaravanError)?.code.rawValue
        }
        return nil
      }
      #expect(await refusal("photo", of: "nothing", version: 0) == "noSuchObject")
      #expect(await refusal("text", of: "m1", version: 0) == "noSuchObject")
      #expect(await refusal("photo", of: "m1", version: made.version + 7) == "serverRecordChanged")
      #expect(try await eve.slice("photo", of: "m1", 0, 9, version: made.version).data == Array(bytes[..<9]))
      let changed = try await ann.save("m1", ["text": .text("b")], basedOn: nil)
      #expect(await refusal("photo", of: "m1", version: made.version) == "serverRecordChanged", "it has a manifest")
      #expect(try await eve.slice("photo", of: "m1", 0, 9, version: changed.version).data == Array(bytes[..<9]))
      try await apps.grant([(.world, [])])
      try await apps.clock.sleep(for: .seconds(61))
      #expect(await refusal("photo", of: "m1", version: changed.version) == "noSuchObject", "the ticket has ended")
      #expect(await refusal("photo", of: "m1", version: 0) == "noSuchObject")
      #expect(try await ann.read("photo", of: "m1", version: changed.version) == bytes)
      let forged = try await eve.save("m1", [:], basedOn: nil, objects: ["photo": bytes])
      #expect(forged.failure?.code == "accessDenied")
    }
  }

  @Test("UNI-07: a change with objects whose answer is lost is made once, and its objects go once")
  func lostAnswer() throws {
    let lossy = LostAnswers()
    try RecordApps.run(seed: 74, policy: lossy) { apps in
      let ann = try await apps.app("phone", of: "ann")
      _ = try await ann.save("other", ["text": .text("x")], objects: ["photo": [1]])
      let bytes = Self.photo(300_000)
      let objects = try await ann.open(["photo": bytes])
      let numbers = try await ann.reserve(1)
      let change = RecordChange(number: numbers.first, id: "m1", basedOn: 0, objects: objects)
      lossy.loses(to: "phone")
      _ = try? await ann.send([change], of: numbers.epoch)
      lossy.losesNothing()
      let kept = try await ann.send([change], of: numbers.epoch)
      #expect(kept.map(\.verdict) == [.done])
      #expect(try await ann.send([change], of: numbers.epoch) == kept)
      #expect(try await ann.read("photo", of: "m1", version: kept[0].version) == bytes)
      try await ann.close(objects)
      let gone = await #expect(throws: CaravanError.self) { try await ann.send([change], of: numbers.epoch) }
      #expect(gone?.code == .invalidData, "it was forgotten")
    }
  }
}

extension RecordApp {
  var chunksUp: UInt64 { device.agent.engine.metrics.chunksUp.value }

  func save(
    _ id: String, _ columns: [String: CaravanModel.Value], basedOn base: UInt64? = 0, objects: [String: [UInt8]]
  ) async throws -> CaravanWire.RecordOutcome {
    let cells = columns.sorted { $0.key < $1.key }.map { Cell(column: $0.key, $0.value) }
    let write = try await open(objects)
    let outcome = try await change(RecordChange(id: id, basedOn: base, cells: cells, objects: write))
    try await close(write)
    return outcome
  }

  /// - Returns: the write.
  func open(_ objects: [String: [UInt8]]) async throws -> UInt64 {
    let request = OpenObjects(publicDatabase: true, objects: objects.keys.sorted())
    guard case .writeOpened(let opened) = await session.answer(.openObjects(request)) else {
      throw NotYet(what: "a write")
    }
    for (column, bytes) in objects {
      for start in stride(from: 0, to: bytes.count, by: 150_000) {
        let piece = Array(bytes[start..<min(start + 150_000, bytes.count)])
        let reply = await session.answer(
          .writeObject(WriteObject(write: opened.write, object: column, offset: UInt64(start), data: piece)))
        guard case .done = reply else { throw NotYet(what: "\(reply)") }
      }
    }
    return opened.write
  }

  func close(_ write: UInt64) async throws {
    _ = await session.answer(.closeWrite(CloseWrite(writes: [write], abandon: true)))
  }

  func slice(
    _ column: String, of id: String, _ offset: Int, _ count: Int, version: UInt64
  ) async throws -> ObjectBytes {
    let request = ReadObject(
      table: "notes", row: id, object: column, offset: UInt64(offset), length: UInt32(count), publicDatabase: true,
      version: version)
    let reply = await session.answer(.readObject(request))
    if case .failure(let failure) = reply { throw failure.model() }
    guard case .objectBytes(let bytes) = reply else { throw NotYet(what: "bytes") }
    return bytes
  }

  func read(_ column: String, of id: String, version: UInt64) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let piece = try await slice(column, of: id, bytes.count, 190_000, version: version)
      bytes += piece.data
      if piece.data.isEmpty || bytes.count >= Int(piece.size) { return bytes }
    }
  }
}
