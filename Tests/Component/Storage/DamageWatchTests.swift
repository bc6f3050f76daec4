import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanSQLite
import CaravanStorageClient
import CaravanStorageCore
import CaravanStore
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Foundation
import Testing

@testable import CaravanStorageDriver

/// Goal: damage that nobody meets is found within a week, and said where people look (TRU-10). Method: the pace
/// as a table; then the watch on a store whose file is damaged, with time in the test's hands.
@Suite(.timeLimit(.minutes(1))) struct DamageWatchTests {
  private static let week = StorageLimits.scrubPeriodNanoseconds

  @Test(
    "TRU-10: all chunks are read within the period, and not faster", arguments: [1, 60_000, 1 << 30, 1 << 40])
  func pace(kept: UInt64) {
    var pace = ScrubPace()
    var read: UInt64 = 0
    #expect(pace.portion(of: kept, at: 0) == nil, "nothing is due at once")
    // As maintenance looks: every five seconds, with steps as long as there is something due.
    for now in stride(from: UInt64(0), through: Self.week + Self.week / 100, by: 5_000_000_000) {
      while let portion = pace.portion(of: kept, at: now) {
        #expect(portion <= StorageLimits.scrubStepBytes)
        pace.read(bytes: portion)
        read += UInt64(portion)
      }
    }
    #expect(read >= kept && read <= kept + kept / 20 + 1)
  }

  @Test("TRU-10: after a pause it is not made up for at once; nothing kept, nothing read")
  func pause() {
    var pace = ScrubPace()
    #expect(pace.portion(of: 0, at: 0) == nil)
    #expect(pace.portion(of: 0, at: Self.week * 9) == nil)
    var read = 0
    while let portion = pace.portion(of: 1 << 40, at: Self.week * 99) {
      read += portion
      pace.read(bytes: portion)
    }
    #expect(read <= StorageLimits.scrubStepBytes * (StorageLimits.scrubStepsTogether + 1))
  }

  @Test("TRU-10: once damage was found all chunks are read at once, until a whole round finds no more")
  func atOnce() {
    var pace = ScrubPace()
    #expect(pace.portion(of: 1 << 40, at: 0) == nil)
    pace.damageFound()
    for round in 1...2 {
      for _ in 0..<9 {
        #expect(pace.portion(of: 1 << 40, at: 0) == StorageLimits.scrubStepBytes, "round \(round)")
        pace.read(bytes: StorageLimits.scrubStepBytes)
      }
      pace.roundOver()
    }
    #expect(pace.portion(of: 1 << 40, at: 0) == nil)
    #expect(
      pace.portion(of: 1 << 40, at: Self.week / 2) == StorageLimits.scrubStepBytes, "the next round is not put off")
  }

  @Test("TRU-10: what nobody reads is found, said in the log and counted; and so is that it is whole again")
  func watch() async throws {
    try await withTemporaryDirectory { directory in
      let (clock, log) = (ManualClock(), MemoryLogSink())
      let live = Host.live(logLevel: .error)
      let host = Host(
        clock: clock, random: SeededRandom(seed: 3), executors: live.executors,
        log: Log(level: .info, clock: clock, sink: log), metrics: MetricsRegistry())
      var options = StoreOptions(.directory(directory))
      (options.files, options.durability) = (1, .none)
      let store = try await StoreSQLite(options, host: host)
      let chunks = (1...3).map { (seed) -> ChunkBytes in
        let bytes = SeededRandom(seed: UInt64(seed)).bytes(50_000)
        return ChunkBytes(hash: ChunkHash(SHA256.hash(bytes).bytes)!, bytes: bytes)
      }
      try await store.stage(chunks, in: StorageBench.database)
      let commit = Commit(
        zone: try StorageBench.zone(), op: OpID(writer: "phone", epoch: 1, number: 1), isAtomic: false,
        mutations: [StorageBench.save("r", chunks: chunks.map(\.hash))])
      _ = try await store.commit(commit)
      let file = URL(fileURLWithPath: "\(directory)/store-0.chunks")
      var data = try Data(contentsOf: file)
      // Far apart: who finds one of them has not met the other.
      for chunk in [chunks[0], chunks[2]] {
        data[try #require(data.range(of: Data(chunk.bytes[9_000..<9_032]))).lowerBound] ^= 1
      }
      try data.write(to: file)
      var watch = DamageWatch(store: store, host: host)
      for _ in 0..<(8 * 24 * 2) {
        clock.advance(by: .seconds(1_800))
        while try await watch.step(store.status()) {}
      }
      let warnings = log.records.filter { $0.level == .warning }
      #expect((1...2).contains(warnings.count), "one for each that is found, or one for both")
      #expect(warnings.contains { $0.message.contains("caravan damage") })
      #expect(try await store.damage(in: nil, atMost: 9).count == 2)
      let found = host.metrics.snapshot().families["caravan_storage_damage_found_total"]?.series.values.map { $0 }
      #expect("\(found ?? [])".contains("2"))
      try await store.stage(chunks, in: StorageBench.database)
      _ = try await watch.step(store.status())
      #expect(log.records.last?.message.contains("whole again") == true)
      await store.close()
    }
  }

  @Test("TRU-10: who meets one damaged chunk has the others looked for, without a week's wait")
  func neighbours() async throws {
    try await withTemporaryDirectory { directory in
      let clock = ManualClock()
      let live = Host.live(logLevel: .error)
      let host = Host(
        clock: clock, random: SeededRandom(seed: 3), executors: live.executors, log: live.log,
        metrics: MetricsRegistry())
      var options = StoreOptions(.directory(directory))
      (options.files, options.durability) = (1, .none)
      let store = try await StoreSQLite(options, host: host)
      let chunks = (1...9).map { (seed) -> ChunkBytes in
        let bytes = SeededRandom(seed: UInt64(seed)).bytes(50_000)
        return ChunkBytes(hash: ChunkHash(SHA256.hash(bytes).bytes)!, bytes: bytes)
      }
      try await store.stage(chunks, in: StorageBench.database)
      try Data().write(to: URL(fileURLWithPath: "\(directory)/store-0.chunks"))
      var watch = DamageWatch(store: store, host: host)
      while try await watch.step(store.status()) {}
      #expect(try await store.damage(in: nil, atMost: 99).isEmpty, "nobody has met any")
      _ = try await store.chunks([chunks[4].hash], in: StorageBench.database, maxBytes: 1 << 20)
      for _ in 0..<4 { while try await watch.step(store.status()) {} }
      #expect(try await store.damage(in: nil, atMost: 99).count == 9)
      await store.close()
    }
  }

  @Test("TRU-10: storage lists what is damaged by user, zone and record; its status counts it")
  func list() async throws {
    try await withTemporaryDirectory { directory in
      var options = StoreOptions(.directory(directory))
      (options.files, options.durability) = (1, .none)
      try await StorageBench.with(options) { bench in
        let bytes = SeededRandom(seed: 9).bytes(50_000)
        let chunk = ChunkBytes(hash: ChunkHash(SHA256.hash(bytes).bytes)!, bytes: bytes)
        let request = CommitRequest(
          Commit(
            zone: try StorageBench.zone(), op: OpID(writer: "phone", epoch: 1, number: 1), isAtomic: false,
            mutations: [StorageBench.save("r", chunks: [chunk.hash])]))
        var bringing = request
        bringing.chunks = [Chunk(hash: chunk.hash.bytes, data: chunk.bytes)]
        _ = try await bench.storage.commit(bringing, in: StorageBench.partition)
        #expect(try await bench.storage.damage().chunks.isEmpty)
        let file = URL(fileURLWithPath: "\(directory)/store-0.chunks")
        var data = try Data(contentsOf: file)
        data[try #require(data.range(of: Data(bytes[9_000..<9_032]))).lowerBound] ^= 1
        try data.write(to: file)
        var again = request
        again.op = 2
        again.mutations[0].name = "again"
        #expect(try await bench.storage.commit(again, in: StorageBench.partition).missingChunks == chunk.hash.bytes)
        let damage = try await bench.storage.damage(of: StorageBench.user, hasRecords: true).chunks
        #expect(damage.map(\.hash) == [chunk.hash.bytes] && damage.first?.size == 50_000)
        #expect(damage.first?.records == [RecordDamage(zone: "t", name: "r")])
        #expect(try await bench.storage.damage(of: UserID("bob")).chunks.isEmpty)
        #expect(try await bench.status().damagedChunks == 1)
        // Of what no record holds any more people are told, and no device is asked for its bytes.
        _ = try await bench.commit(3, [StorageBench.save("r")], to: StorageBench.zone())
        #expect(try await bench.storage.damage(of: StorageBench.user).chunks.isEmpty)
        let unheld = try await bench.storage.damage(of: StorageBench.user, hasRecords: true).chunks
        #expect(unheld.map(\.records) == [[]])
      }
    }
  }
}
