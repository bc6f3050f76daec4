import CaravanBus
import CaravanCompression
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanStorageCore
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a changed chunk costs what has changed in it, both ways (BEN-10); what is no patch of what is here is never
/// kept, and takes no memory (MOB-23). Method: the service over an in-process bus.
@Suite(.timeLimit(.minutes(2))) struct PatchAdmissionTests {
  private let random = SeededRandom(seed: 21)

  private func patch(_ bytes: [UInt8], of bases: [[UInt8]]) throws -> Chunk {
    var compressor = try Compressor()
    return Chunk(
      hash: SHA256.hash(bytes).bytes, data: try compressor.patch(bytes, from: bases.flatMap { $0 }),
      bases: bases.flatMap { SHA256.hash($0).bytes })
  }

  private func changed(_ bytes: [UInt8]) -> [UInt8] {
    var copy = bytes
    copy[copy.count / 2] ^= 1
    return copy
  }

  @Test("a patch makes its chunk of what is here, of one base or several; the chunk comes back whole, or as a patch")
  func bothWays() async throws {
    try await StorageBench.with { bench in
      let bases = [random.bytes(60_000), random.bytes(50_000)]
      _ = try await bench.chunks(ChunkRequest(ticket: bench.ticket(), put: bases.map { Chunk($0) }))
      let (one, two) = (changed(bases[0]), Array(bases[0].suffix(20_000) + bases[1].prefix(30_000)))
      let put = [try patch(one, of: [bases[0]]), try patch(two, of: bases)]
      #expect(put.allSatisfy { $0.data.count < 100 })
      #expect(try await bench.chunks(ChunkRequest(ticket: bench.ticket(), put: put)).stored == put.flatMap(\.hash))

      let names = put.flatMap(\.hash)
      let whole = ChunkRequest(ticket: bench.ticket(upload: false), get: names)
      #expect(try await bench.chunks(whole).chunks.map(\.data) == [one, two])
      let held = bases.map { SHA256.hash($0).bytes }
      let get = ChunkRequest(ticket: bench.ticket(upload: false), get: names, bases: [held[0], held[0] + held[1]])
      let reply = try await bench.chunks(get)
      var decompressor = try Decompressor()
      for (chunk, bytes) in zip(reply.chunks, [one, two]) {
        #expect(chunk.data.count < 100)
        let base = try ChunkHash.list(chunk.bases).flatMap { hash in
          try #require(bases.first { SHA256.hash($0).bytes == hash.bytes })
        }
        #expect(try decompressor.apply(chunk.data, to: base, limit: Limits.chunkBytes) == bytes)
      }
    }
  }

  @Test("of bases the cloud has not, or that do not help, the chunk comes whole; of some it has, as a patch of those")
  func lackingBases() async throws {
    try await StorageBench.with { bench in
      let (base, foreign) = (random.bytes(40_000), random.bytes(40_000))
      let chunk = changed(base)
      _ = try await bench.chunks(
        ChunkRequest(ticket: bench.ticket(), put: [Chunk(base), Chunk(chunk), Chunk(foreign)]))
      func get(_ bases: [UInt8]) async throws -> Chunk {
        let request = ChunkRequest(
          ticket: bench.ticket(upload: false), get: SHA256.hash(chunk).bytes, bases: [bases])
        return try #require(try await bench.chunks(request).chunks.first)
      }
      let absent = SHA256.hash([0]).bytes
      #expect(try await get(absent) == Chunk(chunk))
      #expect(try await get(SHA256.hash(foreign).bytes) == Chunk(chunk))
      #expect(try await get([]) == Chunk(chunk))
      let partly = try await get(absent + SHA256.hash(base).bytes)
      #expect(partly.bases == SHA256.hash(base).bytes && partly.data.count < 100)
    }
  }

  @Test("an unknown base, another base, a foreign hash, a damaged patch: not stored, and the rest of the request is")
  func refused() async throws {
    try await StorageBench.with { bench in
      let (base, other) = (random.bytes(30_000), random.bytes(30_000))
      _ = try await bench.chunks(ChunkRequest(ticket: bench.ticket(), put: [Chunk(base), Chunk(other)]))
      let good = try patch(changed(base), of: [base])
      var wrongBase = try patch([1] + base, of: [base])
      wrongBase.bases = SHA256.hash(other).bytes
      var wrongHash = try patch([2] + base, of: [base])
      wrongHash.hash = SHA256.hash([2]).bytes
      var damaged = try patch(random.bytes(5_000) + base, of: [base])
      damaged.data[1_000] ^= 0xff
      let unknown = try patch([3] + base, of: [random.bytes(10)])
      let put = [wrongBase, wrongHash, good, damaged, unknown]
      let reply = try await bench.chunks(ChunkRequest(ticket: bench.ticket(), put: put))
      #expect(reply.stored == good.hash)
      #expect(try await bench.status().chunks == 3)
    }
  }

  @Test("a bomb, a patch without a size, too much in all and too many bases are refused before anything is made")
  func bounds() async throws {
    try await StorageBench.with { bench in
      let base = random.bytes(1_000)
      func refusal(_ put: [Chunk]) async -> ErrorCode? {
        await bench.refusal(ChunkRequest(ticket: bench.ticket(bytes: 1 << 30), put: put))
      }
      #expect(await refusal([try patch([UInt8](repeating: 0, count: 50 << 20), of: [base])]) == .limitExceeded)
      let large = try (0..<5).map { try patch([UInt8](repeating: UInt8($0), count: Limits.chunkBytes), of: [base]) }
      #expect(large.allSatisfy { $0.data.count < 100 })
      #expect(await refusal(large) == .limitExceeded, "five of 256 KiB are more than a message may hold")
      #expect(await refusal(Array(large.prefix(4))) == nil, "their base is not here: they are left out")
      var unsized = try patch([1, 2, 3], of: [base])
      // A frame of unknown size (RFC 8878, 3.1.1.1): a window of 1 KiB and one empty last block.
      unsized.data = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00, 0x01, 0x00, 0x00]
      #expect(await refusal([unsized]) == .invalidData)
      var many = try patch([1, 2, 3], of: [base])
      many.bases = [UInt8](repeating: 1, count: 32 * (Limits.basesPerPatch + 1))
      #expect(await refusal([many]) == .limitExceeded)
      let names = [UInt8](repeating: 1, count: 32)
      let wish = ChunkRequest(ticket: bench.ticket(upload: false), get: names, bases: [many.bases])
      #expect(await bench.refusal(wish) == .limitExceeded)
      let surplus = ChunkRequest(ticket: bench.ticket(upload: false), get: names, bases: [names, names])
      #expect(await bench.refusal(surplus) == .invalidData)
      #expect(
        await bench.refusal(ChunkRequest(ticket: bench.ticket(upload: false), get: names, bases: [[1]])) == .invalidData
      )
    }
  }

  @Test("a patch is charged to its ticket as the chunk it makes")
  func charged() async throws {
    try await StorageBench.with { bench in
      let base = random.bytes(10_000)
      let ticket = bench.ticket(bytes: 15_000)
      _ = try await bench.chunks(ChunkRequest(ticket: ticket, put: [Chunk(base)]))
      let put = ChunkRequest(ticket: ticket, put: [try patch(changed(base), of: [base])])
      #expect(await bench.refusal(put) == .limitExceeded)
    }
  }

  // MARK: With commits

  private func commit(
    _ bench: StorageBench, _ op: UInt64, _ mutation: CaravanModel.Mutation, lists: [Asset] = [], chunks: [Chunk] = []
  ) async throws -> CommitReply {
    let commit = Commit(
      zone: try StorageBench.zone(), op: OpID(writer: "phone", epoch: 1, number: op), isAtomic: false,
      mutations: [mutation])
    var request = CommitRequest(commit)
    request.mutations[0].lists = lists
    request.chunks = chunks
    return try await bench.storage.commit(request, in: StorageBench.partition)
  }

  @Test("chunks and patches that come with a commit are staged for it; a patch in vain is missing, not an error")
  func riders() async throws {
    try await StorageBench.with { bench in
      let base = random.bytes(20_000)
      let first = ChunkHash(SHA256.hash(base).bytes)!
      let whole = try await commit(bench, 1, StorageBench.save("a", chunks: [first]), chunks: [Chunk(base)])
      #expect(whole.outcomes.map(\.verdict) == [.accepted])
      let rider = try patch(changed(base), of: [base])
      let second = ChunkHash(rider.hash)!
      let patched = try await commit(bench, 2, StorageBench.save("a", chunks: [second]), chunks: [rider])
      #expect(patched.outcomes.map(\.verdict) == [.accepted])
      let vain = try patch([1] + base, of: [random.bytes(99)])
      let third = ChunkHash(vain.hash)!
      let missing = try await commit(bench, 3, StorageBench.save("a", chunks: [third]), chunks: [vain])
      #expect(missing.missingChunks == third.bytes && missing.outcomes.isEmpty)
      var lying = Chunk(base)
      lying.data[0] ^= 1
      await #expect { try await commit(bench, 4, StorageBench.save("a"), chunks: [lying]) } throws: {
        ($0 as? CaravanError)?.code == .chunkDamaged
      }
    }
  }

  /// An object of small chunks, its list's chunk, and how a body names it.
  private func listed(_ count: Int, seed: UInt64) -> (chunks: [Chunk], list: Chunk, asset: Asset) {
    let source = SeededRandom(seed: seed)
    let chunks = (0..<count).map { _ in Chunk(source.bytes(50)) }
    let manifest = AssetManifest(parts: chunks.map { .init(hash: ChunkHash($0.hash)!, length: 50) })
    let list = Chunk(Asset(manifest).encoded())
    return (chunks, list, Asset(list: ChunkHash(list.hash)!, size: manifest.size))
  }

  private func save(_ asset: Asset) throws -> CaravanModel.Mutation {
    StorageBench.save("a", chunks: [try #require(try asset.listHash())])
  }

  @Test("a record refers to its list and to what that names: asked for in turn, kept with it, collected without it")
  func lists() async throws {
    try await StorageBench.with { bench in
      let object = listed(40, seed: 1)
      let noList = try await commit(bench, 1, save(object.asset), lists: [object.asset])
      #expect(noList.missingChunks == object.list.hash)
      _ = try await bench.chunks(ChunkRequest(ticket: bench.ticket(), put: [object.list]))
      let noChunks = try await commit(bench, 1, save(object.asset), lists: [object.asset])
      #expect(noChunks.missingChunks == object.chunks.flatMap(\.hash))
      _ = try await bench.chunks(ChunkRequest(ticket: bench.ticket(), put: object.chunks))
      let done = try await commit(bench, 1, save(object.asset), lists: [object.asset])
      #expect(done.outcomes.map(\.verdict) == [.accepted])
      bench.clock.advance(by: StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(60))
      try await eventually("maintenance has looked") {
        bench.clock.advance(by: StorageLimits.maintenanceInterval)
        return try await bench.status().chunks == 41
      }
      let op = OpID(writer: "phone", epoch: 1, number: 2)
      let delete = CaravanModel.Mutation(name: "a", base: .any, change: .delete)
      _ = try await bench.storage.commit(
        CommitRequest(Commit(zone: try StorageBench.zone(), op: op, isAtomic: false, mutations: [delete])),
        in: StorageBench.partition)
      bench.clock.advance(by: StoreLimits.stagingLease + StoreLimits.stagingGrace + .seconds(60))
      try await eventually("all are collected") {
        bench.clock.advance(by: StorageLimits.maintenanceInterval)
        return try await bench.status().chunks == 0
      }
    }
  }

  @Test("a list that is none, of another size, or of a list is refused")
  func badLists() async throws {
    try await StorageBench.with { bench in
      let object = listed(40, seed: 2)
      let junk = Chunk([1, 2, 3])
      let nested = Chunk(object.asset.encoded())
      _ = try await bench.chunks(
        ChunkRequest(ticket: bench.ticket(), put: object.chunks + [object.list, junk, nested]))
      func refusal(_ asset: Asset) async throws -> ErrorCode? {
        do {
          _ = try await commit(bench, 1, save(asset), lists: [asset])
          return nil
        } catch let error as CaravanError { return error.code }
      }
      #expect(try await refusal(Asset(list: ChunkHash(junk.hash)!, size: 2_000)) == .invalidData)
      #expect(try await refusal(Asset(list: ChunkHash(object.list.hash)!, size: 1_999)) == .invalidData)
      #expect(try await refusal(Asset(list: ChunkHash(nested.hash)!, size: 2_000)) == .invalidData)
      #expect(try await refusal(object.asset) == nil)
    }
  }
}
