import CaravanBus
import CaravanCrypto
import CaravanEncoding
import CaravanModel
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: a token lets in one device, once, in time, and nobody else (architecture §4). Method: HTTP against a gateway
/// whose registry is a real store.
@Suite("Enrolment", .timeLimit(.minutes(2)))
struct EnrolmentTests {
  @Test("a device is signed with the scoped key, under its own name and user")
  func enrols() async throws {
    try await GatewayCluster.with { cluster in
      let key = try NKey.generate(.user)
      let answer = try await cluster.enrol(cluster.mint("cam-1"), key)
      #expect(answer.status == 200, "\(answer.text)")
      let token = try JWT(verifying: try #require(answer.json["jwt"]?.stringValue))
      #expect(token.isIssued(by: [cluster.signingKey.publicKey]))
      #expect(token.claims.subject == key.publicKey)
      #expect(token.claims.name == "cam-1_1")
      guard case .user(let user) = token.claims.body else {
        Issue.record("not a user's token")
        return
      }
      #expect(user.authority == .scoped)
      #expect(user.issuerAccount == cluster.account.publicKey)
      #expect(user.tag("user") == "ann")
    }
  }

  @Test("REC-25: the same key asks again and gets the same answer, also when the token has expired meanwhile")
  func repeats() async throws {
    try await GatewayCluster.with { cluster in
      let key = try NKey.generate(.user)
      let token = try await cluster.mint("cam-1")
      let first = try await cluster.enrol(token, key)
      cluster.clock.advance(seconds: 5_000)
      let second = try await cluster.enrol(token, key)
      #expect(first.status == 200)
      #expect(second.body == first.body)
    }
  }

  @Test("another key is refused with a used token, in the words for one that never was")
  func usedOnce() async throws {
    try await GatewayCluster.with { cluster in
      let token = try await cluster.mint("cam-1")
      #expect(try await cluster.enrol(token, .generate(.user)).status == 200)
      let thief = try await cluster.enrol(token, .generate(.user))
      let stranger = try await cluster.enrol("nosuchtoken", .generate(.user))
      #expect(thief.status == 401)
      #expect(thief.body == stranger.body)
    }
  }

  @Test(
    "MOB-56: a user's id that somebody chooses makes no server app; who means one says so, and its key is not forgotten"
  )
  func serverApps() async throws {
    try await GatewayCluster.with { cluster in
      let app = try ServerApp("billing")
      func mint(_ user: String, _ more: String = "") async throws -> GatewayCluster.Answer {
        try await cluster.ask(
          "POST", "/v1/enrolment-tokens", #"{"user": "\#(user)", "device": "shop"\#(more)}"#,
          admin: GatewayCluster.adminToken)
      }
      for (user, more) in [
        (app.user.text, ""), (app.user.text, #", "server_app": false"#), (app.user.text, #", "server_app": "true""#),
        ("ann", #", "server_app": true"#),
      ] {
        let answer = try await mint(user, more)
        #expect(answer.status == 400 && answer.text.contains("server app"), "\(user)\(more): \(answer.text)")
      }
      let minted = try await mint(app.user.text, #", "server_app": true"#)
      let token = try #require(minted.json["token"]?.stringValue)
      #expect(try await cluster.enrol(token, .generate(.user)).status == 200)
      let known = try await cluster.ask("GET", "/v1/devices/\(app.user)/shop", admin: GatewayCluster.adminToken)
      #expect(known.json["credentials_end"] == .bool(false))
    }
  }

  @Test("of many that race with one token, one wins")
  func race() async throws {
    try await GatewayCluster.with { cluster in
      let token = try await cluster.mint("cam-1")
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<8 { group.addTask { try await cluster.enrol(token, .generate(.user)).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.filter { $0 == 200 }.count == 1, "\(statuses)")
      #expect(statuses.filter { $0 == 401 || $0 == 503 }.count == 7, "\(statuses)")
    }
  }

  @Test("TRU-03: a token that is used, or was not in time, is forgotten in the end")
  func forgotten() async throws {
    try await GatewayCluster.with { cluster in
      let storage = StorageClient(bus: cluster.hub.connect(as: "looker"), host: cluster.host, writer: "@test")
      let zone = try ZoneID(DatabaseID.system(nil), "enrolment")
      func left() async throws -> Int {
        let reply = try await storage.changes(of: zone, ReadChangesRequest(zone: ZoneRef(zone)))
        return try EntryPage.decode(reply.page).entries.count { !$0.deleted }
      }
      let key = try NKey.generate(.user)
      let token = try await cluster.mint("cam-1")
      _ = try await cluster.mint("cam-2")
      #expect(try await cluster.enrol(token, key).status == 200)
      cluster.clock.advance(seconds: 6 * 86_400)
      #expect(try await cluster.enrol(token, key).status == 200)
      #expect(try await left() == 2)
      cluster.clock.advance(seconds: 2 * 86_400)
      try await eventually("both are gone") { try await left() == 0 }
      #expect(try await cluster.enrol(token, key).status == 401)
    }
  }

  @Test("an expired token is refused, and says so")
  func expired() async throws {
    try await GatewayCluster.with { cluster in
      let token = try await cluster.mint("cam-1", seconds: 60)
      cluster.clock.advance(seconds: 61)
      let answer = try await cluster.enrol(token, .generate(.user))
      #expect(answer.status == 401)
      #expect(answer.text.contains("expired"))
    }
  }

  @Test("a name that is taken cannot be enrolled again, whoever asks")
  func taken() async throws {
    try await GatewayCluster.with { cluster in
      let early = try await cluster.mint("cam-1")
      #expect(try await cluster.enrol(cluster.mint("cam-1"), .generate(.user)).status == 200)
      let body = #"{"user": "ann", "device": "cam-1"}"#
      let again = try await cluster.ask("POST", "/v1/enrolment-tokens", body, admin: GatewayCluster.adminToken)
      #expect(again.errorCode == "objectExists")
      // A token minted before the name was taken does not help either.
      #expect(try await cluster.enrol(early, .generate(.user)).errorCode == "objectExists")
    }
  }

  @Test("a revoked device's old token signs nothing any more, and its name is free")
  func revoked() async throws {
    try await GatewayCluster.with { cluster in
      let key = try NKey.generate(.user)
      let token = try await cluster.mint("cam-1")
      #expect(try await cluster.enrol(token, key).status == 200)
      let revoked = try await cluster.ask("DELETE", "/v1/devices/ann/cam-1", admin: GatewayCluster.adminToken)
      #expect(revoked.json["revoked"]?.stringValue != nil, "\(revoked.text)")
      #expect(try await cluster.enrol(token, key).status == 401)
      #expect(try await cluster.enrol(cluster.mint("cam-1"), .generate(.user)).status == 200)
    }
  }

  @Test("the list shows every device; a device shows alone; an unknown one is refused")
  func list() async throws {
    try await GatewayCluster.with { cluster in
      for name in ["b", "a"] { _ = try await cluster.enrol(cluster.mint(name), .generate(.user)) }
      let list = try await cluster.ask("GET", "/v1/devices", admin: GatewayCluster.adminToken)
      #expect(list.json["devices"]?.arrayValue?.compactMap { $0["device"]?.stringValue }.sorted() == ["a", "b"])
      #expect(list.json["next"] == .null)
      let one = try await cluster.ask("GET", "/v1/devices/ann/a", admin: GatewayCluster.adminToken)
      #expect(one.json["user"] == "ann")
      #expect(one.json["revoked"] == .null)
      let none = try await cluster.ask("DELETE", "/v1/devices/ann/c", admin: GatewayCluster.adminToken)
      #expect(none.status == 404)
    }
  }

  @Test(
    "who does not present the admin token learns nothing",
    arguments: [
      ("POST", "/v1/enrolment-tokens"), ("GET", "/v1/devices"), ("GET", "/v1/devices/ann/a"),
      ("DELETE", "/v1/devices/ann/a"),
    ])
  func adminToken(method: String, path: String) async throws {
    try await GatewayCluster.with { cluster in
      for token in [nil, "", "open-sesame!", "Open-sesame"] {
        let answer = try await cluster.ask(method, path, method == "POST" ? "{}" : nil, admin: token)
        #expect(answer.status == 401)
        #expect(answer.errorCode == "notAuthenticated")
      }
    }
  }

  @Test("bad input is refused in one clear sentence, and the gateway lives on")
  func badInput() async throws {
    try await GatewayCluster.with { cluster in
      let admin = GatewayCluster.adminToken
      let bodies = [
        "", "{", "[1]", "null", #"{"user": 3, "device": "a"}"#, #"{"user": "ann"}"#,
        #"{"user": "Ann!", "device": "a"}"#,
        #"{"user": "ann", "device": "a.b"}"#, #"{"user": "ann", "device": "a", "ttl_seconds": 0}"#,
        #"{"user": "ann", "device": "a", "ttl_seconds": 90000}"#,
        #"{"user": "ann", "device": "a", "ttl_seconds": "9"}"#,
        String(repeating: "[", count: 10_000),
      ]
      for body in bodies {
        let answer = try await cluster.ask("POST", "/v1/enrolment-tokens", body, admin: admin)
        #expect(answer.status == 400, "\(body.prefix(40)) → \(answer.text)")
        #expect(answer.errorCode == "invalidData")
      }
      let key = try NKey.generate(.user).publicKey.text
      let foreign = try NKey.generate(.account).publicKey.text
      let mistyped = key.dropLast() + (key.hasSuffix("A") ? "B" : "A")
      for body in [
        #"{"token": "x"}"#, #"{"token": 1, "public_key": "\#(key)"}"#, #"{"token": "x", "public_key": "\#(foreign)"}"#,
        #"{"token": "x", "public_key": "\#(mistyped)"}"#,
      ] {
        #expect(try await cluster.ask("POST", "/v1/enrol", body).errorCode == "invalidData", "\(body)")
      }
      #expect(try await cluster.enrol(cluster.mint("fine"), .generate(.user)).status == 200)
    }
  }

  @Test("a body that is too large is refused as it comes")
  func oversized() async throws {
    try await GatewayCluster.with { cluster in
      let body = #"{"user": "\#(String(repeating: "a", count: 70_000))"}"#
      let answer = try await cluster.ask("POST", "/v1/enrolment-tokens", body, admin: GatewayCluster.adminToken)
      #expect(answer.status == 413)
      #expect(try await cluster.ask("GET", "/healthz").status == 200)
    }
  }
}
