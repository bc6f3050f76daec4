import CaravanAgentCore
import CaravanAgentStore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: long chunks lie beside the database, as safe as if they lay in it. Method: objects with chunks in both places,
/// space counted, bytes flipped, power cut at every single change of the disk.
@Suite("Chunks in the file", .timeLimit(.minutes(2)))
struct ChunkFileTests {
  private static let schema = "name VARCHAR, photo OBJECT"

  private static func makeTable(_ store: LocalStore) async throws {
    try await store.createTable(
      StoreFixture.photos, schema: try SchemaText(parsing: schema), localOnly: false)
  }

  private static func write(_ name: String, _ photo: [UInt8], in store: LocalStore) async throws {
    try await store.write(
      StoreFixture.photos, cells: [CellValue("name", .text(name))], contents: [ObjectValue("photo", photo)])
  }

  /// Name and photo of every row.
  private static func content(_ store: LocalStore) async throws -> [String: [UInt8]] {
    var content: [String: [UInt8]] = [:]
    for row in try await store.beginRead(ReadRequest(table: StoreFixture.photos), owner: 1).rows {
      guard case .text(let name)? = row.cells.first?.value else { continue }
      content[name] = try await store.readObject(
        StoreFixture.photos, row: row.id, object: "photo", offset: 0, length: 100_000, owner: 1
      ).bytes
    }
    return content
  }

  @Test(
    "I1, I2: killed or without power at any change of the disk, a row is there as acknowledged, or not at all",
    arguments: FragileStore.Death.allCases)
  func everyChange(death: FragileStore.Death) async throws {
    let (old, new) = (StoreFixture.noise(3_000, seed: 1), StoreFixture.noise(4_000, seed: 2))
    var changes = 0
    var isOver = false
    while !isOver {
      let bench = try await FragileStore()
      try await Self.makeTable(bench.store)
      try await Self.write("old", old, in: bench.store)
      bench.disk.die(afterChanges: changes)
      let isAcknowledged = (try? await Self.write("new", new, in: bench.store)) != nil
      isOver = !bench.disk.isDead
      try await bench.die(death)
      let content = try await Self.content(bench.store)
      #expect(content["old"] == old)
      #expect(content["new"] == (isAcknowledged ? new : nil) || content["new"] == new, "after \(changes) changes")
      #expect(try await bench.store.problems() == [])
      await bench.close()
      changes += 1
    }
    #expect(changes > 10)
  }

  /// Refuses writes to the file while it is full.
  private final class FullDisk: DiskTap {
    private let full = Mutex(false)
    func setFull(_ isFull: Bool) { full.withLock { $0 = isFull } }

    func allows(_ change: DiskChange, of path: String) -> Bool {
      guard case .write = change, path.hasSuffix("chunks.dat") else { return true }
      return !full.withLock { $0 }
    }
  }

  @Test("SIM-13: a piece that a full disk refuses was not taken, and can be written again when there is room")
  func fullDisk() async throws {
    let disk = FullDisk()
    var options = LocalStoreOptions()
    options.tap = disk
    try await StoreFixture.with(options: options) { f in
      let photo = StoreFixture.noise(6 << 20)
      let opened = try await f.store.openWrite(
        StoreFixture.photos, cells: [], objects: ["photo"], owner: f.owner)
      var (refusals, offset) = (0, 0)
      while offset < photo.count {
        let piece = Array(photo[offset..<min(photo.count, offset + 192 << 10)])
        disk.setFull(offset > 1 << 20 && refusals < 5)
        do {
          try await f.store.writeObject(
            opened.handle, row: 0, object: "photo", offset: UInt64(offset), bytes: piece, owner: f.owner)
          offset += piece.count
        } catch {
          #expect((error as? CaravanError)?.code == .storageFull)
          refusals += 1
        }
      }
      #expect(refusals == 5)
      disk.setFull(true)
      await #expect(throws: CaravanError.self) { try await f.store.closeWrite(opened.handle, owner: f.owner) }
      disk.setFull(false)
      try await f.store.closeWrite(opened.handle, owner: f.owner)
      #expect(try await f.photo(opened.rows[0]) == photo)
      let chunks = try await f.store.storedChunks()
      try await f.write("again", photo: photo)
      #expect(try await f.store.storedChunks() == chunks, "it was cut as if nothing had been")
    }
  }

  @Test("SIM-12, SIM-16: the space of objects comes back, also in the middle of the file, also after a crash")
  func space() async throws {
    let bench = try await FragileStore(LocalStoreOptions())
    try await Self.makeTable(bench.store)
    func write(_ names: String...) async throws {
      for name in names {
        let photo = StoreFixture.noise(3 << 20, seed: UInt64(name.utf8.first ?? 0))
        try await Self.write(name, photo, in: bench.store)
      }
    }
    func forget(_ names: String) async throws {
      try await bench.store.delete(StoreFixture.photos, selection: Selection("name IN (\(names))"))
    }
    try await write("a", "b")
    let two = try await bench.store.fileBytes()
    try await write("c", "d", "e")
    let five = try await bench.store.fileBytes()
    #expect(five - two >= 9 << 20)
    try await forget("'c'")
    try await write("f")
    #expect(try await bench.store.fileBytes() - five < 1 << 20, "f lies where c was")
    try await forget("'f', 'd'")
    #expect(try await five - bench.store.fileBytes() >= 5 << 20)
    try await bench.die(.kill)
    try await forget("'e'")
    #expect(try await bench.store.fileBytes() - two < 5 << 20)
    await bench.close()
  }

  @Test("a snapshot goes on reading what was deleted meanwhile; then its place is used again")
  func snapshot() async throws {
    let bench = try await FragileStore(LocalStoreOptions())
    try await Self.makeTable(bench.store)
    let photo = StoreFixture.noise(200_000)
    try await Self.write("a", photo, in: bench.store)
    let page = try await bench.store.beginRead(ReadRequest(table: StoreFixture.photos, isHeld: true), owner: 1)
    try await bench.store.delete(StoreFixture.photos, selection: nil)
    try await Self.write("b", StoreFixture.noise(200_000, seed: 9), in: bench.store)
    let slice = try await bench.store.readObject(
      StoreFixture.photos, row: page.rows[0].id, object: "photo", offset: 0, length: 200_000, cursor: page.cursor,
      owner: 1)
    #expect(slice.bytes == photo)
    let before = try await bench.store.fileBytes()
    await bench.store.closeCursor(page.cursor, owner: 1)
    try await Self.write("c", StoreFixture.noise(200_000, seed: 10), in: bench.store)
    #expect(try await bench.store.fileBytes() - before < 64 << 10)
    await bench.close()
  }
}
