import CaravanBus
import CaravanCrypto
import CaravanEncoding
import CaravanGatewayDriver
import CaravanModel
import CaravanRuntime
import CaravanStorageDriver
import CaravanStoreSQLite
import CaravanTestKit
import Foundation
import FoundationNetworking
import Testing

/// The machine's clock, with a wall time that can be moved.
final class ShiftedClock: CaravanRuntime.Clock {
  private let real = CaravanRuntime.Host.live().clock
  private let shift = Mutex<Int64>(0)

  var now: Instant { real.now }
  var wallTime: WallTime {
    WallTime(milliseconds: real.wallTime.milliseconds + shift.withLock { $0 })
  }

  func sleep(until instant: Instant) async throws { try await real.sleep(until: instant) }
  func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) { real.call(at: instant, body) }
  func advance(seconds: Int64) { shift.withLock { $0 += seconds * 1000 } }
}

/// A gateway and storage on one in-process bus; everything else of the suite is absent, or present in name only.
struct GatewayCluster: Sendable {
  static let adminToken = "open-sesame"
  static let metricsToken = "look-only"

  let hub: InProcessHub
  let host: CaravanRuntime.Host
  let clock: ShiftedClock
  let signingKey: NKey
  let account: NKey
  let port: UInt16

  /// - Parameter change: what is set up in another way than usual.
  static func with(
    changing change: @Sendable (inout GatewaySettings) -> Void = { _ in },
    _ body: @Sendable (GatewayCluster) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { path in
      let live = CaravanRuntime.Host.live()
      let clock = ShiftedClock()
      let host = CaravanRuntime.Host(
        clock: clock, random: live.random, executors: live.executors,
        log: Log(level: .error, clock: clock, sink: NullLogSink()), metrics: MetricsRegistry(), process: live.process)
      let hub = InProcessHub(clock: clock, random: SeededRandom(seed: 1))
      let feed = ChangeFeed()
      let store = try await StoreSQLite(.simulation(.directory(path)), host: host, observer: feed)
      let storage = StorageService(
        store: store, feed: feed, bus: hub.connect(as: "storage"), host: host, ticketKey: try TicketKey.generate())
      let (signingKey, account) = (try NKey.generate(.account), try NKey.generate(.account))
      var settings = GatewaySettings(address: "127.0.0.1", port: 0, adminToken: adminToken)
      settings.metricsToken = metricsToken
      change(&settings)
      let gateway = try GatewayService(
        settings, bus: hub.connect(as: "gateway"), host: host,
        authority: DeviceAuthority(signingKey: signingKey, account: account.publicKey))
      let cluster = GatewayCluster(
        hub: hub, host: host, clock: clock, signingKey: signingKey, account: account, port: gateway.port)
      let group = ServiceGroup([storage, gateway], host: host)
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        defer { group.shutDown() }
        try await eventually("storage and the gateway answer") {
          try await cluster.ask("GET", "/v1/devices", admin: adminToken).status == 200
        }
        try await body(cluster)
      }
    }
  }

  struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: Data
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSON { (try? JSON.parse(Array(body))) ?? .null }
    var errorCode: String? { json["error"]?["code"]?.stringValue }
  }

  func ask(
    _ method: String, _ path: String, _ body: String? = nil, admin: String? = nil, from: String? = nil
  ) async throws -> Answer {
    let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    if let admin { request.setValue("Bearer \(admin)", forHTTPHeaderField: "Authorization") }
    if let from { request.setValue(from, forHTTPHeaderField: "X-Forwarded-For") }
    let (data, response) = try await URLSession.shared.data(for: request)
    let http = try #require(response as? HTTPURLResponse)
    var headers: [String: String] = [:]
    for (name, value) in http.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
    return Answer(status: http.statusCode, headers: headers, body: data)
  }

  func mint(_ device: String, user: String = "ann", in environment: String? = nil, seconds: Int = 900) async throws
    -> String
  {
    let place = environment.map { #", "environment": "\#($0)""# } ?? ""
    let body = #"{"user": "\#(user)", "device": "\#(device)", "ttl_seconds": \#(seconds)\#(place)}"#
    let answer = try await ask("POST", "/v1/enrolment-tokens", body, admin: Self.adminToken)
    #expect(answer.status == 200, "\(answer.text)")
    return try #require(answer.json["token"]?.stringValue)
  }

  func enrol(_ token: String, _ key: NKey) async throws -> Answer {
    try await ask("POST", "/v1/enrol", #"{"token": "\#(token)", "public_key": "\#(key.publicKey.text)"}"#)
  }
}
