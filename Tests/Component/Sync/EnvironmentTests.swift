import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanTestKit
import CaravanTokens
import CaravanWire
import Testing

/// Goal: a device reaches its environment's databases and nothing of the other's. Method: the same user, device name,
/// container, zone and record in both, over a real store and a bus, and attacks with what was had in one on the other.
@Suite("Environments", .timeLimit(.minutes(2))) struct EnvironmentTests {
  private static let fields: [(String, CaravanModel.FieldKind)] = [("name", .text)]
  private static let album = ContainerID(unchecked: "album")

  private struct Pair: Sendable {
    let cloud: CloudCluster
    /// Of one user and name.
    let tried: Device
    let used: Device
    /// One type a cluster; they have one id.
    let triedType: CaravanModel.RecordType
    let usedType: CaravanModel.RecordType
  }

  private static func with(_ body: @escaping @Sendable (Pair) async throws -> Void) async throws {
    try await CloudCluster.with(environment: .production) { cloud in
      let client = SchemaClient(bus: cloud.hub.connect(as: "operator"))
      let type = CaravanModel.RecordType(
        id: 0, definition: 0, name: "photos",
        fields: fields.map { CaravanModel.FieldDefinition(id: 0, name: $0.0, kind: $0.1) })
      _ = try await client.propose(type, to: album, in: .production, by: nil)
      let (tried, used) = (try cloud.device("a", in: .development), try cloud.device("a", in: .production))
      try await body(
        Pair(
          cloud: cloud, tried: tried, used: used, triedType: tried.agree(fields), usedType: used.agree(fields)))
    }
  }

  @Test("TRU-04: one user's devices of one name write the same record in both environments, and neither sees two")
  func sameNames() async throws {
    try await Self.with { pair in
      let rows: [(Device, CaravanModel.RecordType, String)] = [
        (pair.tried, pair.triedType, "draft"), (pair.used, pair.usedType, "real"),
      ]
      for (device, type, text) in rows {
        // The same op of the same epoch: neither is taken for the other's.
        #expect(try await device.push(1, [.save("r", [1: .text(text)], type: type)]).versions == [1])
      }
      for (device, _, text) in rows {
        let entries = try await device.pull().entries
        #expect(entries.map(\.name) == ["r"])
        let values = try await device.read(["r"]).entries.map { try RecordFields(body: $0.body)[1] }
        #expect(values == [.text(text)], "\(values)")
        #expect(entries.map(\.writer) == [device.enrolled.text])
        #expect(try await device.read(["r"]).entries.map(\.version) == [1])
        #expect(try await device.changedZones().zones.map(\.zone) == ["photos"])
      }
      // What one deletes stays in the other.
      _ = try await pair.tried.ask(.drop(DropTable(container: "album", zone: "photos")))
      #expect(try await pair.used.read(["r"]).entries.count == 1)
    }
  }

  @Test("TRU-04: change tokens and tickets of one environment are worth nothing in the other, forged or not")
  func attacks() async throws {
    try await Self.with { pair in
      for (device, type) in [(pair.tried, pair.triedType), (pair.used, pair.usedType)] {
        _ = try await device.push(1, [.save("r", [1: .text("x")], type: type)])
      }
      for (own, other) in [(pair.tried, pair.used), (pair.used, pair.tried)] {
        let token = try await own.pull().token
        let pull = CaravanWire.Operation.Kind.pull(Pull(container: "album", zone: "photos", token: token))
        #expect(try await other.refusal(pull)?.code == .invalidSyncToken)
        #expect(try await own.refusal(pull) == nil)

        guard
          case .ticket(let ticket) = try await own.ask(.ticket(RequestTicket(container: "album", upload: true)))
        else { throw Missing("ticket") }
        #expect(ticket.database?.environment == own.environment.rawValue)
        let chunk = Chunk([UInt8](repeating: 7, count: 100))
        func code(_ ticket: Ticket, by device: Device) async throws -> ErrorCode? {
          let partition = try Partition(ticket.partition)
          let request = ChunkRequest(ticket: ticket, put: [chunk])
          do {
            _ = try await device.bus.request(
              Message(request.encoded()), to: .chunks(device.enrolled, partition), deadline: .seconds(5))
          } catch { return error.code }
          return nil
        }
        #expect(try await code(ticket, by: other) == .notAuthenticated, "another's ticket")
        var forged = ticket
        forged.database?.environment = other.environment.rawValue
        forged.device = other.enrolled.text
        #expect(try await code(forged, by: other) == .notAuthenticated)
        forged = ticket
        forged.database?.environment = other.environment.rawValue
        #expect(try await code(forged, by: own) == .notAuthenticated, "its own ticket, of another place")
        #expect(try await code(ticket, by: own) == nil)
      }
    }
  }

  @Test("TRU-04: a ticket that somebody sealed for the other environment opens for nobody")
  func crossedTicket() throws {
    let seal = TicketSeal(key: try TicketKey.generate())
    for environment in CaravanModel.Environment.allCases {
      let device = EnrolledDevice("ann", "a", in: environment)
      for other in CaravanModel.Environment.allCases {
        let database = DatabaseID(container: Self.album, environment: other, owner: device.user)
        let ticket = seal.issue(
          TicketGrant(database: database, device: device, isUpload: true, bytes: 1, expiresMilliseconds: 50))
        let opened = try? seal.open(ticket, from: device, nowMilliseconds: 1)
        #expect((opened != nil) == (other == environment))
      }
    }
  }

  @Test("TRU-04: nothing that a device sends says its environment: a subject that is forged is none, or another's")
  func subjects() throws {
    for token in ["a_1_development", "a_1_moon", "a_1_", "a_1_production_1", "a__production", "a_production"] {
      #expect(throws: CaravanError.self) { try Subject(parsing: "edge.ann.\(token).exchange") }
    }
    let (tried, used) = (EnrolledDevice("ann", "a"), EnrolledDevice("ann", "a", in: .production))
    #expect(Subject.exchange(tried).text == "edge.ann.a_1.exchange", "as it was when there was nothing else")
    #expect(Subject.exchange(used).text == "edge.ann.a_1_production.exchange")
    for subject in [Subject.exchange(used), .renew(used), .acks(used, Partition.all[3]), .notify(used)] {
      #expect(try Subject(parsing: subject.text) == subject && subject != .exchange(tried))
    }
    #expect(tried.inbox != used.inbox && tried.text != used.text && tried != used)
  }

  @Test("TRU-04: users have other aliases in each environment; development's are those of before")
  func aliases() async throws {
    try await Self.with { pair in
      func alias(_ device: Device) async throws -> String {
        guard case .person(let person) = try await device.ask(.whoAmI(WhoAmI(container: "album"))) else {
          throw Missing("person")
        }
        return person.user
      }
      #expect(try await alias(pair.tried) != alias(pair.used))
      let aliases = UserAlias(key: try TicketKey([UInt8](repeating: 1, count: TicketKey.byteCount)))
      let device = EnrolledDevice("ann", "a")
      #expect(aliases.user(device.user, in: Self.album) == Self.aliasOfBefore)
    }
  }

  private static let aliasOfBefore = "xozitfc7brnymwwfihbyxobkhe"

  @Test("TRU-04: public databases of a container are two as well, and so are subscription lists")
  func shared() async throws {
    let notifier = RecordingNotifier()
    try await CloudCluster.with(environment: .production, notifier: notifier) { cloud in
      let (tried, used) = (try cloud.device("a", in: .development), try cloud.device("a"))
      let subscribe = Subscribe(
        generation: 1, subscriptions: [ZoneSubscription(container: "album", zone: "photos", periodMilliseconds: 0)])
      for device in [tried, used] {
        guard case .done = try await device.ask(.subscribe(subscribe)) else { throw Missing("done") }
      }
      let storage = StorageClient(bus: cloud.hub.connect(as: "looker"), host: cloud.host, writer: "@test")
      for device in [tried, used] {
        let home = DatabaseID(container: .system, environment: device.environment, owner: device.user)
        let lists = try await storage.fetch(
          [tried.enrolled.token, used.enrolled.token], from: ZoneID(home, "subscriptions"))
        #expect(lists.map(\.name) == [device.enrolled.token])
      }
    }
  }
}
