import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import Foundation
import Testing

/// Goal: chunks beside the database are as safe as those in it (I1, I3). Method: a store with one file, looked at from
/// outside; what a crash of the disk does to it is in DiskFaultTests.
@Suite(.timeLimit(.minutes(1))) struct LongChunkTests {
  private static let size = 40_000
  private static let ada = Account.user(UserID(unchecked: "ada"), .development)

  private static func withStore(
    readers: Int = 1, _ body: (StoreBench, _ file: String) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { path in
      var options = StoreOptions(.directory(path))
      (options.files, options.readersPerFile, options.durability) = (1, readers, .none)
      let bench = StoreBench(.sqlite(options))
      try await bench.open()
      try await body(bench, "\(path)/store-0.chunks")
      await bench.close()
    }
  }

  private static func stage(_ numbers: [UInt8], _ bench: StoreBench) async throws {
    try await bench.store.stage(numbers.map { Sample.chunk($0, size: size) }, in: Sample.database())
  }

  private static func bytes(_ number: UInt8, _ bench: StoreBench) async throws -> [UInt8]? {
    try await bench.store.chunks([Sample.hash(number)], in: Sample.database(), maxBytes: size).first?.bytes
  }

  /// Time enough goes by that nobody waits for what is staged.
  private static func collect(_ bench: StoreBench) async throws {
    bench.clock.advance(by: StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(1))
    while try await bench.store.collect() {}
  }

  private static func length(_ file: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: file)[.size] as? Int)
  }

  @Test("long chunks lie in the file, short ones in the database; both are there after a crash")
  func places() async throws {
    try await Self.withStore { bench, file in
      try await bench.store.stage([Sample.chunk(9, size: 100)], in: Sample.database())
      #expect(try Self.length(file) == 0)
      try await Self.stage([1, 2], bench)
      #expect(try Self.length(file) >= 2 * Self.size)
      bench.kill()
      try await bench.open()
      for number in [1, 2] as [UInt8] {
        #expect(try await Self.bytes(number, bench) == Sample.chunk(number, size: Self.size).bytes)
      }
      #expect(try await Self.bytes(9, bench) == Sample.chunk(9, size: 100).bytes)
    }
  }

  private final class Syncs: DiskTap {
    private let paths = Mutex<[String]>([])

    func allows(_ change: DiskChange, of path: String) -> Bool {
      if change == .sync { paths.withLock { $0.append(path.split(separator: "/").last.map { String($0) } ?? "") } }
      return true
    }

    func take() -> [String] {
      paths.withLock { paths in
        defer { paths = [] }
        return paths
      }
    }
  }

  @Test("staging waits for the chunks' file only; the commit that names them makes both durable")
  func syncs() async throws {
    try await withTemporaryDirectory { path in
      let syncs = Syncs()
      var options = StoreOptions(.directory(path))
      (options.files, options.durability, options.tap) = (1, .full, syncs)
      let bench = StoreBench(.sqlite(options))
      try await bench.open()
      try await bench.commit(Sample.zone(), [Sample.save("a")])
      _ = syncs.take()
      try await Self.stage([1, 2], bench)
      #expect(syncs.take() == ["store-0.chunks"])
      try await bench.commit(Sample.zone(), [Sample.save("b", chunks: [Sample.hash(1)])])
      #expect(syncs.take() == ["store-0.db-wal"])
      await bench.close()
    }
  }

  @Test("I3: the places of chunks that went are used again; a write that fails leaves none behind", arguments: [0, 1])
  func reuse(readers: Int) async throws {
    try await Self.withStore(readers: readers) { bench, file in
      try await Self.stage([1, 2], bench)
      let length = try Self.length(file)
      try await Self.collect(bench)
      #expect(try await Self.bytes(1, bench) == nil)
      try await Self.stage([3, 4], bench)
      #expect(try Self.length(file) == length)
      #expect(try await Self.bytes(4, bench) == Sample.chunk(4, size: Self.size).bytes)
      _ = try await bench.store.setQuota(Quota(bytes: UInt64(3 * Self.size)), of: Self.ada)
      await #expect(throws: CaravanError.self) { try await Self.stage([5, 6, 7], bench) }
      #expect(try Self.length(file) - length < 4_096, "but for the rest of a block")
      _ = try await bench.store.setQuota(Quota(bytes: UInt64(9 * Self.size)), of: Self.ada)
      try await Self.stage([8], bench)
      #expect(try await Self.bytes(8, bench) == Sample.chunk(8, size: Self.size).bytes)
    }
  }

  @Test("a backup that reads meanwhile finds every chunk that its snapshot knows")
  func backup() async throws {
    try await Self.withStore { bench, file in
      try await Self.stage([1], bench)
      let source = try SQLiteSnapshot(String(file.dropLast("/store-0.chunks".count)))
      try await Self.collect(bench)
      try await Self.stage([2], bench)
      var found: [[UInt8]] = []
      try source.export { item in if case .chunk(let chunk) = item { found.append(chunk.bytes) } }
      #expect(found == [Sample.chunk(1, size: Self.size).bytes])
    }
  }

  @Test("TRU-10: a chunk that the disk has lost is absent, and no other")
  func damage() async throws {
    try await Self.withStore { bench, file in
      try await Self.stage([1, 2], bench)
      let handle = try #require(FileHandle(forWritingAtPath: file))
      try handle.seek(toOffset: 7)
      try handle.write(contentsOf: Data([0xff, 0]))
      try handle.close()
      #expect(try await Self.bytes(1, bench) == nil)
      #expect(try await Self.bytes(2, bench) == Sample.chunk(2, size: Self.size).bytes)
    }
  }
}
