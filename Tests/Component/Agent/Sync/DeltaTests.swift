import CaravanAgentApps
import CaravanAgentCore
import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: a byte changed in an object costs about what has changed, up and down, and every object arrives byte for byte
/// (SIM-36, BEN-10). Method: two devices with real stores, the real services, one simulated cluster.
@Suite struct DeltaTests {
  private typealias Device = RunningDevice

  private func simulate(
    seed: UInt64 = 1, _ body: @escaping @Sendable (SuiteCluster) async throws -> Void
  ) throws {
    let suite = try SuiteCluster(seed: seed)
    try suite.cluster.run(deadline: .seconds(7_200)) { try await body(suite) }
  }

  /// Two devices that have the same object.
  private static func pair(_ suite: SuiteCluster, _ photo: [UInt8]) async throws -> (RunningDevice, RunningDevice) {
    let (a, b) = (try await suite.start("a"), try await suite.start("b"))
    for device in [a, b] {
      try await device.createTable()
      try await device.register()
    }
    try await a.writePhoto("p", photo)
    try await b.until("the photo is at b") { try await b.photo() == photo }
    // The notifier owns its partitions by then, and what it has to say has been said.
    try await a.clock.sleep(for: .seconds(5))
    return (a, b)
  }

  /// Bytes that an edit of a's object moves until b has it.
  private static func cost(
    _ a: RunningDevice, _ b: RunningDevice, _ photo: [UInt8], edit: () async throws -> Void
  ) async throws -> (a: UInt64, b: UInt64) {
    let before = (a.wireBytes, b.wireBytes)
    try await edit()
    try await b.until("the edit is at b") { try await b.photo() == photo }
    try await a.until("nothing waits at a") { try await a.rows().allSatisfy { $0.state == .clean } }
    try await a.clock.sleep(for: .seconds(1))
    return (a.wireBytes - before.0, b.wireBytes - before.1)
  }

  @Test(
    "1 MiB and one with a list: a byte changed and a byte at the front are 2 KiB and less, up and down together",
    arguments: [1 << 20, 4 << 20])
  func oneByte(size: Int) throws {
    try simulate { suite in
      var photo = SeededRandom(seed: 5).bytes(size)
      let (a, b) = try await Self.pair(suite, photo)
      photo[size / 2] ^= 1
      let change = [photo[size / 2]]
      let changed = try await Self.cost(a, b, photo) { try await a.edit(at: size / 2, change) }
      #expect(changed.a <= 2_048 && changed.b <= 2_048, "\(changed)")
      photo = [7] + photo
      let whole = photo
      let inserted = try await Self.cost(a, b, photo) { try await a.rewrite(whole) }
      #expect(inserted.a <= 2_048 && inserted.b <= 2_048, "\(inserted)")
      for device in [a, b] { #expect(try await device.store.problems() == []) }
      #expect(b.agent.engine.metrics.patchesDown.value >= 2)
    }
  }

  @Test(
    "random edits on both sides: the same bytes everywhere, and no more on the wire than is new, with some KiB an edit",
    arguments: [1, 2, 3] as [UInt64])
  func randomEdits(seed: UInt64) throws {
    try simulate(seed: seed) { suite in
      let random = SeededRandom(seed: seed)
      func below(_ bound: Int) -> Int { Int(random.below(UInt64(max(1, bound)))) }
      var photo = random.bytes(3 << 19)
      let (a, b) = try await Self.pair(suite, photo)
      for round in 0..<6 {
        let at = below(photo.count)
        var new = 0
        switch below(4) {
        case 0:
          new = below(100_000)
          photo.insert(contentsOf: random.bytes(new), at: at)
        case 1: photo.removeSubrange(at..<min(photo.count, at + below(200_000)))
        case 2:
          new = below(50_000)
          photo.append(contentsOf: random.bytes(new))
        default:
          new = min(photo.count - at, below(50_000))
          photo.replaceSubrange(at..<at + new, with: random.bytes(new))
        }
        let whole = photo
        let (from, to) = round.isMultiple(of: 2) ? (a, b) : (b, a)
        let cost = try await Self.cost(from, to, photo) { try await from.rewrite(whole) }
        let limit = UInt64(new * 11 / 10 + 6_000)
        #expect(cost.a <= limit && cost.b <= limit, "\(cost) for \(new) new bytes in round \(round)")
      }
      for device in [a, b] { #expect(try await device.store.problems() == []) }
    }
  }

  @Test("a small object travels with its row: one frame up, no other message")
  func smallObject() throws {
    try simulate { suite in
      let photo = SeededRandom(seed: 8).bytes(3_000)
      let (a, b) = try await Self.pair(suite, photo)
      #expect(a.agent.engine.metrics.chunkBytesUp.value == 0)
      #expect(a.agent.engine.metrics.chunksUp.value == 0)
      #expect(try await b.store.problems() == [])
    }
  }
}

extension RunningDevice {
  /// Payloads up and down, frames and chunks.
  fileprivate var wireBytes: UInt64 {
    let metrics = agent.engine.metrics
    return [metrics.bytesUp, metrics.bytesDown, metrics.chunkBytesUp, metrics.chunkBytesDown].reduce(0) {
      $0 + $1.value
    }
  }

  /// The object of the only row.
  fileprivate func photo() async throws -> [UInt8]? {
    guard let row = try await rows().first, let size = row.objects.first?.size else { return nil }
    var bytes: [UInt8] = []
    while bytes.count < Int(size) {
      bytes += try await store.readObject(
        Self.table, row: row.id, object: "photo", offset: UInt64(bytes.count), length: 1 << 20, owner: 1
      ).bytes
    }
    return bytes
  }

  fileprivate func edit(at offset: Int, _ bytes: [UInt8]) async throws {
    let opened = try await store.openWrite(
      Self.table, cells: [], objects: ["photo"], selection: Selection("name = ?", [.text("p")]), owner: 1)
    try await store.writeObject(
      opened.handle, row: 0, object: "photo", offset: UInt64(offset), bytes: bytes, owner: 1)
    try await store.closeWrite(opened.handle, owner: 1)
  }

  fileprivate func rewrite(_ photo: [UInt8]) async throws {
    let opened = try await store.openWrite(
      Self.table, cells: [], objects: ["photo"], selection: Selection("name = ?", [.text("p")]), owner: 1)
    try await store.truncateObject(opened.handle, row: 0, object: "photo", size: 0, owner: 1)
    try await store.writeObject(opened.handle, row: 0, object: "photo", offset: 0, bytes: photo, owner: 1)
    try await store.closeWrite(opened.handle, owner: 1)
  }
}
