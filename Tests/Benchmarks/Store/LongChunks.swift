import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanStoreSQLite
import Foundation

/// Rows with an object of 1 MiB in sixteen chunks, staged and committed, then read: with chunks in a file of their own,
/// and with all of them in the database.
struct LongChunks {
  private static let chunks = 16
  private static let chunkBytes = 64 << 10
  private static let rows = 200

  let host: CaravanRuntime.Host

  func run(in directory: String) async throws {
    for clients in [1, 4] {
      for (place, inlineBytes) in [("file", StoreOptions(.memory).inlineBytes), ("database", Int.max)] {
        var options = StoreOptions(.directory("\(directory)/\(place)-\(clients)"))
        options.inlineBytes = inlineBytes
        try FileManager.default.createDirectory(
          atPath: "\(directory)/\(place)-\(clients)", withIntermediateDirectories: true)
        let store = try await StoreSQLite(options, host: host)
        let writes = try await each(clients) { try await write($0, to: store) }
        let reads = try await each(clients) { try await read($0, from: store) }
        await store.close()
        print("\(place), \(clients) clients: write \(writes), read \(reads)")
      }
    }
  }

  private func each(
    _ clients: Int, _ work: @escaping @Sendable (_ row: Int) async throws -> Void
  ) async throws -> String {
    let start = host.clock.now
    let times = try await withThrowingTaskGroup(of: [Duration].self) { group in
      for client in 0..<clients {
        group.addTask {
          var times: [Duration] = []
          for row in stride(from: client, to: Self.rows, by: clients) {
            let begin = host.clock.now
            try await work(row)
            times.append(host.clock.now - begin)
          }
          return times
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }.sorted()
    }
    let rate = Double(Self.rows) / ((host.clock.now - start) / .seconds(1))
    func milliseconds(_ share: Double) -> String {
      String(format: "%.2f", times[Int(Double(times.count - 1) * share)] / .milliseconds(1))
    }
    return "\(Int(rate)) MiB/s, p50 \(milliseconds(0.5)) ms, p99 \(milliseconds(0.99)) ms"
  }

  private func zone(_ row: Int) throws -> ZoneID {
    try ZoneID(
      DatabaseID(container: ContainerID("bench"), environment: .development, owner: UserID("user-\(row % 4)")), "photos"
    )
  }

  private func hash(_ row: Int, _ chunk: Int) -> ChunkHash {
    let number = UInt64(row * Self.chunks + chunk) &* 0x9e37_79b9_7f4a_7c15
    let bytes = (0..<ChunkHash.byteCount).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0 % 8))) }
    guard let hash = ChunkHash(bytes) else { preconditionFailure("a hash has \(ChunkHash.byteCount) bytes") }
    return hash
  }

  private func write(_ row: Int, to store: StoreSQLite) async throws {
    let zone = try zone(row)
    let chunks = (0..<Self.chunks).map {
      ChunkBytes(hash: hash(row, $0), bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: row), count: Self.chunkBytes))
    }
    try await store.stage(chunks, in: zone.database)
    let op = OpID(writer: "bench", epoch: 1, number: UInt64(row + 1))
    let save = Mutation(
      name: "row-\(row)", base: .absent, change: .save(type: 1, body: [1], chunks: chunks.map(\.hash)))
    let commit = Commit(zone: zone, op: op, opFloor: 0, isAtomic: false, mutations: [save])
    guard case .applied(let outcomes, _, _, _) = try await store.commit(commit), case .accepted? = outcomes.last else {
      throw CaravanError(.internalError, "a save of the benchmark was not accepted")
    }
  }

  private func read(_ row: Int, from store: StoreSQLite) async throws {
    let hashes = (0..<Self.chunks).map { hash(row, $0) }
    let found = try await store.chunks(hashes, in: zone(row).database, maxBytes: Self.chunks * Self.chunkBytes)
    guard found.allSatisfy({ $0.bytes?.count == Self.chunkBytes }), found.count == Self.chunks else {
      throw CaravanError(.internalError, "chunks of the benchmark are gone")
    }
  }
}
