import CaravanBus
import CaravanEncoding
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// The host of services, on both buses.
@Suite("Service host", .timeLimit(.minutes(2)))
struct ServiceHostTests {
  /// Answers with the same reference.
  static func echo(maxInFlight: Int = 4, until gate: Latch? = nil) -> Endpoint {
    Endpoint("echo", .exact(.echo), group: "schema", maxInFlight: maxInFlight) {
      (request: DatabaseRef, _) throws(CaravanError) -> DatabaseRef in
      await gate?.wait()
      if request.container == "forbidden" {
        throw CaravanError(.rateLimited, "not now", retryAfterMilliseconds: 250)
      }
      return request
    }
  }

  func ready(_ client: any MessageBus, _ subject: Subject = .echo) async throws {
    try await eventually("the endpoint answers") {
      await failure { try await client.call(DatabaseRef(), to: subject, as: DatabaseRef.self) } == nil
    }
  }

  @Test("A typed call comes back typed; a refusal keeps its code, text and retry-after", arguments: BusKind.allCases)
  func typedCall(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let service = ServiceHost(name: "schema", version: "1.0.0", bus: server, host: .quiet, endpoints: [Self.echo()])
      try await running([service]) {
        try await ready(client)
        let reference = DatabaseRef(container: "notes", environment: "production", owner: "ann")
        let reply: DatabaseRef = try await client.call(reference, to: .echo)
        #expect(reply == reference)
        let refusal = await failure {
          try await client.call(DatabaseRef(container: "forbidden"), to: .echo, as: DatabaseRef.self)
        }
        #expect(refusal == CaravanError(.rateLimited, "not now", retryAfterMilliseconds: 250))
      }
      #expect(await failure { try await client.request(Message(), to: .echo, deadline: .seconds(9)) } != nil)
    }
  }

  @Test("Garbage is refused with invalidData, and the service lives on", arguments: BusKind.allCases)
  func garbage(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let service = ServiceHost(name: "schema", version: "1.0.0", bus: server, host: .quiet, endpoints: [Self.echo()])
      try await running([service]) {
        try await ready(client)
        let random = SeededRandom(seed: 4)
        for length in [1, 2, 7, 100, 5_000] {
          let bytes = [0xff] + random.bytes(length)
          let refusal = await failure { try await client.request(Message(bytes), to: .echo, deadline: .seconds(9)) }
          #expect(refusal?.code == .invalidData)
          #expect(refusal?.message == "DatabaseRef: malformed message: not its encoding")
        }
        try await ready(client)
      }
    }
  }

  @Test("Beyond the bound in flight: serverBusy with a retry-after; others are answered", arguments: BusKind.allCases)
  func busy(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let gate = Latch()
      let endpoint = Self.echo(maxInFlight: 2, until: gate)
      let service = ServiceHost(name: "schema", version: "1.0.0", bus: server, host: .quiet, endpoints: [endpoint])
      try await running([service]) {
        let ask: @Sendable () async -> CaravanError? = {
          await failure {
            try await client.call(DatabaseRef(), to: .echo, deadline: .seconds(60), as: DatabaseRef.self)
          }
        }
        try await eventually("the service is there") {
          try await client.gather(Message(), to: .discovery(.ping, service: "schema"), within: .seconds(1), limit: 1)
            .count == 1 && service.isServing(.exact(.echo))
        }
        await withTaskGroup(of: CaravanError?.self) { group in
          for _ in 0..<5 { group.addTask(operation: ask) }
          for _ in 0..<3 {
            let refusal = await group.next() ?? nil
            #expect(refusal?.code == .serverBusy)
            #expect(refusal?.retryAfterMilliseconds == BusLimits.busyRetryMilliseconds)
          }
          #expect(service.inFlight == 2)
          gate.open()
          for _ in 0..<2 { #expect(await group.next() == .some(nil)) }
        }
        #expect(await ask() == nil)
        try await eventually("none is in flight") { service.inFlight == 0 }
      }
    }
  }

  @Test("Shutting down answers what was taken, refuses the rest, and returns", arguments: BusKind.allCases)
  func shutDown(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let (gate, entered) = (Latch(), Latch())
      let endpoint = Endpoint("echo", .exact(.echo), group: nil, maxInFlight: 2) { _ in
        entered.open()
        await gate.wait()
        return [7]
      }
      let service = ServiceHost(name: "schema", version: "1.0.0", bus: server, host: .quiet, endpoints: [endpoint])
      try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
        group.addTask {
          try await service.run()
          return nil
        }
        try await eventually("the endpoint is served") { service.isServing(.exact(.echo)) }
        group.addTask { try await client.request(Message(), to: .echo, deadline: .seconds(60)).payload }
        await entered.wait()
        service.shutDown()
        try await eventually("nobody serves any more") {
          // One that comes before the broker knows is still taken, and waits for the gate.
          await failure { try await client.request(Message(), to: .echo, deadline: .milliseconds(50)) }?.code
            == .unavailable
        }
        gate.open()
        // Either may be first: the host is done when its answer is sent.
        let ends = [try await group.next() ?? nil, try await group.next() ?? nil]
        #expect(ends.contains([7]) && ends.contains(nil))
      }
      #expect(await failure { try await service.add(endpoint) }?.code == .cancelled)
    }
  }

  @Test("Endpoints come and go while the service runs", arguments: BusKind.allCases)
  func addAndRemove(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let (server, client) = (try await cluster.connect("a"), try await cluster.connect("b"))
      let service = ServiceHost(name: "notify", version: "1.0.0", bus: server, host: .quiet)
      func subject(_ number: UInt32) throws -> Subject {
        .partitioned(.notify, try Partition(number), method: "attach")
      }
      func endpoint(_ number: UInt32) throws -> Endpoint {
        Endpoint("attach", .exact(try subject(number)), group: nil, maxInFlight: 4) { _ in [UInt8(number)] }
      }
      try await running([service]) {
        for number: UInt32 in 0..<8 { try await service.add(endpoint(number)) }
        #expect(await failure { try await service.add(endpoint(3)) }?.code == .objectExists)
        for number: UInt32 in 0..<8 {
          let answer = try await client.request(Message(), to: subject(number), deadline: .seconds(9))
          #expect(answer.payload == [UInt8(number)])
        }
        let third = try subject(3)
        service.remove(.exact(third))
        try await eventually("partition 3 is gone and may be added again") {
          let refusal = await failure { try await client.request(Message(), to: third, deadline: .seconds(9)) }
          return refusal?.code == .unavailable && !service.knows(.exact(third))
        }
        #expect(try await client.request(Message(), to: subject(4), deadline: .seconds(9)).payload == [4])
        try await service.add(endpoint(3))
        #expect(try await client.request(Message(), to: subject(3), deadline: .seconds(9)).payload == [3])
      }
    }
  }

  @Test("ADR-32: PING, INFO and STATS answer for all, by name and by instance", arguments: BusKind.allCases)
  func discovery(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      let client = try await cluster.connect("c")
      let services = [
        ServiceHost(
          name: "schema", version: "1.2.3", bus: try await cluster.connect("a"), host: .quiet,
          endpoints: [Self.echo()]),
        ServiceHost(
          name: "schema", version: "1.2.3", bus: try await cluster.connect("b"), host: .quiet,
          endpoints: [Self.echo()]),
      ]
      try await running(services) {
        func ask(_ verb: DiscoveryVerb, _ service: String? = nil, _ instance: String? = nil, _ limit: Int) async throws
          -> [JSON]
        {
          let subject = Subject.discovery(verb, service: service, instance: instance)
          return try await client.gather(Message(), to: subject, within: .seconds(5), limit: limit)
            .map { try JSON.parse(String(decoding: $0.payload, as: UTF8.self)) }
        }
        try await eventually("both are there") {
          try await ask(.ping, nil, nil, 2).count == 2 && services.allSatisfy { $0.isServing(.exact(.echo)) }
        }
        for _ in 0..<3 { let _: DatabaseRef = try await client.call(DatabaseRef(), to: .echo) }
        _ = await failure { try await client.request(Message([0xff]), to: .echo, deadline: .seconds(9)) }
        let ping = try #require(try await ask(.ping, "schema", services[1].instance, 1).first)
        #expect(ping["type"]?.stringValue == "io.nats.micro.v1.ping_response")
        #expect(ping["id"]?.stringValue == services[1].instance)
        #expect(ping["version"]?.stringValue == "1.2.3")
        let info = try #require(try await ask(.info, "schema", nil, 1).first)
        #expect(info["type"]?.stringValue == "io.nats.micro.v1.info_response")
        #expect(info["endpoints"]?.arrayValue?.first?["subject"]?.stringValue == "svc.schema.echo")
        #expect(info["endpoints"]?.arrayValue?.first?["queue_group"]?.stringValue == "schema")
        // A request is counted when it has been answered.
        var (stats, endpoints) = ([JSON](), [JSON]())
        try await eventually("four requests are counted") {
          stats = try await ask(.stats, nil, nil, 2)
          endpoints = stats.compactMap { $0["endpoints"]?.arrayValue?.first }
          return endpoints.compactMap { $0["num_requests"]?.intValue }.reduce(0, +) == 4
        }
        #expect(stats.allSatisfy { $0["type"]?.stringValue == "io.nats.micro.v1.stats_response" })
        #expect(endpoints.compactMap { $0["num_errors"]?.intValue }.reduce(0, +) == 1)
        #expect(endpoints.contains { $0["last_error"]?.stringValue?.hasPrefix("invalidData") == true })
        #expect((stats[0]["data"]?["resident_bytes"]?.intValue ?? 0) > 1 << 20)
        #expect(throws: Never.self) { try MetricsSnapshot(json: stats[0]["data"]?["metrics"] ?? .null) }
      }
    }
  }

  @Test("A handler works in the context of its request: a child span, the same request id, in every log line")
  func context() async throws {
    let live = Host.live()
    let lines = MemoryLogSink()
    let host = live.with(log: Log(level: .debug, clock: live.clock, sink: ContextLogSink(lines)))
    let hub = InProcessHub(clock: host.clock, random: host.random)
    let seen = Mutex<RequestContext?>(nil)
    let endpoint = Endpoint("echo", .exact(.echo), group: nil, maxInFlight: 1) { _ in
      seen.withLock { $0 = RequestContext.current }
      host.log.info("inside")
      return []
    }
    let (server, client) = (hub.connect(as: "a"), hub.connect(as: "b"))
    let service = ServiceHost(name: "schema", version: "1.0.0", bus: server, host: host, endpoints: [endpoint])
    let outer = RequestContext(random: host.random)
    try await running([service]) {
      try await eventually("served") { service.isServing(.exact(.echo)) }
      _ = try await RequestContext.$current.withValue(outer) {
        try await client.request(Message(), to: .echo, deadline: .seconds(9))
      }
    }
    let inner = try #require(seen.withLock { $0 })
    #expect(inner.trace.traceID == outer.trace.traceID)
    #expect(inner.trace.spanID != outer.trace.spanID)
    #expect(inner.requestID == outer.requestID)
    let line = try #require(lines.records.first { $0.message == "inside" })
    #expect(line.fields[.trace]?.stringValue == outer.trace.traceID)
    #expect(line.fields[.request]?.stringValue == outer.requestID)
  }
}
