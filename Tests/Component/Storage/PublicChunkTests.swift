import CaravanBus
import CaravanCompression
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanStore
import CaravanTestKit
import CaravanTokens
import CaravanWire
import Testing

/// Goal: nobody gets, names or finds out a chunk of a public database that they have not sent and that no record has
/// which they see. Method: a device that makes up its requests, with real tickets, against a record of another user's.
@Suite(.timeLimit(.minutes(2))) struct PublicChunkTests {
  private static let board = DatabaseID(
    container: ContainerID(unchecked: "notes"), environment: .development, owner: nil)
  private static let partition = Partition(of: board)
  private static let photo = Chunk(SeededRandom(seed: 4).bytes(50_000))

  private struct Setting {
    let bench: StorageBench
    let record: RecordVersion

    func ticket(
      upload: Bool = false, of subject: TicketGrant.Subject? = nil, bytes: UInt64 = 1 << 20
    ) -> Ticket {
      bench.tickets.issue(
        TicketGrant(
          database: board, device: StorageBench.device, isUpload: upload,
          of: subject ?? (upload ? .staged(by: "eve") : .record(record)), bytes: bytes,
          expiresMilliseconds: bench.clock.wallTime.milliseconds + 60_000))
    }

    func ask(_ request: ChunkRequest) async throws -> ChunkReply {
      try await bench.chunks(request, partition: partition)
    }

    func refusal(_ request: ChunkRequest) async -> ErrorCode? { await bench.refusal(request, partition: partition) }

    func commit(_ mutation: CaravanWire.Mutation, as writer: String, _ number: UInt64) async throws -> CommitReply {
      try await bench.storage.commit(
        CommitRequest(
          zone: ZoneRef(record.zone), writer: writer, epoch: 1, op: number, mutations: [mutation]),
        in: partition)
    }
  }

  /// With a record of ann's that has the photo.
  private static func with(_ body: (Setting) async throws -> Void) async throws {
    try await StorageBench.with { bench in
      let zone = try ZoneID(board, DefaultZone.name)
      var request = CommitRequest(zone: ZoneRef(zone), writer: "ann/phone", epoch: 1, op: 1)
      request.mutations = [save("r", photo.hash)]
      request.chunks = [photo]
      let reply = try await bench.storage.commit(request, in: partition)
      #expect(reply.outcomes.map(\.verdict) == [.accepted])
      let head = try #require(try await bench.storage.zones(of: board).first)
      let record = RecordVersion(
        zone: zone, incarnation: head.incarnation, name: "r", version: reply.outcomes[0].version)
      try await body(Setting(bench: bench, record: record))
    }
  }

  private static func save(_ name: String, _ chunks: [UInt8]) -> CaravanWire.Mutation {
    let mutation = CaravanModel.Mutation(
      name: name, base: .any, change: .save(type: 1, body: [1], chunks: (try? ChunkHash.list(chunks)) ?? []))
    return CaravanWire.Mutation(mutation)
  }

  @Test("CK-24: a ticket for a record gives its chunks, whole and in parts, and no others")
  func downloads() async throws {
    try await Self.with { s in
      let other = Chunk([7, 7])
      _ = try await s.ask(ChunkRequest(ticket: s.ticket(upload: true), put: [other]))
      let absent = SHA256.hash([9]).bytes
      let get = ChunkRequest(ticket: s.ticket(), get: other.hash + Self.photo.hash + absent)
      #expect(
        try await s.ask(get).chunks == [Chunk(hash: other.hash), Self.photo, Chunk(hash: absent)],
        "what the device itself has sent is no part of the record either")
      let part = ChunkRequest(ticket: s.ticket(), get: Self.photo.hash, offset: 10, most: 1_000)
      #expect(try await s.ask(part).chunks[0].data == Array(Self.photo.data[10..<1_010]))
      let foreign = ChunkRequest(ticket: s.ticket(), get: other.hash, offset: 1, most: 1)
      #expect(try await s.ask(foreign) == ChunkReply(chunks: [Chunk(hash: other.hash)]))
      #expect(await s.refusal(ChunkRequest(ticket: s.ticket(upload: true), get: Self.photo.hash)) == .notAuthenticated)
      #expect(await s.refusal(ChunkRequest(ticket: s.ticket(), put: [other])) == .notAuthenticated)
      let changed = try await s.commit(Self.save("r", []), as: "ann/phone", 2)
      #expect(changed.outcomes.map(\.verdict) == [.accepted])
      #expect(
        try await s.ask(ChunkRequest(ticket: s.ticket(), get: Self.photo.hash)).chunks == [
          Chunk(hash: Self.photo.hash)
        ],
        "the record is another one by now")
    }
  }

  @Test("CK-65: a ticket that says less or more than was sealed opens nothing")
  func tickets() async throws {
    try await Self.with { s in
      let edits: [(inout Ticket) -> Void] = [
        { $0.record = "s" }, { $0.record = "" }, { $0.version += 1 }, { $0.incarnation += 1 }, { $0.zone = "t" },
        { ($0.record, $0.author) = ("", "ann") }, { $0.upload = true },
      ]
      for edit in edits {
        var ticket = s.ticket()
        edit(&ticket)
        #expect(await s.refusal(ChunkRequest(ticket: ticket, get: Self.photo.hash)) == .notAuthenticated)
      }
      var sent = s.ticket(upload: true)
      sent.author = "ann"
      #expect(await s.refusal(ChunkRequest(ticket: sent, put: [Self.photo])) == .notAuthenticated)
    }
  }

  @Test("CK-65: patches tell nothing of a chunk that is another's: as base it is not there")
  func patches() async throws {
    try await Self.with { s in
      var compressor = try Compressor()
      let near = Self.photo.data + [1]
      let patch = Chunk(
        hash: SHA256.hash(near).bytes, data: try compressor.patch(near, from: Self.photo.data),
        bases: Self.photo.hash)
      let itself = Chunk(
        hash: Self.photo.hash, data: try compressor.patch(Self.photo.data, from: Self.photo.data),
        bases: Self.photo.hash)
      let put = ChunkRequest(ticket: s.ticket(upload: true), put: [patch, itself])
      #expect(try await s.ask(put) == ChunkReply())
      var push = CommitRequest(zone: ZoneRef(s.record.zone), writer: "eve/phone", epoch: 1, op: 1)
      push.mutations = [Self.save("e", patch.hash)]
      push.chunks = [patch]
      let reply = try await s.bench.storage.commit(push, in: Self.partition)
      #expect(reply.missingChunks == patch.hash)
      // Once the bytes are sent they are a base, of what comes and of what goes.
      _ = try await s.ask(ChunkRequest(ticket: s.ticket(upload: true), put: [Self.photo]))
      #expect(try await s.ask(put).stored == patch.hash + itself.hash)
      let mine = Chunk([5, 5, 5])
      _ = try await s.ask(ChunkRequest(ticket: s.ticket(upload: true), put: [mine]))
      let get = ChunkRequest(ticket: s.ticket(), get: Self.photo.hash, bases: [mine.hash])
      #expect(try await s.ask(get).chunks == [Self.photo], "what is no chunk of the record is no base")
    }
  }

  @Test("CK-65: what a commit lacks is told alike for a chunk of another's record and for one that is nowhere")
  func commits() async throws {
    try await Self.with { s in
      let nowhere = SHA256.hash([9]).bytes
      for (number, hash) in [Self.photo.hash, nowhere].enumerated() {
        let reply = try await s.commit(Self.save("e", hash), as: "eve/phone", UInt64(number) + 1)
        #expect(reply == CommitReply(missingChunks: hash))
      }
      // As a list of an object, whose bytes would be read before anything is decided.
      for (number, hash) in [Self.photo.hash, nowhere].enumerated() {
        var mutation = Self.save("e", hash)
        mutation.lists = [Asset(list: try #require(ChunkHash(hash)), size: 9)]
        let reply = try await s.commit(mutation, as: "eve/phone", UInt64(number) + 11)
        #expect(reply == CommitReply(missingChunks: hash), "its bytes are not even looked at")
      }
      let database = DatabaseRef(Self.board)
      let methods: [(StorageMethod, any WireMessage)] = [
        (.missing, MissingChunksRequest(database: database, hashes: Self.photo.hash)),
        (.parcel, ParcelRequest(database: database, get: Self.photo.hash)),
      ]
      for (method, request) in methods {
        let message = Message(request.encoded())
        let error = await #expect(throws: CaravanError.self) {
          _ = try await s.bench.bus.request(message, to: method.subject(in: Self.partition), deadline: .seconds(5))
        }
        #expect(error?.code == .accessDenied, "\(method)")
      }
    }
  }
}
