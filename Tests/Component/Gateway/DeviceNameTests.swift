import CaravanBus
import CaravanCrypto
import CaravanEncoding
import CaravanGatewayCore
import CaravanModel
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a device's name belongs to its user, and each enrolment of it to nobody else. Method: HTTP and the bus against
/// a gateway whose registry is a real store; records as a release before wrote them.
@Suite("Names of devices", .timeLimit(.minutes(2)))
struct DeviceNameTests {
  private func name(_ answer: GatewayCluster.Answer) throws -> String {
    try JWT(verifying: try #require(answer.json["jwt"]?.stringValue)).claims.name
  }

  private func storage(_ cluster: GatewayCluster) -> StorageClient {
    StorageClient(bus: cluster.hub.connect(as: "test"), host: cluster.host, writer: "@test")
  }

  @Test("TRU-01: two users may have devices of one name")
  func sameName() async throws {
    try await GatewayCluster.with { cluster in
      for user in ["ann", "bob"] {
        #expect(try name(await cluster.enrol(cluster.mint("cam-1", user: user), .generate(.user))) == "cam-1_1")
      }
      let revoked = try await cluster.ask("DELETE", "/v1/devices/ann/cam-1", admin: GatewayCluster.adminToken)
      #expect(revoked.json["user"] == "ann" && revoked.json["revoked"] != .null)
      let other = try await cluster.ask("GET", "/v1/devices/bob/cam-1", admin: GatewayCluster.adminToken)
      #expect(other.json["revoked"] == .null)
    }
  }

  @Test("TRU-01: a name that is enrolled again has another number, for its user alone")
  func numbers() async throws {
    try await GatewayCluster.with { cluster in
      for number in 1...3 {
        #expect(try name(await cluster.enrol(cluster.mint("cam-1"), .generate(.user))) == "cam-1_\(number)")
        _ = try await cluster.ask("DELETE", "/v1/devices/ann/cam-1", admin: GatewayCluster.adminToken)
      }
      #expect(try name(await cluster.enrol(cluster.mint("cam-1", user: "bob"), .generate(.user))) == "cam-1_1")
    }
  }

  @Test("TRU-01: revocation removes the subscription lists of that enrolment, old and new, and no other")
  func lists() async throws {
    try await GatewayCluster.with { cluster in
      _ = try await cluster.enrol(cluster.mint("cam-1"), .generate(.user))
      let storage = storage(cluster)
      let zones = try Environment.allCases.map {
        try ZoneID(DatabaseID(container: .system, environment: $0, owner: UserID("ann")), "subscriptions")
      }
      let names = ["cam-1_1", "cam-1", "cam-2_1", "cam-1_2"]
      for zone in zones {
        _ = try await storage.commit(
          to: zone,
          names.map { CaravanModel.Mutation(name: $0, base: .absent, change: .save(type: 0, body: [], chunks: [])) })
      }
      let revoked = try await cluster.ask("DELETE", "/v1/devices/ann/cam-1", admin: GatewayCluster.adminToken)
      #expect(revoked.status == 200)
      for zone in zones {
        let left = try await storage.fetch(names, from: zone).filter { !$0.isDeleted }
        #expect(left.map(\.name).sorted() == ["cam-1_2", "cam-2_1"])
      }
    }
  }

  @Test("TRU-01: a device from before numbers is the first enrolment, is renewed over its connection, and revoked")
  func fromBefore() async throws {
    try await GatewayCluster.with { cluster in
      let key = try NKey.generate(.user)
      let record = RecordFields([1: .text("ann"), 2: .text(key.publicKey.text), 3: .integer(5_000), 4: .integer(0)])
      let zone = try ZoneID(DatabaseID.system(nil), "devices")
      let old = CaravanModel.Mutation(
        name: "cam-1", base: .absent, change: .save(type: 0, body: record.body, chunks: []))
      _ = try await storage(cluster).commit(to: zone, [old])

      let ann = try UserID("ann")
      let before = Subject.unnumbered(user: ann, device: try DeviceID("cam-1"), rest: "renew")
      let renewed = try await renew(cluster, "cam-1", at: before)
      #expect(renewed.claims.name == "cam-1_1" && renewed.claims.userTag == "ann")
      #expect(renewed.claims.subject == key.publicKey && renewed.isIssued(by: [cluster.signingKey.publicKey]))

      // Of another user the name is free, and nobody else's credentials are renewed.
      #expect(try name(await cluster.enrol(cluster.mint("cam-1", user: "bob"), .generate(.user))) == "cam-1_1")
      let body = #"{"user": "ann", "device": "cam-1"}"#
      let taken = try await cluster.ask("POST", "/v1/enrolment-tokens", body, admin: GatewayCluster.adminToken)
      #expect(taken.errorCode == "objectExists")

      let revoked = try await cluster.ask("DELETE", "/v1/devices/ann/cam-1", admin: GatewayCluster.adminToken)
      #expect(revoked.json["enrolment"] == .int(1) && revoked.json["revoked"] != .null)
      let refusal = await #expect(throws: CaravanError.self) { try await renew(cluster, "cam-1", at: before) }
      #expect(refusal?.code == .notAuthenticated)
      #expect(try name(await cluster.enrol(cluster.mint("cam-1"), .generate(.user))) == "cam-1_2")
      let late = await #expect(throws: CaravanError.self) { try await renew(cluster, "cam-1", at: before) }
      #expect(late?.code == .notAuthenticated, "what was signed for the first is not renewed as the second")
    }
  }

  @Test("TRU-01: credentials are renewed for the enrolment that the broker proves, while it lasts")
  func renewal() async throws {
    try await GatewayCluster.with { cluster in
      let key = try NKey.generate(.user)
      _ = try await cluster.enrol(cluster.mint("cam-1"), key)
      let device = EnrolledDevice("ann", "cam-1")
      cluster.clock.advance(seconds: 3_000)
      let renewed = try await renew(cluster, "cam-1", at: .renew(device))
      #expect(renewed.claims.name == "cam-1_1" && renewed.claims.subject == key.publicKey)
      let next = EnrolledDevice(user: device.user, device: device.device, enrolment: 2, environment: .development)
      let foreign = await #expect(throws: CaravanError.self) { try await renew(cluster, "cam-1", at: .renew(next)) }
      #expect(foreign?.code == .notAuthenticated)
    }
  }

  @Test("TRU-04: a device is enrolled for one environment, development unless said, and renewed for no other")
  func environments() async throws {
    try await GatewayCluster.with { cluster in
      #expect(try name(await cluster.enrol(cluster.mint("cam-0"), .generate(.user))) == "cam-0_1")
      let key = try NKey.generate(.user)
      #expect(try name(await cluster.enrol(cluster.mint("cam-1", in: "production"), key)) == "cam-1_1_production")
      let known = try await cluster.ask("GET", "/v1/devices/ann/cam-1", admin: GatewayCluster.adminToken)
      #expect(known.json["environment"] == .string("production"))

      let device = EnrolledDevice("ann", "cam-1", in: .production)
      cluster.clock.advance(seconds: 3_000)
      let renewed = try await renew(cluster, "cam-1", at: .renew(device))
      #expect(renewed.claims.name == "cam-1_1_production" && renewed.claims.subject == key.publicKey)
      let forged = await #expect(throws: CaravanError.self) {
        try await renew(cluster, "cam-1", at: .renew(EnrolledDevice("ann", "cam-1")))
      }
      #expect(forged?.code == .notAuthenticated)

      for wrong in ["Production", "moon", ""] {
        let body = #"{"user": "ann", "device": "cam-2", "environment": "\#(wrong)"}"#
        let answer = try await cluster.ask("POST", "/v1/enrolment-tokens", body, admin: GatewayCluster.adminToken)
        #expect(answer.errorCode == "invalidData", "\(wrong)")
      }
      // The name goes to the other environment with another enrolment.
      _ = try await cluster.ask("DELETE", "/v1/devices/ann/cam-1", admin: GatewayCluster.adminToken)
      #expect(try name(await cluster.enrol(cluster.mint("cam-1", in: "development"), .generate(.user))) == "cam-1_2")
    }
  }

  private func renew(_ cluster: GatewayCluster, _ name: String, at subject: Subject) async throws -> JWT {
    let bus = cluster.hub.connect(as: name)
    let answer = try await bus.request(Message(RenewCredentials().encoded()), to: subject, deadline: .seconds(5))
    return try JWT(verifying: RenewedCredentials.decode(answer.payload).jwt)
  }

  @Test("TRU-03: devices are listed by pages, none is left out")
  func pages() async throws {
    try await GatewayCluster.with { cluster in
      let zone = try ZoneID(DatabaseID.system(nil), "devices")
      let storage = storage(cluster)
      let names = (0..<450).map { "d-\($0)" }
      for start in stride(from: 0, to: names.count, by: 150) {
        let some = names[start..<start + 150].map { name in
          let record = DeviceRecord(device: EnrolledDevice("ann", name), key: "", issued: 0)
          return CaravanModel.Mutation(
            name: "ann/\(name)", base: .absent, change: .save(type: 0, body: record.fields.body, chunks: []))
        }
        _ = try await storage.commit(to: zone, some)
      }
      var found: [String] = []
      var path = "/v1/devices"
      while true {
        let page = try await cluster.ask("GET", path, admin: GatewayCluster.adminToken)
        found += page.json["devices"]?.arrayValue?.compactMap { $0["device"]?.stringValue } ?? []
        guard let next = page.json["next"]?.stringValue else { break }
        path = "/v1/devices?from=\(next)"
      }
      #expect(found.count == names.count && Set(found) == Set(names))
      let bad = try await cluster.ask("GET", "/v1/devices?from=zz", admin: GatewayCluster.adminToken)
      #expect(bad.errorCode == "invalidSyncToken")
    }
  }
}
