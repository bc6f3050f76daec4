import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanSyncCore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a device that makes up its operations learns nothing of objects in a public database that its user does not
/// see. Method: devices, sync, schema and a real store; every answer is compared with that for a record or a chunk that
/// is nowhere.
@Suite(.timeLimit(.minutes(2))) struct PublicObjectTests {
  private static let photo = [UInt8](repeating: 3, count: 2_000)
  private static let fields: [(String, CaravanModel.FieldKind)] = [("text", .text), ("photo", .object)]

  private static func asset(_ bytes: [UInt8]) -> CaravanModel.Value {
    let hash = ChunkHash(SHA256.hash(bytes).bytes) ?? { preconditionFailure("a digest is a hash") }()
    return .asset(AssetManifest(parts: [AssetManifest.Part(hash: hash, length: UInt32(bytes.count))]))
  }

  private static func push(
    _ op: UInt64, _ name: String, _ fields: [UInt32: CaravanModel.Value], type: CaravanModel.RecordType,
    bringing chunks: [[UInt8]] = []
  ) -> CaravanWire.Operation.Kind {
    var push = Push.of(op, [.save(name, fields, type: type)], to: DefaultZone.name)
    push.database = .public
    push.chunks = chunks.map { Chunk(hash: SHA256.hash($0).bytes, data: $0) }
    return .push(push)
  }

  private static func ticket(_ record: String, version: UInt64 = 0, upload: Bool = false) -> CaravanWire.Operation.Kind
  {
    .ticket(
      RequestTicket(container: "album", upload: upload, database: .public, record: record, version: version))
  }

  private static func hide(_ type: CaravanModel.RecordType, _ cloud: CloudCluster) async throws {
    var hidden = type
    var grants = CaravanModel.TypeGrants.standard
    try grants.grant([], to: .world)
    hidden.grants = grants
    let schema = SchemaClient(bus: cloud.hub.connect(as: "operator"))
    _ = try await schema.propose(hidden, to: ContainerID("album"), in: .development, by: nil)
    try await cloud.host.clock.sleep(for: SyncLimits.grantsFreshness)
  }

  /// A name in the shard of another, so that both meet the same partition.
  private static func free(like name: String) -> String {
    let shards = CaravanModel.ContainerSettings().publicShards
    let shard = DefaultZone.shard(of: name, among: shards)
    return (0..<1_000).map { "f\($0)" }.first { $0 != name && DefaultZone.shard(of: $0, among: shards) == shard } ?? ""
  }

  @Test("CK-65: ticket and push tell nothing of a record that is hidden, nor of its objects; nor do those of its maker")
  func hidden() async throws {
    try await CloudCluster.with { cloud in
      let (ann, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await ann.agree(Self.fields)
      let save = Self.push(1, "r", [2: Self.asset(Self.photo)], type: type, bringing: [Self.photo])
      guard case .commit(let made) = try await ann.ask(save) else { throw Missing("commit") }
      #expect(made.outcomes.map(\.verdict) == [.accepted])
      guard case .ticket(let seen) = try await eve.ask(Self.ticket("r")) else { throw Missing("ticket") }
      #expect(seen.record == "r" && seen.version == made.outcomes[0].version && !seen.upload && seen.author.isEmpty)
      #expect(try await eve.refusal(Self.ticket("r", version: seen.version + 1))?.code == .serverRecordChanged)
      #expect(try await eve.refusal(Self.ticket(""))?.code == .invalidData)

      try await Self.hide(type, cloud)
      let free = Self.free(like: "r")
      func told(_ name: String, _ version: UInt64) async throws -> [UInt8] {
        let result = try await eve.ask(Self.ticket(name, version: version))
        guard case .failure(var failure) = result else { throw Unexpected(result: result) }
        failure.message = failure.message.replacing("'\(name)'", with: "it")
        return failure.encoded()
      }
      for version in [0, seen.version, 99] { #expect(try await told("r", version) == told(free, version)) }
      guard case .ticket = try await ann.ask(Self.ticket("r")) else { throw Missing("a ticket of the maker's own") }

      // The chunk is named by its hash, in a record of eve's own that lies beside ann's.
      let nowhere = [UInt8](repeating: 8, count: 2_000)
      var op: UInt64 = 0
      func lacks(_ bytes: [UInt8]) async throws -> CommitReply {
        op += 1
        let result = try await eve.ask(Self.push(op, free, [2: Self.asset(bytes)], type: type))
        guard case .commit(let reply) = result else { throw Unexpected(result: result) }
        #expect(reply.missingChunks == SHA256.hash(bytes).bytes)
        return reply
      }
      var (there, absent) = (try await lacks(Self.photo), try await lacks(nowhere))
      (there.missingChunks, absent.missingChunks) = ([], [])
      #expect(there.encoded() == absent.encoded())
      guard case .ticket(let upload) = try await eve.ask(Self.ticket(free, upload: true)) else {
        throw Missing("ticket")
      }
      #expect(upload.record.isEmpty && !upload.author.isEmpty && !upload.author.contains("eve"), "CK-02: an alias")
      op += 1
      let own = Self.push(op, free, [2: Self.asset(Self.photo)], type: type, bringing: [Self.photo])
      guard case .commit(let reply) = try await eve.ask(own) else { throw Missing("commit") }
      #expect(reply.outcomes.map(\.verdict) == [.accepted], "whoever has the bytes may send them")
    }
  }
}
