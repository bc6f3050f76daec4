import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanSyncCore
import CaravanSyncDriver
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: what the requirements promise of the device protocol as a whole, row by row. Method: devices, sync, schema and
/// a real store.
@Suite(.timeLimit(.minutes(2))) struct PromiseTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text), ("n", .integer)]

  private static func storage(_ cloud: CloudCluster) -> StorageClient {
    StorageClient(bus: cloud.hub.connect(as: "backend"), host: cloud.host, writer: "@backend")
  }

  private static func photos(of user: String = "ann") throws -> ZoneID {
    try ZoneID(DatabaseID(container: ContainerID("album"), environment: .development, owner: UserID(user)), "photos")
  }

  @Test("SIM-34: a row has one number, which each update raises; the table's is the highest; no client gives any")
  func versions() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      let made = try await a.push(1, ["r", "s"].map { .save($0, [1: .text($0)], type: type) })
      #expect(made.versions == [1, 2])
      // A device that says which version its row shall have says what its row is based on, and nothing else.
      let ahead = try await b.push(1, [.save("r", [1: .text("x")], type: type, base: .version(900))])
      #expect(ahead.versions.isEmpty)
      #expect(try await b.push(2, [.save("r", [1: .text("y")], type: type, base: .version(1))]).versions == [3])
      guard case .zones(let zones) = try await b.ask(.zones(ListZones(container: "album"))) else {
        throw Missing("list of zones")
      }
      let entries = try await b.pull().entries
      #expect(entries.map(\.version) == [2, 3] && zones.zones.map(\.seq) == entries.map(\.version).max().map { [$0] })
    }
  }

  @Test("CK-04: a public database is read by all and charged to its app, a private one to its user, and theirs alone")
  func databases() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await ann.agree(Self.fields)
      let storage = Self.storage(cloud)
      func used(_ user: UserID) async throws -> Int64 {
        try await storage.quota(QuotaRequest(), of: .user(user, .development)).used.records
      }
      let app = Account.container(ContainerID(unchecked: "album"), .development)
      var open = Push.of(1, [.save("board", [1: .text("hello")], type: type)], to: DefaultZone.name)
      open.database = .public
      guard case .commit = try await ann.ask(.push(open)) else { throw CaravanError(.internalError, "not taken") }
      let before = try await storage.quota(QuotaRequest(), of: app).used.records
      open = Push.of(3, [.save("second", [1: .text("hello")], type: type)], to: DefaultZone.name)
      open.database = .public
      _ = try await ann.ask(.push(open))
      _ = try await ann.push(2, [.save("mine", [1: .text("secret")], type: type)])
      #expect(try await eve.read(["board"], zone: DefaultZone.name, database: .public).entries.map(\.name) == ["board"])
      #expect(try await eve.read(["mine"]).entries.isEmpty)
      // Who writes to a public record must be somebody: the subject says who, and an update is under the same rules.
      open = Push.of(1, [.save("board", [1: .text("bye")], type: type)], to: DefaultZone.name)
      open.database = .public
      guard case .commit(let reply) = try await eve.ask(.push(open)) else { throw Missing("answer to the push") }
      #expect(try reply.model().versions.isEmpty, "a record that eve has not seen is not hers to overwrite")
      #expect(try await used(ann.user) == 1)
      #expect(try await used(eve.user) == 0)
      let after = try await storage.quota(QuotaRequest(), of: app).used.records
      #expect(after == before + 1, "what is public is the app's, beside its record types")
    }
  }

  @Test("MOB-56: a backend's own calls and the device protocol are one API over the same records")
  func interfaces() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      let (storage, zone) = (Self.storage(cloud), try Self.photos())
      _ = try await a.push(1, [.save("r", [1: .text("from a device")], type: type)])
      let seen = try #require(try await storage.fetch(["r"], from: zone).first)
      #expect(try RecordFields(body: seen.body)[1] == .text("from a device") && seen.writer == "ann/a/1")
      // Create, update and delete, under the rules that hold for devices.
      let row = CaravanModel.Mutation.save("r", [1: .text("from a backend")], type: type, base: .version(1))
      let result = try await storage.commit(to: zone, [row, .save("s", [1: .text("new")], type: type)])
      #expect(result.versions == [2, 3])
      let stale = try await storage.commit(
        to: zone, [CaravanModel.Mutation(name: "r", base: .version(1), change: .delete)])
      #expect(stale.versions.isEmpty)
      #expect(try await a.pull().entries.map(\.writer) == ["@backend", "@backend"])
      _ = try await storage.commit(to: zone, [CaravanModel.Mutation(name: "s", base: .version(3), change: .delete)])
      #expect(try await a.read(["r", "s"]).entries.filter { !$0.deleted }.map(\.name) == ["r"])
    }
  }

  @Test("MOB-54: what becomes of one device's frames is nobody else's matter; each may meet another process")
  func independence() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b", of: "bob"))
      let second = try SecondSync(cloud)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await second.service.run() }
        let type = try await a.agree(Self.fields)
        _ = try await b.agree(Self.fields)
        // b dies in the middle of a frame, again and again, and sends nonsense between.
        for number in 1...40 as ClosedRange<UInt64> {
          async let refused = try? b.send([0xff, 0x01])
          let doomed = Task { try? await b.pull() }
          doomed.cancel()
          let pushed = try await a.push(number, [.save("r\(number)", [2: .integer(1)], type: type)])
          #expect(pushed.versions == [number])
          _ = await (refused, doomed.value)
        }
        // A way through pages goes on wherever it is asked for.
        var (token, names) = ([UInt8](), [String]())
        while true {
          let page = try await a.pull(after: token, maxBytes: 64)
          names += try page.entries.map(\.name)
          token = page.token
          if !page.more { break }
        }
        #expect(names == (1...40).map { "r\($0)" })
        try await eventually("both processes have answered") { second.frames > 0 }
        second.service.shutDown()
        try await group.waitForAll()
      }
    }
  }

  @Test("REC-11, E14: what a page named can be fetched as it was, piece by piece, whatever is written meanwhile")
  func immutableStaging() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree([("photo", .object)])
      func photo(_ byte: UInt8, base: Base) throws -> (Push, [Chunk]) {
        let chunks = (0..<3).map { Chunk([byte, UInt8($0)] + [UInt8](repeating: byte, count: 500)) }
        let parts = chunks.map { AssetManifest.Part(hash: $0.name, length: 502) }
        let row = CaravanModel.Mutation.save("r", [1: .asset(AssetManifest(parts: parts))], type: type, base: base)
        var push = Push.of(UInt64(byte), [row])
        push.chunks = chunks
        return (push, chunks)
      }
      let (first, old) = try photo(1, base: .absent)
      _ = try await a.ask(.push(first))
      let page = try await b.pull()
      let named = try RecordFields(body: #require(try page.entries.first).body).chunks
      #expect(named == old.map(\.name))
      let ticket = try await b.ticket(RequestTicket(container: "album"))
      func fetch(_ hash: ChunkHash) async throws -> [UInt8]? {
        let get = ChunkRequest(ticket: ticket, get: hash.bytes)
        let reply: ChunkReply = try await b.bus.call(
          get, to: .chunks(b.enrolled, try Partition(ticket.partition)))
        return reply.chunks.first?.data
      }
      var got = [try await fetch(named[0])]
      // No lock is held: the photo is replaced, then the row is deleted, and still the reader gets what it began with.
      let (second, _) = try photo(2, base: .version(1))
      _ = try await a.ask(.push(second))
      got.append(try await fetch(named[1]))
      _ = try await a.push(3, [CaravanModel.Mutation(name: "r", base: .version(2), change: .delete)])
      got.append(try await fetch(named[2]))
      #expect(got == old.map(\.data))
    }
  }

  @Test(
    "I14, CK-65: whatever a stranger asks of another's zone, the answer's bytes are those for a zone that is not there")
  func noLeak() async throws {
    try await CloudCluster.with { cloud in
      let (ann, bob) = (try cloud.device("a"), try cloud.device("b", of: "bob"))
      let type = try await ann.agree(Self.fields)
      _ = try await ann.push(1, [.save("r", [1: .text("secret")], type: type)])
      _ = try await ann.begin(2)
      _ = try await ann.upload(2, 0, [.save("s", [1: .text("staged")], type: type)])
      _ = try await ann.lock()
      let token = try await ann.pull().token
      let stranger = try await ann.pull(from: "nothing").token
      // Zones of one length, so that what is echoed takes as many bytes.
      func answers(_ zone: String, _ token: [UInt8]) async throws -> [[UInt8]] {
        let operations: [CaravanWire.Operation.Kind] = [
          .pull(Pull(container: "album", zone: zone, token: token)),
          .read(ReadRecords(container: "album", zone: zone, names: ["r", "s"])),
          .settle(Settle(container: "album", zone: zone, op: 2)), .zones(ListZones(container: "album")),
          .operation(AskOperation(container: "album", zone: zone, op: 2)),
          .upload(
            UploadPart(container: "album", zone: zone, op: 2, part: 1, mutations: [CaravanWire.Mutation(name: "r")])),
          .commitGroup(CommitGroup(container: "album", zone: zone, op: 2, parts: 1)),
          .changedZones(ListChangedZones(container: "album", token: token)),
          .drop(DropTable(container: "album", zone: zone)),
          .drop(DropTable(container: "album", zone: zone, cancel: true)),
          .syncBegin(SyncBegin(container: "album", zone: zone, lastSyncHeight: 1, incarnation: 7)),
          .push(.of(3, [CaravanModel.Mutation(name: "r", base: .version(1), change: .delete)], to: zone)),
        ]
        var answers: [[UInt8]] = []
        for operation in operations { answers.append(CaravanWire.Result(kind: try await bob.ask(operation)).encoded()) }
        return answers
      }
      let hidden = try await answers("photos", token).map {
        $0.replacing(Array("photos".utf8), with: Array("******".utf8))
      }
      let absent = try await answers("no-one", stranger).map {
        $0.replacing(Array("no-one".utf8), with: Array("******".utf8))
      }
      for (number, (one, other)) in zip(hidden, absent).enumerated() { #expect(one == other, "operation \(number)") }
      #expect(try await ann.pull().entries.map(\.version) == [1], "and nothing happened to it")
    }
  }

  @Test("CK-103: what is turned off is refused by name and nothing else is; features are named, or refused")
  func features() async throws {
    try await CloudCluster.with(features: Features(disabling: "groups,snapshots")) { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree(Self.fields)
      let off: [CaravanWire.Operation.Kind] = [
        .lock(LockDatabase(container: "album")), .beginGroup(BeginGroup(container: "album", zone: "photos", op: 1)),
        .pull(Pull(container: "album", zone: "photos", snapshot: true)),
      ]
      for operation in off {
        let refusal = try #require(try await a.refusal(operation))
        #expect(refusal.code == .featureDisabled && !refusal.isTransient && refusal.message.contains("turned off"))
      }
      #expect(try await a.push(1, [.save("r", [1: .text("x")], type: type)]).versions == [1])
      #expect(try await a.pull(mode: .reverse).entries.map(\.name) == ["r"])
      #expect(try await a.changedZones().zones == [ChangedZone(zone: "photos")])
    }
    for name in Feature.allCases { #expect(throws: Never.self) { try Features(disabling: name.rawValue) } }
    let refusal = #expect(throws: CaravanError.self) { try Features(disabling: "groups,everything") }
    #expect(refusal?.message.contains("'everything'") == true)
  }

  @Test("CK-103: a frame of the first release is served; one of a later release, too, but for what nobody knows here")
  func releases() async throws {
    try await CloudCluster.with { cloud in
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree(Self.fields)
      // What the first release could say of a push and a pull, and nothing of what came since.
      let row = CaravanWire.Mutation(
        name: "r", kind: .save, type: type.id, body: RecordFields([1: .text("x"), 99: .text("later")]).body)
      let old = try await a.exchange([
        .push(Push(container: "album", zone: "photos", op: 1, mutations: [row])),
        .pull(Pull(container: "album", zone: "photos")),
      ])
      guard case .commit(let reply) = old[0], case .pull(let page) = old[1] else { throw Unexpected(result: old[0]) }
      #expect(try reply.model().versions == [1])
      #expect(try page.entries.map(\.own) == [true])
      // Fields of a message that this release does not know are passed over, an operation that it does not know is
      // refused by itself, and what a record has of them is everybody's.
      let unknown: [UInt8] = [0xfa, 0x3e, 0x03, 1, 2, 3]
      let exchange = Exchange(epoch: 1, operations: [.init(kind: .pull(Pull(container: "album", zone: "photos")))])
      let later = exchange.encoded() + unknown + [0x12, UInt8(unknown.count)] + unknown
      let frame = try await b.send(Frame(plainBytes: UInt32(later.count), body: later))
      let results = try ExchangeReply(decoding: FrameBody.open(frame)).results
      guard results.count == 2, case .pull(let seen)? = results[0].kind, case .failure(let failure)? = results[1].kind
      else { throw CaravanError(.internalError, "\(results)") }
      #expect(failure.model().code == .invalidData)
      let body = try #require(try seen.entries.first).body
      #expect(body == row.body)
      #expect(try RecordFields(body: body)[99] == .text("later"))
    }
  }
}

/// Another process of sync beside the cluster's own.
private struct SecondSync: Sendable {
  let service: SyncService
  private let metrics: MetricsRegistry

  init(_ cloud: CloudCluster) throws {
    let host = Host.quiet
    metrics = host.metrics
    service = try SyncService(bus: cloud.hub.connect(as: "sync-2"), host: host, ticketKey: cloud.key)
  }

  var frames: UInt64 {
    let families = metrics.snapshot().families
    return families["caravan_sync_operations_total"]?.series.values.reduce(0) { sum, series in
      if case .counter(let count) = series { sum + count } else { sum }
    } ?? 0
  }
}

extension Device {
  func ticket(_ request: RequestTicket) async throws -> Ticket {
    let result = try await ask(.ticket(request))
    guard case .ticket(let ticket) = result else { throw Unexpected(result: result) }
    return ticket
  }
}
