import CaravanAgentCore
import CaravanAgentStore
import CaravanChunkFiles
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// A disk of so many blocks: what does not fit is refused, of whatever file.
private final class SmallDisk: DiskTap {
  private static let blockBytes = 4_096
  private let state: Mutex<(room: Int, taken: [String: Set<Int>])>

  init(bytes: Int) { state = Mutex((bytes / Self.blockBytes, [:])) }

  var takenBytes: Int { state.withLock { $0.taken.values.reduce(0) { $0 + $1.count } * Self.blockBytes } }

  /// Somebody else fills it to the brim, or leaves.
  func setBrimming(_ isBrimming: Bool, otherwise bytes: Int) {
    state.withLock { state in
      let taken = state.taken.values.reduce(0) { $0 + $1.count }
      state.room = isBrimming ? taken : bytes / Self.blockBytes
    }
  }

  func allows(_ change: DiskChange, of path: String) -> Bool {
    state.withLock { state in
      let others = state.taken.reduce(0) { $0 + ($1.key == path ? 0 : $1.value.count) }
      var blocks = state.taken[path] ?? []
      switch change {
      case .write(let bytes, let offset):
        blocks.formUnion(offset / Self.blockBytes...(offset + max(1, bytes.count) - 1) / Self.blockBytes)
      case .resize(let size) where path.hasSuffix("reserve.dat"): blocks = Set(0..<size / Self.blockBytes)
      case .resize(let size): blocks = blocks.filter { $0 * Self.blockBytes < size }
      case .release(let range):
        blocks = blocks.filter { !range.contains($0 * Self.blockBytes) }
      case .remove: blocks = []
      case .sync: break
      }
      // As a disk does, it has taken what did fit.
      let isFull = others + blocks.count > state.room && blocks.count > (state.taken[path] ?? []).count
      if isFull, case .write = change, path.hasSuffix("chunks.dat") {
        let old = state.taken[path] ?? []
        blocks = old.union(blocks.subtracting(old).sorted().prefix(max(0, state.room - others - old.count)))
      }
      if !isFull || path.hasSuffix("chunks.dat") { state.taken[path] = blocks }
      return !isFull
    }
  }
}

/// Goal: a full disk can be left again, and takes nothing that was acknowledged. Method: a disk that counts blocks.
@Suite("A full disk", .timeLimit(.minutes(2)))
struct FullDiskTests {
  private static let diskBytes = 6 << 20

  private func with(_ body: (StoreFixture, SmallDisk) async throws -> Void) async throws {
    let disk = SmallDisk(bytes: Self.diskBytes)
    var options = LocalStoreOptions()
    options.tap = disk
    options.logBytes = 1 << 20
    try await StoreFixture.with(options: options) { f in
      try await f.agree()
      try await body(f, disk)
    }
  }

  private func write(_ name: String, bytes: Int, in f: StoreFixture) async throws {
    try await f.store.write(
      StoreFixture.photos, cells: [CellValue("name", .text(name))],
      contents: [ObjectValue("photo", StoreFixture.noise(bytes, seed: UInt64(name.hashValue.magnitude)))])
  }

  /// - Returns: names of the rows that were acknowledged.
  private func fill(_ f: StoreFixture, bytes: Int = 800_000) async throws -> [String] {
    var names: [String] = []
    while names.count < 1_000 {
      do { try await write("row \(names.count)", bytes: bytes, in: f) } catch let error as CaravanError {
        #expect(error.code == .storageFull)
        return names
      }
      names.append("row \(names.count)")
    }
    return names
  }

  @Test("a write that the disk refuses gives back at once what it took")
  func givenBack() async throws {
    try await with { f, disk in
      let names = ["first", "second"]
      for name in names { try await write(name, bytes: 800_000, in: f) }
      let taken = disk.takenBytes
      for n in 0..<5 {
        await #expect(throws: CaravanError.self) { try await write("again \(n)", bytes: Self.diskBytes, in: f) }
        #expect(disk.takenBytes <= taken + 64 << 10)
      }
      #expect(try await f.names() == names)
    }
  }

  @Test("I1: rows can be deleted, tables dropped, and pushes go on; what adds to it is refused until there is room")
  func wayOut() async throws {
    try await with { f, _ in
      var names = try await fill(f)
      // The log goes round many times meanwhile.
      for n in 0..<300 {
        let plan = try #require(try await f.collect())
        if n == 299 { try await f.accept(plan, from: 5) } else { try await f.store.abort(plan.op) }
      }
      await #expect(throws: CaravanError.self) { try await write("new", bytes: 2 << 20, in: f) }
      try await f.store.delete(StoreFixture.photos, selection: Selection("name = 'row 0'"))
      names.removeFirst()
      try await f.crash()
      #expect(try await f.names() == names)
      _ = try await fill(f)
      try await f.store.dropTable(StoreFixture.photos, discardingUnsent: true)
      try await f.store.createTable(
        StoreFixture.photos, schema: try SchemaText(parsing: "name VARCHAR, photo OBJECT"), localOnly: true)
      #expect(try await fill(f).count >= names.count)
    }
  }

  @Test("rows make room as soon as the cloud has heard that they are deleted, whatever else happens")
  func roomAfterPush() async throws {
    try await with { f, disk in
      let names = try await fill(f)
      try await f.accept(try #require(try await f.collect()), from: 1)
      disk.setBrimming(true, otherwise: 0)
      await #expect(throws: CaravanError.self) { try await write("more", bytes: 1 << 20, in: f) }
      while await !f.store.isDiskFull() {
        _ = try? await write("more", bytes: 1_000, in: f)
        disk.setBrimming(true, otherwise: 0)
      }
      let some = Selection("name IN (\(names.prefix(4).map { "'\($0)'" }.joined(separator: ",")))")
      let gone = try await f.store.delete(StoreFixture.photos, selection: some)
      #expect(gone == 4)
      let plan = try #require(try await f.collect())
      try await f.accept(plan, from: 100)
      #expect(await !f.store.isDiskFull())
      try await write("fits", bytes: 100_000, in: f)
    }
  }

  @Test(
    "rows go also when somebody else has filled the disk: the reserve has the room",
    arguments: [true, false])
  func others(areRowsDeleted: Bool) async throws {
    try await with { f, disk in
      try await f.apply((1...2_000).map { StoreFixture.entry("row-\($0)", UInt64($0), "name \($0)") })
      // The log is gone: there is no room in it.
      try await f.crash()
      try await write("more", bytes: 20_000, in: f)
      disk.setBrimming(true, otherwise: 0)
      if areRowsDeleted {
        #expect(try await f.store.delete(StoreFixture.photos, selection: nil) == 2_001)
      } else {
        try await f.store.dropTable(StoreFixture.photos, discardingUnsent: true)
      }
      #expect(await f.store.isDiskFull() == areRowsDeleted, "the cloud has to hear of rows, not of a table")
      disk.setBrimming(false, otherwise: Self.diskBytes)
      #expect(await !f.store.isDiskFull())
      if areRowsDeleted { try await write("fits", bytes: 100_000, in: f) }
    }
  }
}
