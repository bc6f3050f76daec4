import CaravanBus
import CaravanModel
import CaravanSchemaClient
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a default zone is one zone to its clients, and as many places as its container's setting says (CK-10).
/// Method: devices against sync, schema and a real store, and looks at where the records came to lie.
@Suite(.timeLimit(.minutes(2))) struct DefaultZoneTests {
  private static let everybodys = DatabaseID(
    container: ContainerID(unchecked: "album"), environment: .development, owner: nil)

  private static func said(_ cloud: CloudCluster, _ settings: CaravanModel.ContainerSettings) async throws {
    let client = SchemaClient(bus: cloud.hub.connect(as: "operator"))
    _ = try await client.settings(of: everybodys.container, in: .development, saying: settings)
  }

  private static func push(_ op: UInt64, _ mutation: CaravanModel.Mutation, _ scope: DatabaseScope = .public) -> Push {
    var push = Push.of(op, [mutation], to: DefaultZone.name)
    push.database = scope
    return push
  }

  private static func outcome(_ device: Device, _ push: Push) async throws -> CaravanModel.Outcome? {
    let result = try await device.ask(.push(push))
    guard case .commit(let reply) = result else { throw Unexpected(result: result) }
    return try reply.model().outcomes.first
  }

  private static func read(
    _ device: Device, _ names: [String], _ scope: DatabaseScope = .public
  ) async throws -> [CaravanWire.Entry] {
    let read = ReadRecords(container: "album", zone: DefaultZone.name, names: names, database: scope)
    let result = try await device.ask(.read(read))
    guard case .records(let records) = result else { throw Unexpected(result: result) }
    return records.entries
  }

  @Test("CK-10, CK-22: records spread over the shards, each is found by its name, in the order asked for")
  func spread() async throws {
    try await CloudCluster.with { cloud in
      try await Self.said(cloud, CaravanModel.ContainerSettings(publicShards: 4))
      let (a, eve) = (try cloud.device("a"), try cloud.device("e", of: "eve"))
      let type = try await a.agree([("name", .text)])
      let names = (0..<40).map { "record-\($0)" }
      for (op, name) in zip(UInt64(1)..., names) {
        let push = Self.push(op, .save(name, [1: .text(name)], type: type))
        guard case .accepted? = try await Self.outcome(a, push) else {
          Issue.record("\(name) was not accepted")
          return
        }
      }
      let wanted = names.reversed() + ["nobody"]
      #expect(try await Self.read(eve, Array(wanted)).map(\.name) == names.reversed())
      let storage = StorageClient(bus: cloud.hub.connect(as: "look"), host: cloud.host, writer: "@look")
      var partitions: Set<Partition> = []
      for shard in 0..<4 as Range<UInt32> {
        let database = Self.everybodys.shard(shard)
        partitions.insert(Partition(of: database))
        let there = try await storage.fetch(names, from: ZoneID(database, DefaultZone.name)).map(\.name)
        #expect(there == names.filter { DefaultZone.shard(of: $0, among: 4) == shard })
        #expect(there.count >= 4, "shard \(shard) has \(there.count) of 40 records")
      }
      #expect(partitions.count == 4)
    }
  }

  @Test("CK-22, CK-25, UNI-07: each record by itself is compared and set, once, and settled by its name")
  func single() async throws {
    try await CloudCluster.with { cloud in
      try await Self.said(cloud, CaravanModel.ContainerSettings(publicShards: 3))
      let (a, b) = (try cloud.device("a"), try cloud.device("b"))
      let type = try await a.agree([("name", .text)])
      for name in (0..<6).map({ "r\($0)" }) {
        let op = UInt64(name.dropFirst()).map { $0 * 10 } ?? 0
        let first = Self.push(op + 1, .save(name, [1: .text("a")], type: type))
        guard case .accepted(let version)? = try await Self.outcome(a, first) else {
          throw Missing("first version of \(name)")
        }
        #expect(try await Self.outcome(a, first) == .accepted(version: version), "the same op again")
        guard
          case .conflict(let server?)? = try await Self.outcome(
            b, Self.push(op + 1, .save(name, [1: .text("b")], type: type)))
        else {
          Issue.record("\(name) exists")
          continue
        }
        #expect(server.version == version)
        let next = Self.push(op + 2, .save(name, [1: .text("b")], type: type, base: .version(version)))
        guard case .accepted(let second)? = try await Self.outcome(b, next) else {
          Issue.record("\(name) was not changed")
          continue
        }
        let settle = Settle(container: "album", zone: DefaultZone.name, op: op + 2, database: .public, record: name)
        guard case .commit(let reply) = try await b.ask(.settle(settle)) else {
          throw Missing("answer to the settlement")
        }
        #expect(try reply.model().outcomes == [.accepted(version: second)])
        let delete = CaravanModel.Mutation(name: name, base: .version(second), change: .delete)
        guard case .accepted? = try await Self.outcome(a, Self.push(op + 3, delete)) else {
          Issue.record("\(name) was not deleted")
          continue
        }
        #expect(try await Self.read(a, [name]).map(\.deleted) == [true])
      }
    }
  }

  @Test("CK-10: how many shards there are is said once; who says nothing gets what is usual, from the first record on")
  func settings() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree([("name", .text)])
      let client = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      let container = Self.everybodys.container
      #expect(try await client.settings(of: container, in: .development) == nil)
      // Whoever looks says nothing.
      _ = try? await Self.read(a, ["r"])
      #expect(try await client.settings(of: container, in: .development) == nil)
      _ = try await Self.outcome(a, Self.push(1, .save("r", [:], type: type)))
      #expect(try await client.settings(of: container, in: .development) == CaravanModel.ContainerSettings())
      await #expect(throws: CaravanError.self) {
        try await Self.said(cloud, CaravanModel.ContainerSettings(publicShards: 2))
      }
      try await Self.said(cloud, CaravanModel.ContainerSettings())
      let other = ContainerID(unchecked: "other")
      for count in [0, 65] as [UInt32] {
        let settings = CaravanWire.ContainerSettings(publicShards: count, privateShards: count)
        let request = ContainerRequest(
          container: other.text, environment: "development", settings: settings, byOperator: true)
        let probe = cloud.hub.connect(as: "probe-\(count)")
        let refusal = await Self.refusal {
          _ = try await probe.call(request, to: SchemaMethod.container.subject, as: ContainerReply.self)
        }
        // 0 is not said.
        #expect(refusal == (count == 0 ? nil : .invalidData))
      }
    }
  }

  private static func refusal(_ body: () async throws -> Void) async -> ErrorCode? {
    do { try await body() } catch { return (error as? CaravanError)?.code }
    return nil
  }

  @Test("CK-10: chunks of a record lie where it lies, private default zones are divided apart, unlike ones see nothing")
  func chunks() async throws {
    try await CloudCluster.with { cloud in
      try await Self.said(cloud, CaravanModel.ContainerSettings(publicShards: 8, privateShards: 4))
      let a = try cloud.device("a")
      let type = try await a.agree([("name", .text)])
      var op: UInt64 = 0
      for name in ["x", "y", "z"] {
        let request = RequestTicket(container: "album", upload: true, bytes: 10, database: .public, record: name)
        guard case .ticket(let ticket) = try await a.ask(.ticket(request)) else {
          Issue.record("no ticket")
          return
        }
        let home = Self.everybodys.shard(DefaultZone.shard(of: name, among: 8))
        #expect(try ticket.database?.model() == home && ticket.partition == Partition(of: home).number)
        for scope in [DatabaseScope.private, .public] {
          op += 1
          _ = try await Self.outcome(a, Self.push(op, .save(name, [1: .text("\(scope)")], type: type), scope))
          let entries = try await Self.read(a, [name], scope)
          #expect(try entries.map { try RecordFields(body: $0.body)[1] } == [.text("\(scope)")])
        }
      }
      let own = RequestTicket(container: "album", upload: true, bytes: 10)
      guard case .ticket(let ticket) = try await a.ask(.ticket(own)) else { throw Missing("ticket") }
      #expect(try ticket.database?.model().shard == 0)
    }
  }
}
