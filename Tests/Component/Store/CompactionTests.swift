import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import Foundation
import Testing

/// Goal: what updates leave behind does not stay (BEN-16). Method: a file whose records have been written once, and the
/// same after most were written again, four times over; `caravan bench amplification` does it at full size.
@Suite(.timeLimit(.minutes(2))) struct CompactionTests {
  private static let records = 1_500
  private static let rounds = 4

  @Test("BEN-16: after four rounds of updates a file is at most 1.3 times as large, and holds the same")
  func amplification() async throws {
    try await withTemporaryDirectory { path in
      var options = StoreOptions(.directory(path))
      (options.files, options.durability) = (1, .none)
      let bench = StoreBench(.sqlite(options))
      let random = SeededRandom(seed: 16)
      let zone = try Sample.zone()
      func write(_ numbers: [Int]) async throws {
        for start in stride(from: 0, to: numbers.count, by: 100) {
          let some = numbers[start..<min(start + 100, numbers.count)]
          let op = bench.op()
          let commit = Commit(
            zone: zone, op: op, opFloor: op.number, isAtomic: true,
            mutations: some.map { Sample.save("record-\(10_000 + $0)", body: random.bytes(250)) })
          _ = try await bench.store.commit(commit)
        }
      }
      func settledSize() async throws -> Int {
        while try await bench.store.collect() {}
        await bench.close()
        let size = try FileManager.default.attributesOfItem(atPath: "\(path)/store-0.db")[.size] as? Int
        try await bench.open()
        return try #require(size)
      }
      try await bench.open()
      try await write(Array(0..<Self.records))
      let once = try await settledSize()
      var expected: [String: Seq] = [:]
      for _ in 0..<Self.rounds {
        try await write((0..<Self.records).map { _ in Int(random.below(UInt64(Self.records))) }.uniqued())
      }
      for entry in try await bench.store.fetch(Self.names, fields: nil, in: zone) {
        expected[entry.name] = entry.version
      }
      let after = try await settledSize()
      #expect(Double(after) / Double(once) <= 1.3, "\(after) bytes, \(once) when written once")
      let found = try await bench.store.fetch(Self.names, fields: nil, in: zone)
      #expect(found.count == Self.records && found.allSatisfy { $0.body.count == 250 })
      #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0.version) }) == expected)
      #expect(try await bench.pull(zone).count == Self.records)
      await bench.close()
    }
  }

  private static let names = (0..<records).map { "record-\(10_000 + $0)" }
}

extension [Int] {
  /// Each once, where it was first.
  fileprivate func uniqued() -> [Int] {
    var seen: Set<Int> = []
    return filter { seen.insert($0).inserted }
  }
}
