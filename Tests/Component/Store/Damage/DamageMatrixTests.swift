import CaravanBackup
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanStorageDriver
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import CaravanWire
import Foundation
import Testing

/// Goal: damage goes where its records go, and nothing else is lost on the way (TRU-10). Method: a chunk is
/// damaged in each place where chunks lie; then backups, restores and moves.
@Suite(.timeLimit(.minutes(3))) struct DamageMatrixTests {
  private static func source(_ f: ChunkDamage) throws(CaravanError) -> any ArchiveSource {
    f.place == .postgres ? try PostgresSnapshot(ConnectionString(f.address)) : try SQLiteSnapshot(f.address)
  }

  @Test(
    "TRU-10: a backup goes on and lists what is damaged; restored, it is damaged until somebody brings it",
    arguments: ChunkPlace.allCases, [BackupTests.Engine.sqlite, .postgres])
  func backup(place: ChunkPlace, to: BackupTests.Engine) async throws {
    try await ChunkDamage.with(place) { f in
      let chunks = try await f.fill(3)
      try await f.flip(chunks[1])
      try await withTemporaryDirectory { directory in
        let file = "\(directory)/backup"
        let written = try BackupFile.write(Self.source(f), to: file, at: f.bench.host.clock.wallTime)
        #expect(written.chunks == 2 && written.records == 3 && written.damaged.map(\.hash) == [chunks[1].hash])
        #expect(written.damagedRecords.map(\.name) == ["r2"])
        #expect(try BackupFile.read(file) == written)
        try await BackupTests.with(to) { target in
          _ = try BackupFile.restore(file, at: f.bench.host.clock.wallTime) { () throws(CaravanError) in
            try target.sink(f.bench.host)
          } checking: { () throws(CaravanError) in
            try target.source()
          }
          let new = StoreBench(try target.plan)
          try await new.open()
          #expect(try await new.store.fetch(["r1", "r2", "r3"], in: Sample.zone()).count == 3)
          let hashes = chunks.map(\.hash)
          let found = try await new.store.chunks(hashes, in: Sample.database(), maxBytes: 1 << 20)
          #expect(found.map(\.bytes) == [chunks[0].bytes, nil, chunks[2].bytes])
          #expect(try await new.store.damage(in: Sample.database(), atMost: 9).map(\.hash) == [hashes[1]])
          #expect(try await new.store.missing(hashes, in: Sample.database()) == [hashes[1]])
          try await new.store.stage([chunks[1]], in: Sample.database())
          let healed = try await new.store.chunks(hashes, in: Sample.database(), maxBytes: 1 << 20)
          #expect(healed.map(\.bytes) == chunks.map(\.bytes))
          let status = try await new.store.status()
          #expect(status.damagedChunks == 0 && status.chunkBytes == UInt64(3 * ChunkDamage.size))
          await new.close()
        }
      }
    }
  }

  @Test(
    "TRU-10: a user moves with all that is whole; what is damaged can be brought there",
    arguments: StoreKind.allCases)
  func move(kind: StoreKind) async throws {
    try await withTemporaryDirectory { directory in
      let body: (MoveBench) async throws -> Void = { bench in
        let (zone, chunks) = (try Sample.zone(), (1...3).map { ChunkDamage.chunk($0) })
        try await bench.routed.stage(chunks, in: zone.database)
        for (number, chunk) in zip(1..., chunks) {
          _ = try await bench.commit(
            zone, [Sample.save("r\(number)", chunks: [chunk.hash])], as: "phone", UInt64(number))
        }
        // An old version, which stays behind.
        let old = ChunkDamage.chunk(4)
        try await bench.routed.stage([old], in: zone.database)
        for (number, change) in [Sample.save("old", chunks: [old.hash]), Sample.delete("old")].enumerated() {
          _ = try await bench.commit(zone, [change], as: "phone", UInt64(4 + number))
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) where name.hasSuffix(".chunks") {
          let url = URL(fileURLWithPath: "\(directory)/\(name)")
          var data = try Data(contentsOf: url)
          for chunk in [chunks[1], old] {
            guard let place = data.range(of: Data(chunk.bytes[20_000..<20_032])) else { continue }
            data[place.lowerBound] ^= 1
          }
          try data.write(to: url)
        }
        _ = try await bench.routed.chunks([old.hash], in: zone.database, maxBytes: 1 << 20)
        #expect(try await bench.routed.damage(in: nil, atMost: 9).map(\.isHeld) == [false])
        let reply = try await bench.move(to: MoveBench.name)
        #expect(reply.store == MoveBench.name && reply.problem.isEmpty && reply.records == 4)
        let hashes = chunks.map(\.hash)
        let found = try await bench.routed.chunks(hashes, in: zone.database, maxBytes: 1 << 20)
        #expect(found.map(\.bytes) == [chunks[0].bytes, nil, chunks[2].bytes])
        #expect(try await bench.routed.damage(in: nil, atMost: 9).map(\.hash) == [hashes[1]])
        try await bench.routed.stage([chunks[1]], in: zone.database)
        let healed = try await bench.routed.chunks(hashes, in: zone.database, maxBytes: 1 << 20)
        #expect(healed.map(\.bytes) == chunks.map(\.bytes))
        #expect(try await bench.routed.damage(in: nil, atMost: 9).isEmpty)
        #expect(try await bench.other.status().chunks == 3)
      }
      guard kind == .postgres else {
        let place = "\(directory)/there"
        return try await MoveBench.with(MoveBench(kind, in: place, main: directory), body)
      }
      try await PostgresServer.shared.get().withSchema { address in
        try await MoveBench.with(MoveBench(kind, in: address, main: directory), body)
      }
    }
  }
}
