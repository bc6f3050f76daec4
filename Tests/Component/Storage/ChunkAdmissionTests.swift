import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanStorageCore
import CaravanStore
import CaravanTestKit
import CaravanTokens
import CaravanWire
import Testing

/// Goal: bulk bytes come in whole, under a ticket of their database's, within its limits; or not at all.
@Suite(.timeLimit(.minutes(2))) struct ChunkAdmissionTests {
  @Test("put, put again, commit, get in order; absent chunks come without data")
  func roundTrip() async throws {
    try await StorageBench.with { bench in
      let chunks = [Chunk([UInt8](repeating: 1, count: 200_000)), Chunk([2])]
      let put = ChunkRequest(ticket: bench.ticket(bytes: 200_001), put: chunks)
      let stored = chunks.flatMap(\.hash)
      #expect(try await bench.chunks(put).stored == stored)
      #expect(try await bench.chunks(put).stored == stored, "sending again costs nothing of the ticket")
      let hashes = try ChunkHash.list(stored)
      let reply = try await bench.commit(1, [StorageBench.save("a", chunks: hashes)], to: StorageBench.zone())
      #expect(reply.outcomes.map(\.verdict) == [.accepted])

      let absent = SHA256.hash([9]).bytes
      let get = ChunkRequest(ticket: bench.ticket(upload: false), get: chunks[1].hash + absent + chunks[0].hash)
      #expect(try await bench.chunks(get).chunks == [chunks[1], Chunk(hash: absent), chunks[0]])
      #expect(
        try await bench.storage.missing([hashes[0], ChunkHash(absent)!], in: StorageBench.database) == [
          ChunkHash(absent)!
        ])
    }
  }

  @Test("an answer holds as many chunks as fit, in the order asked")
  func bounded() async throws {
    try await StorageBench.with { bench in
      let chunks = (0..<6).map { Chunk([UInt8](repeating: UInt8($0), count: Limits.chunkBytes)) }
      for chunk in chunks {
        _ = try await bench.chunks(ChunkRequest(ticket: bench.ticket(bytes: 1 << 21), put: [chunk]))
      }
      let get = ChunkRequest(ticket: bench.ticket(upload: false), get: chunks.flatMap(\.hash))
      #expect(try await bench.chunks(get).chunks == Array(chunks.prefix(Limits.chunkBatchBytes / Limits.chunkBytes)))
    }
  }

  @Test("MOB-23: no more than is asked for comes back, of a larger chunk the part that is asked for")
  func parts() async throws {
    try await StorageBench.with { bench in
      let long = Chunk(SeededRandom(seed: 1).bytes(100_000))
      let small = Chunk([1, 2, 3])
      let near = Chunk(long.data + [7])
      let put = [small, long, near]
      _ = try await bench.chunks(ChunkRequest(ticket: bench.ticket(bytes: 1 << 20), put: put))
      let ticket = bench.ticket(upload: false)
      let two = ChunkRequest(ticket: ticket, get: small.hash + long.hash, most: 40_000)
      #expect(try await bench.chunks(two) == ChunkReply(chunks: [small]))
      var bytes: [UInt8] = []
      while bytes.count < long.data.count, bytes.count < 1 << 20 {
        let reply = try await bench.chunks(
          ChunkRequest(ticket: ticket, get: long.hash + small.hash, offset: UInt32(bytes.count), most: 40_000))
        #expect(reply.size == 100_000 && reply.chunks.count == 1)
        #expect((1...40_000).contains(reply.chunks[0].data.count))
        bytes += reply.chunks[0].data
      }
      #expect(bytes == long.data)
      let absent = SHA256.hash([9]).bytes
      let gone = ChunkRequest(ticket: ticket, get: absent, offset: 7, most: 40_000)
      #expect(try await bench.chunks(gone) == ChunkReply(chunks: [Chunk(hash: absent)]))
      for offset in [100_000, UInt32.max] {
        #expect(
          await bench.refusal(ChunkRequest(ticket: ticket, get: long.hash, offset: offset, most: 1)) == .invalidData)
      }
      #expect(await bench.refusal(ChunkRequest(ticket: ticket, offset: 1, most: 1)) == .invalidData)
      let resembling = ChunkRequest(ticket: ticket, get: near.hash, bases: [long.hash], most: 1_000)
      #expect(try await bench.chunks(resembling).chunks[0].bases == long.hash, "a patch that fits goes whole")
    }
  }

  @Test("a damaged or truncated chunk is refused, and none of its request is kept")
  func damaged() async throws {
    try await StorageBench.with { bench in
      let good = Chunk([UInt8](repeating: 1, count: 1_000))
      var flipped = Chunk([UInt8](repeating: 2, count: 1_000))
      flipped.data[500] ^= 1
      var short = Chunk([UInt8](repeating: 3, count: 1_000))
      short.data.removeLast()
      for bad in [flipped, short] {
        let refusal = await bench.refusal(ChunkRequest(ticket: bench.ticket(), put: [good, bad]))
        #expect(refusal == .chunkDamaged)
      }
      var nameless = good
      nameless.hash.removeLast()
      #expect(await bench.refusal(ChunkRequest(ticket: bench.ticket(), put: [nameless])) == .invalidData)
      let status = try await bench.status()
      #expect(status.chunks == 0)
    }
  }

  @Test("a ticket is for one device, one database, one direction and a time, and cannot be edited")
  func tickets() async throws {
    try await StorageBench.with { bench in
      let chunk = Chunk([1])
      let other = EnrolledDevice("ada", "tablet")
      #expect(await bench.refusal(ChunkRequest(put: [chunk])) == .invalidData)
      #expect(await bench.refusal(ChunkRequest(ticket: bench.ticket(), put: [chunk]), as: other) == .notAuthenticated)
      let foreign = TicketSeal(key: try TicketKey([UInt8](repeating: 6, count: TicketKey.byteCount))).issue(
        TicketGrant(
          database: StorageBench.database, device: StorageBench.device, isUpload: true, bytes: 9,
          expiresMilliseconds: .max))
      #expect(await bench.refusal(ChunkRequest(ticket: foreign, put: [chunk])) == .notAuthenticated)
      let edits: [(inout Ticket) -> Void] = [
        { $0.bytes += 1 }, { $0.expiresMilliseconds += 1 }, { $0.database?.container = "photos" },
        { $0.device = "ada/tablet/1" },
        { $0.mac[0] ^= 1 }, { $0.mac = [] }, { $0.database?.environment = "production" },
      ]
      for edit in edits {
        var ticket = bench.ticket()
        edit(&ticket)
        #expect(await bench.refusal(ChunkRequest(ticket: ticket, put: [chunk])) == .notAuthenticated)
      }
      var download = bench.ticket(upload: false)
      download.upload = true
      #expect(await bench.refusal(ChunkRequest(ticket: download, put: [chunk])) == .notAuthenticated)
      #expect(await bench.refusal(ChunkRequest(ticket: bench.ticket(upload: false), put: [chunk])) == .notAuthenticated)
      let elsewhere = Partition.all.first { $0 != StorageBench.partition }!
      #expect(
        await bench.refusal(ChunkRequest(ticket: bench.ticket(), put: [chunk]), partition: elsewhere) == .invalidData)
      let old = bench.ticket(lasting: 5)
      bench.clock.advance(by: .seconds(5))
      #expect(await bench.refusal(ChunkRequest(ticket: old, put: [chunk])) == .leaseExpired)
      #expect(try await bench.status().chunks == 0)
    }
  }

  @Test("TRU-02: without a ticket that is good nothing behind it is read; with one, a flood is refused unopened")
  func ticketFirst() async throws {
    try await StorageBench.with { bench in
      func refusal(_ payload: [UInt8]) async -> CaravanError? {
        let subject = Subject.chunks(StorageBench.device, StorageBench.partition)
        do throws(CaravanError) {
          let bus = bench.hub.connect(as: StorageBench.device.device.text)
          _ = try await bus.request(Message(payload), to: subject, deadline: .seconds(20))
          return nil
        } catch { return error }
      }
      var flood: [UInt8] = []
      for _ in 0..<500_000 { flood += [0x12, 0] }
      // What is behind the first fields is no message: who looks at it says so.
      let without = await refusal(flood + [0x0f, 0x0f])
      #expect(without?.code == .invalidData && without?.message.contains("ticket is missing") == true)
      let ticket = ChunkRequest(ticket: bench.ticket()).encoded()
      #expect(await refusal(ticket + flood)?.code == .limitExceeded)
      var forged = bench.ticket()
      forged.bytes += 1
      #expect(await refusal(ChunkRequest(ticket: forged).encoded() + flood + [0x0f])?.code == .notAuthenticated)
      let large = ticket + [UInt8](repeating: 0, count: StorageLimits.chunkMessageBytes)
      #expect(await refusal(large)?.code == .limitExceeded)
      #expect(await refusal(ticket + ticket)?.code == .invalidData, "the ticket that was read is the only one")
    }
  }

  /// Why the request is refused.
  private static func refusal(_ request: ChunkRequest, _ bench: StorageBench) async -> CaravanError? {
    do throws(CaravanError) {
      _ = try await bench.chunks(request)
      return nil
    } catch { return error }
  }

  @Test("CK-101: bytes of chunks count for whoever moves them, up and down; they are told when to come again")
  func rates() async throws {
    let rates = RateLimits(device: Rate(perSecond: 100, burst: 200), user: nil, container: nil)
    try await StorageBench.with(rates: rates) { bench in
      let chunks = (0..<3).map { Chunk([UInt8](repeating: UInt8($0), count: 200_000)) }
      func put(_ index: Int) -> ChunkRequest { ChunkRequest(ticket: bench.ticket(), put: [chunks[index]]) }
      func get(_ index: Int) -> ChunkRequest {
        ChunkRequest(ticket: bench.ticket(upload: false), get: chunks[index].hash)
      }
      for index in 0..<2 { #expect(await Self.refusal(put(index), bench) == nil) }
      // 49 pieces each: 47 of the third are too many.
      let refusal = try #require(await Self.refusal(put(2), bench))
      #expect(refusal.code == .rateLimited && refusal.retryAfterMilliseconds == 940)
      #expect(try await bench.status().chunks == 2, "nothing of it is kept")
      bench.clock.advance(by: .milliseconds(939))
      #expect(await Self.refusal(put(2), bench)?.retryAfterMilliseconds == 1)
      bench.clock.advance(by: .milliseconds(1))
      #expect(await Self.refusal(put(2), bench) == nil)

      #expect(await Self.refusal(get(0), bench)?.code == .rateLimited, "there is none left even to ask with")
      bench.clock.advance(by: .milliseconds(20))
      #expect(try await bench.chunks(get(0)).chunks == [chunks[0]], "what comes down is paid for afterwards")
      #expect(await Self.refusal(get(1), bench)?.retryAfterMilliseconds == 1_000)
      bench.clock.advance(by: .seconds(60))
      #expect(try await bench.chunks(get(1)).chunks == [chunks[1]])
    }
  }

  @Test("CK-101: chunks count for their device, its user and its container", arguments: RateLedger.Scope.allCases)
  func payers(scope: RateLedger.Scope) async throws {
    let rate = Rate(perSecond: 2, burst: 80)
    let rates = RateLimits(
      device: scope == .device ? rate : nil, user: scope == .user ? rate : nil,
      container: scope == .container ? rate : nil)
    try await StorageBench.with(rates: rates) { bench in
      let chunk = Chunk([UInt8](repeating: 1, count: 150_000))
      #expect(await Self.refusal(ChunkRequest(ticket: bench.ticket(), put: [chunk]), bench) == nil)
      let refusal = await Self.refusal(ChunkRequest(ticket: bench.ticket(), put: [chunk]), bench)
      #expect(refusal?.message.contains("this \(scope.rawValue)") == true)
      let photos = DatabaseID(
        container: ContainerID(unchecked: "photos"), environment: .development, owner: StorageBench.user)
      let elsewhere = await Self.refusal(ChunkRequest(ticket: bench.ticket(of: photos), put: [chunk]), bench)
      #expect((elsewhere == nil) == (scope == .container), "another container is another bucket, and the same device")
    }
  }

  @Test("sizes: empty, too large, too many bytes, more than the ticket allows in all")
  func sizes() async throws {
    try await StorageBench.with { bench in
      func refusal(_ put: [Chunk], _ ticket: Ticket) async -> ErrorCode? {
        await bench.refusal(ChunkRequest(ticket: ticket, put: put))
      }
      #expect(await refusal([Chunk([])], bench.ticket()) == .limitExceeded)
      let large = Chunk([UInt8](repeating: 0, count: Limits.chunkBytes + 1))
      #expect(await refusal([large], bench.ticket()) == .limitExceeded)
      let many = (0..<5).map { Chunk([UInt8](repeating: UInt8($0), count: Limits.chunkBytes)) }
      #expect(await refusal(many, bench.ticket(bytes: 1 << 30)) == .limitExceeded)
      let ticket = bench.ticket(bytes: 250)
      #expect(await refusal([Chunk([UInt8](repeating: 1, count: 200))], ticket) == nil)
      #expect(await refusal([Chunk([UInt8](repeating: 2, count: 51))], ticket) == .limitExceeded)
      #expect(await refusal([Chunk([UInt8](repeating: 2, count: 50))], ticket) == nil)
      let wanted = [UInt8](repeating: 0, count: 32 * (Limits.chunksPerRequest + 1))
      #expect(await bench.refusal(ChunkRequest(ticket: bench.ticket(), get: wanted)) == .limitExceeded)
      #expect(await bench.refusal(ChunkRequest(ticket: bench.ticket(), get: [1, 2])) == .invalidData)
    }
  }
}
