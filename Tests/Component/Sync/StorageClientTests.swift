import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// How services ask storage: what is tried again, how often, and under which op ids.
@Suite(.timeLimit(.minutes(1))) struct StorageClientTests {
  /// A storage that refuses the first so many requests, or leaves them unanswered, and remembers the commits it saw.
  private final class Scripted: Sendable {
    struct Seen: Sendable {
      var requests = 0
      var commits: [CommitRequest] = []
    }

    let refusals: Int
    let code: ErrorCode
    private let state = Mutex(Seen())
    var seen: Seen { state.withLock { $0 } }

    init(refusing refusals: Int, with code: ErrorCode) {
      self.refusals = refusals
      self.code = code
    }

    func answer(_ incoming: Incoming) throws(CaravanError) -> [UInt8] {
      let request = try? CommitRequest.decode(incoming.message.payload)
      let number = state.withLock { seen in
        seen.requests += 1
        if let request { seen.commits.append(request) }
        return seen.requests
      }
      if number <= refusals { throw CaravanError(code, "not yet") }
      return Empty().encoded()
    }
  }

  private func with(
    _ script: Scripted, _ body: @Sendable (StorageClient, ZoneID) async throws -> Void
  ) async throws {
    let host = Host.quiet
    let hub = InProcessHub(clock: host.clock, random: SeededRandom(seed: 1))
    let endpoints = StorageMethod.allCases.map { method in
      Endpoint(method.rawValue, method.pattern, group: "storage", maxInFlight: 8) { incoming throws(CaravanError) in
        try script.answer(incoming)
      }
    }
    let bus = hub.connect(as: "storage")
    let service = ServiceHost(name: "storage", version: "1.0.0", bus: bus, host: host, endpoints: endpoints)
    var policy = StorageClient.Policy()
    policy.backoff = .milliseconds(1)
    let client = StorageClient(bus: hub.connect(as: "client"), host: host, writer: "@test", policy: policy)
    let zone = try ZoneID(
      DatabaseID(container: ContainerID("album"), environment: .development, owner: UserID("ann")), "photos")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await service.run() }
      let probe = hub.connect(as: "probe")
      // Endpoints are added in order: with the last one announced, those before it are served.
      try await eventually("storage serves") {
        let info = Subject.discovery(.info, service: "storage")
        let answer = try? await probe.request(Message(), to: info, deadline: .seconds(1)).payload
        return answer.map { String(decoding: $0, as: UTF8.self).contains("\"status\"") } ?? false
      }
      try await body(client, zone)
      service.shutDown()
      try await group.waitForAll()
    }
  }

  @Test("A busy storage is asked again, the same op each time, and not for ever")
  func busy() async throws {
    let patient = Scripted(refusing: 2, with: .serverBusy)
    try await with(patient) { client, zone in
      _ = try await client.commit(to: zone, [CaravanModel.Mutation(name: "r", base: .any, change: .delete)])
      #expect(patient.seen.requests == 3)
      #expect(Set(patient.seen.commits.map { [$0.epoch, $0.op] }).count == 1)
      #expect(patient.seen.commits.allSatisfy { $0.writer == "@test" })
    }
    let stubborn = Scripted(refusing: .max, with: .serverBusy)
    try await with(stubborn) { client, zone in
      await #expect(throws: CaravanError.self) { try await client.fetch(["r"], from: zone) }
      #expect(stubborn.seen.requests == 3)
    }
  }

  @Test("A refusal that time does not heal is handed on at once")
  func permanent() async throws {
    for code in [ErrorCode.invalidData, .limitExceeded, .storageFull] {
      let script = Scripted(refusing: 1, with: code)
      try await with(script) { client, zone in
        let error = await #expect(throws: CaravanError.self) { try await client.fetch(["r"], from: zone) }
        #expect(error?.code == code && script.seen.requests == 1)
      }
    }
  }

  @Test("What may have happened is asked again only where twice does no harm: never for dropping a zone")
  func unknown() async throws {
    let reading = Scripted(refusing: 1, with: .timedOut)
    try await with(reading) { client, zone in
      _ = try await client.fetch(["r"], from: zone)
      #expect(reading.seen.requests == 2)
    }
    let dropping = Scripted(refusing: 1, with: .timedOut)
    try await with(dropping) { client, zone in
      let error = await #expect(throws: CaravanError.self) { try await client.drop(zone, writer: "a") }
      #expect(error?.code == .timedOut && dropping.seen.requests == 1)
    }
  }

  @Test("UNI-07: op ids are new for each commit, and the floor follows those still out")
  func ops() async throws {
    let script = Scripted(refusing: 0, with: .serverBusy)
    try await with(script) { client, zone in
      for _ in 0..<3 { _ = try await client.commit(to: zone, []) }
      #expect(script.seen.commits.map(\.op) == [1, 2, 3])
      #expect(script.seen.commits.map(\.opFloor) == [1, 2, 3])
    }
  }

  @Test("UNI-07: commits asked for while others are on their way share a message, and each has its own outcome")
  func together() async throws {
    let clock = ManualClock()
    let queue = CommitQueue(clock: clock)
    let gate = Latch()
    let sizes = BoundedQueue<Int>(capacity: 16)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for op in 1...(BatchLimits.commits + 10) {
        group.addTask {
          let answer = await queue.commit(CommitRequest(op: UInt64(op))) { commits in
            sizes.push(commits.count)
            await gate.wait()
            return commits.map {
              $0.op == 7 ? .failure(CaravanError(.invalidData, "seven")) : .success(CommitReply(zoneSeq: $0.op))
            }
          }
          switch answer {
          case .success(let reply): #expect(reply.zoneSeq == UInt64(op) && op != 7)
          case .failure(let error): #expect(error.code == .invalidData && op == 7)
          }
        }
      }
      try await eventually("two are on their way, the others wait", within: .seconds(30)) {
        sizes.count == 2 && queue.waiting == BatchLimits.commits + 8
      }
      clock.advance(by: .milliseconds(99))
      #expect(queue.waiting == BatchLimits.commits + 8)
      clock.advance(by: .milliseconds(1))
      #expect(queue.waiting == 0, "messages without an answer hold up nobody for long")
      gate.open()
      try await group.waitForAll()
    }
    sizes.finish()
    var messages: [Int] = []
    while let size = await sizes.next() { messages.append(size) }
    #expect(messages.sorted() == [1, 1, 8, BatchLimits.commits])
  }
}
