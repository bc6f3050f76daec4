import CaravanCrypto
import CaravanModel
import CaravanPostgreSQL
import CaravanRuntime
import CaravanSQLite
import CaravanStore
import CaravanStorePostgres
import CaravanStoreSQLite
import CaravanTestKit
import Foundation
import Testing

/// Where a chunk's bytes lie.
enum ChunkPlace: String, CaseIterable, Sendable, CustomTestStringConvertible {
  /// In the file of long chunks.
  case file
  /// In a row of the database's.
  case row
  case postgres

  var testDescription: String { rawValue }
}

/// A store whose chunks can be damaged from outside, as a disk does it.
struct ChunkDamage: Sendable {
  static let size = 40_000

  let bench: StoreBench
  let place: ChunkPlace
  /// A directory, or PostgreSQL's address.
  let address: String

  static func with(_ place: ChunkPlace, _ body: (ChunkDamage) async throws -> Void) async throws {
    guard place == .postgres else {
      return try await withTemporaryDirectory { path in
        let directory = "\(path)/store"
        let bench = StoreBench(.sqlite(options(place, directory)))
        try await run(ChunkDamage(bench: bench, place: place, address: directory), body)
      }
    }
    try await PostgresServer.shared.get().withSchema { address in
      var options = PostgresOptions(try ConnectionString(address))
      (options.writers, options.readers) = (2, 2)
      try await run(ChunkDamage(bench: StoreBench(.postgres(options)), place: place, address: address), body)
    }
  }

  static func options(_ place: ChunkPlace, _ directory: String) -> StoreOptions {
    var options = StoreOptions(.directory(directory))
    (options.files, options.durability) = (1, .none)
    options.inlineBytes = place == .file ? 1_000 : 1 << 20
    return options
  }

  private static func run(_ damage: ChunkDamage, _ body: (ChunkDamage) async throws -> Void) async throws {
    try await damage.bench.open()
    do { try await body(damage) } catch {
      await damage.bench.close()
      throw error
    }
    await damage.bench.close()
  }

  /// Bytes that nothing compresses, and their true hash.
  static func chunk(_ number: UInt8) -> ChunkBytes {
    let bytes = SeededRandom(seed: UInt64(number)).bytes(size)
    return ChunkBytes(hash: ChunkHash(SHA256.hash(bytes).bytes)!, bytes: bytes)
  }

  /// Flips a byte of the chunk on the disk.
  func flip(_ chunk: ChunkBytes) async throws {
    switch place {
    case .file:
      let path = "\(address)/store-0.chunks"
      var data = try Data(contentsOf: URL(fileURLWithPath: path))
      let middle = Data(chunk.bytes[20_000..<20_032])
      data[try #require(data.range(of: middle)).lowerBound] ^= 0x40
      try data.write(to: URL(fileURLWithPath: path))
    case .row:
      let db = try CaravanSQLite.Connection(.file("\(address)/store-0.db"))
      var bytes = chunk.bytes
      bytes[20_000] ^= 0x40
      try db.run("UPDATE chunk_bytes SET bytes = ? WHERE bytes = ?", bytes, chunk.bytes)
      #expect(db.changedRows == 1)
      db.close()
    case .postgres:
      let db = try CaravanPostgreSQL.Connection(CaravanPostgreSQL.ConnectionOptions(ConnectionString(address)))
      var bytes = chunk.bytes
      bytes[20_000] ^= 0x40
      let partition = Int32(Partition(of: Sample.database()).number)
      _ = try db.run(
        "UPDATE caravan_chunks SET bytes = $1 WHERE partition = $2 AND hash = $3", Bytes(bytes), partition, chunk.hash)
      db.close()
    }
  }

  func bytes(of chunks: [ChunkBytes]) async throws -> [[UInt8]?] {
    try await bench.store.chunks(chunks.map(\.hash), in: Sample.database(), maxBytes: 1 << 20).map(\.bytes)
  }

  func damaged() async throws -> [ChunkHash] {
    try await bench.store.damage(in: nil, atMost: 100).map(\.hash)
  }

  /// Chunks in a record each: r1, r2, …
  func fill(_ count: UInt8) async throws -> [ChunkBytes] {
    let chunks = (1...count).map { Self.chunk($0) }
    try await bench.store.stage(chunks, in: Sample.database())
    for (number, chunk) in zip(1..., chunks) {
      try await bench.commit(Sample.zone(), [Sample.save("r\(number)", chunks: [chunk.hash])])
    }
    return chunks
  }
}

extension ChunkDamage {
  /// Puts back what was in the file of long chunks.
  func restore(_ chunk: ChunkBytes, from damaged: ChunkBytes) async throws {
    let path = "\(address)/store-0.chunks"
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let found = try #require(data.range(of: Data(damaged.bytes)))
    data.replaceSubrange(found, with: chunk.bytes)
    try data.write(to: URL(fileURLWithPath: path))
  }
}
