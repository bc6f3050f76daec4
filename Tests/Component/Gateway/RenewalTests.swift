import CaravanCrypto
import CaravanEncoding
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: a device's credentials end, and only its key gets others (TRU-09). Method: HTTP against a gateway whose
/// registry is a real store.
@Suite("Renewal of credentials", .timeLimit(.minutes(2))) struct RenewalTests {
  private static func ask(
    _ cluster: GatewayCluster, _ key: NKey, device: String = "cam-1_1", user: String = "ann", claiming: NKey? = nil,
    late: Int64 = 0, statement: EnrolledDevice? = nil
  ) async throws -> GatewayCluster.Answer {
    let time = cluster.clock.wallTime.milliseconds / 1_000 - late
    let signed = try statement ?? EnrolledDevice(credentials: device, user: user)
    let signature = Base64.encode(try key.sign(signed.renewalStatement(at: time)))
    let body: JSON = [
      "user": .string(user), "device": .string(device), "public_key": .string((claiming ?? key).publicKey.text),
      "time": .int(time), "signature": .string(signature),
    ]
    return try await cluster.ask("POST", "/v1/renewals", body.encoded())
  }

  @Test("TRU-09: what is signed for a device is good for a week, and its key gets it again, over HTTP as well")
  func weekly() async throws {
    try await GatewayCluster.with { cluster in
      let key = try NKey.generate(.user)
      let enrolled = try await cluster.enrol(cluster.mint("cam-1"), key)
      let first = try JWT(verifying: #require(enrolled.json["jwt"]?.stringValue)).claims
      #expect(first.expires == first.issuedAt + 7 * 86_400)
      cluster.clock.advance(seconds: 30 * 86_400)
      let answer = try await Self.ask(cluster, key)
      #expect(answer.status == 200, "\(answer.text)")
      let second = try JWT(verifying: #require(answer.json["jwt"]?.stringValue)).claims
      #expect(second.issuedAt >= first.issuedAt + 30 * 86_400 && second.expires == second.issuedAt + 7 * 86_400)
      #expect(second.subject == key.publicKey && second.name == "cam-1_1" && second.userTag == "ann")
      let record = try await cluster.ask("GET", "/v1/devices/ann/cam-1", admin: GatewayCluster.adminToken)
      #expect(record.json["credentials_end"] == .bool(true))
    }
  }

  @Test(
    "TRU-09: nobody else gets them: another key, another's signature, an old one, another device, a revoked one")
  func refused() async throws {
    try await GatewayCluster.with { cluster in
      let (key, thief) = (try NKey.generate(.user), try NKey.generate(.user))
      _ = try await cluster.enrol(cluster.mint("cam-1"), key)
      _ = try await cluster.enrol(cluster.mint("cam-2"), thief)
      func refused(_ answer: GatewayCluster.Answer, _ what: Comment) {
        #expect(answer.status == 401 && answer.json["jwt"] == nil, what)
      }
      refused(try await Self.ask(cluster, thief), "a key that is not enrolled for it")
      refused(try await Self.ask(cluster, thief, claiming: key), "a signature by another key")
      refused(try await Self.ask(cluster, key, late: 301), "signed long ago")
      refused(try await Self.ask(cluster, key, late: -301), "signed in the future")
      refused(try await Self.ask(cluster, key, statement: EnrolledDevice("ann", "cam-2")), "signed for another device")
      refused(try await Self.ask(cluster, key, device: "cam-1_2"), "another enrolment")
      refused(try await Self.ask(cluster, key, user: "bob"), "another user")
      #expect(try await Self.ask(cluster, key).status == 200)
      _ = try await cluster.ask("DELETE", "/v1/devices/ann/cam-1", admin: GatewayCluster.adminToken)
      refused(try await Self.ask(cluster, key), "it is revoked")
      for body in [
        "", "{}", #"{"time": "x"}"#, #"{"time": 1, "user": "*", "device": "a", "public_key": "U", "signature": ""}"#,
      ] {
        let answer = try await cluster.ask("POST", "/v1/renewals", body)
        #expect(answer.status == 400, "\(body): \(answer.text)")
      }
      #expect(try await cluster.ask("GET", "/v1/renewals").status == 405)
    }
  }
}
