import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanSchemaClient
import CaravanStorageClient
import CaravanSyncCore
import CaravanSyncDriver
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: under load sync puts off what its app declared can wait, and gives up what may be lost only when that is not
/// enough (MOB-06, MOB-08). Method: sync itself, and as many frames at once as the test says, whose answers a storage
/// of the test's holds back.
@Suite(.timeLimit(.minutes(2))) struct OverloadTests {
  private struct Cluster: Sendable {
    let hub: InProcessHub
    let asked: Shared<Int>
    let isOver: Latch

    func device(
      _ name: String, of user: String = "ann", in environment: CaravanModel.Environment = .production
    ) throws -> Device {
      Device(try UserID(user), try DeviceID(name), in: environment, bus: hub.connect(as: name))
    }
  }

  /// Shared by closures.
  private final class Shared<Value: Sendable>: Sendable {
    let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
  }

  private static func with(_ body: @Sendable (Cluster) async throws -> Void) async throws {
    let host = Host.quiet
    let hub = InProcessHub(clock: host.clock, random: SeededRandom(seed: 1))
    let cluster = Cluster(hub: hub, asked: Shared(0), isOver: Latch())
    let changes = Endpoint(
      "changes", StorageMethod.changes.pattern, group: ServiceName.storage.rawValue, maxInFlight: 1_000
    ) { (_: ReadChangesRequest, _) throws(CaravanError) -> ReadChangesReply in
      cluster.asked.value.withLock { $0 += 1 }
      await cluster.isOver.wait()
      return ReadChangesReply()
    }
    let accepted = CommitReply(outcomes: [CaravanWire.Outcome(verdict: .accepted, version: 1)], zoneSeq: 1)
    let commit = Endpoint(
      "commit", StorageMethod.commit.pattern, group: ServiceName.storage.rawValue, maxInFlight: 1_000
    ) { (_: CommitRequest, _) throws(CaravanError) -> CommitReply in
      accepted
    }
    let commits = Endpoint(
      "commits", StorageMethod.commits.pattern, group: ServiceName.storage.rawValue, maxInFlight: 1_000
    ) { (batch: CommitBatch, _) throws(CaravanError) -> CommitBatchReply in
      CommitBatchReply(answers: batch.commits.map { _ in CommitAnswer(kind: .reply(accepted)) })
    }
    let registry = Endpoint(
      "container", SchemaMethod.container.pattern, group: ServiceName.schema.rawValue, maxInFlight: 1_000
    ) { (_: ContainerRequest, _) throws(CaravanError) -> ContainerReply in
      ContainerReply()
    }
    let services: [any Service] = [
      ServiceHost(
        name: "caravan-schema", version: "1.0.0", bus: hub.connect(as: "schema"), host: host, endpoints: [registry]),
      ServiceHost(
        name: "caravan-storage", version: "1.0.0", bus: hub.connect(as: "storage"), host: host,
        endpoints: [changes, commit, commits]),
      try SyncService(bus: hub.connect(as: "sync"), host: host, ticketKey: TicketKey.generate()),
    ]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for service in services { group.addTask { try await service.run() } }
      defer {
        cluster.isOver.open()
        for service in services { service.shutDown() }
      }
      let probe = try cluster.device("probe")
      try await eventually("sync answers") {
        (try? await probe.ask(.whoAmI(WhoAmI(container: "album")))) != nil
      }
      try await body(cluster)
    }
  }

  private static func pull(slack: UInt32 = 0) -> CaravanWire.Operation.Kind {
    .pull(Pull(container: "album", zone: "photos", slackMilliseconds: slack))
  }

  /// Nobody asks the registry for the type of a deletion.
  private static func push(slack: UInt32 = 0, tolerated: UInt32 = 0) -> CaravanWire.Operation.Kind {
    var push = Push(
      container: "album", zone: "photos", op: 1, mutations: [CaravanWire.Mutation(name: "r", kind: .delete)])
    (push.slackMilliseconds, push.toleratedRows) = (slack, tolerated)
    return .push(push)
  }

  private enum End: Equatable {
    case postponed, shed
    /// On to storage.
    case passed

    init(_ refusal: CaravanError?) {
      self = refusal?.code != .serverBusy ? .passed : refusal?.isDeferral == true ? .postponed : .shed
    }
  }

  private struct Row: Sendable, CustomTestStringConvertible {
    let frames: Int
    let waiting: End
    let tolerant: End
    var testDescription: String { "\(frames) frames" }
  }

  private static let rows = [
    Row(frames: SyncLimits.framesInFlight / 2 - 4, waiting: .passed, tolerant: .passed),
    Row(frames: SyncLimits.framesInFlight / 2 + 4, waiting: .postponed, tolerant: .passed),
    Row(frames: SyncLimits.framesInFlight * 3 / 4 + 4, waiting: .postponed, tolerant: .shed),
  ]

  @Test(
    "MOB-06, MOB-08: what can wait is put off first, then what may be lost is given up; the rest passes",
    arguments: rows)
  private func table(row: Row) async throws {
    try await Self.with { cluster in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<row.frames {
          // One user's devices have half of all at most.
          let device = try cluster.device("d\(number)", of: "user-\(number % 4)")
          group.addTask { _ = try? await device.ask(Self.pull()) }
        }
        try await eventually("all frames are under way") { cluster.asked.value.withLock { $0 } == row.frames }
        let device = try cluster.device("x")
        let slack: UInt32 = 10_000
        let waiting = try await device.refusal(Self.push(slack: slack, tolerated: 3))
        #expect(End(waiting) == row.waiting, "\(String(describing: waiting))")
        if row.waiting == .postponed {
          let wait = try #require(waiting?.retryAfterMilliseconds)
          #expect((slack / 2...slack).contains(wait), "within what it can wait")
        }
        let tolerant = try await device.refusal(Self.push(tolerated: 3))
        #expect(End(tolerant) == row.tolerant, "\(String(describing: tolerant))")
        #expect(row.tolerant != .shed || tolerant?.retryAfterMilliseconds ?? 0 > 0)
        #expect(End(try await device.refusal(Self.push())) == .passed, "what is wanted at once")
        cluster.isOver.open()
        try await group.waitForAll()
        #expect(End(try await device.refusal(Self.push(slack: slack, tolerated: 3))) == .passed, "quiet again")
      }
    }
  }

  @Test("TRU-04: development has its share of places in flight, and production's devices find the rest free")
  func environments() async throws {
    let share = Limits.developmentShare(of: SyncLimits.framesInFlight)
    try await Self.with { cluster in
      try await withThrowingTaskGroup(of: CaravanError?.self) { group in
        for number in 0..<share + 8 {
          let device = try cluster.device("d\(number)", of: "user-\(number % 16)", in: .development)
          group.addTask {
            do { return try await device.refusal(Self.pull()) } catch { return error as? CaravanError }
          }
        }
        for _ in 0..<8 {
          let refused = try await group.next() ?? nil
          #expect(refused?.code == .serverBusy && refused?.message.contains("share") == true)
        }
        try await eventually("development has its share") { cluster.asked.value.withLock { $0 } == share }
        for number in 0..<SyncLimits.framesInFlight - share {
          let device = try cluster.device("p\(number)", of: "user-\(number % 16)")
          group.addTask {
            do { return try await device.refusal(Self.pull()) } catch { return error as? CaravanError }
          }
        }
        try await eventually("production has the rest") {
          cluster.asked.value.withLock { $0 } == SyncLimits.framesInFlight
        }
        cluster.isOver.open()
        for try await refused in group { #expect(refused?.code != .serverBusy) }
      }
    }
  }

  @Test("TRU-04: development's own load is measured by its share, so it waits before production does")
  func loads() async throws {
    let frames = Limits.developmentShare(of: SyncLimits.framesInFlight) / 2 + 2
    try await Self.with { cluster in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<frames {
          let device = try cluster.device("d\(number)", of: "user-\(number % 4)", in: .development)
          group.addTask { _ = try? await device.ask(Self.pull()) }
        }
        try await eventually("all frames are under way") { cluster.asked.value.withLock { $0 } == frames }
        let (tried, used) = (try cluster.device("x", in: .development), try cluster.device("x"))
        #expect(End(try await tried.refusal(Self.push(slack: 10_000))) == .postponed)
        #expect(End(try await used.refusal(Self.push(slack: 10_000))) == .passed)
        cluster.isOver.open()
        try await group.waitForAll()
      }
    }
  }

  @Test("TRU-02: what one device has in work is bounded over all its frames; another's passes beside it")
  func share() async throws {
    let frames = 4
    try await Self.with { cluster in
      try await withThrowingTaskGroup(of: [CaravanWire.Result.Kind].self) { group in
        let greedy = try cluster.device("greedy")
        for frame in 0..<frames {
          let pulls: [CaravanWire.Operation.Kind] = (0..<SyncLimits.lanesInFlight).map {
            .pull(Pull(container: "album", zone: "photos-\(frame)-\($0)"))
          }
          group.addTask { try await greedy.exchange(pulls) }
        }
        try await eventually("the device has its share") {
          cluster.asked.value.withLock { $0 } >= SyncLimits.lanesOfDevice
        }
        let other = try cluster.device("other", of: "ben")
        group.addTask { [try await other.ask(Self.pull())] }
        try await eventually("another's passes") {
          cluster.asked.value.withLock { $0 } > SyncLimits.lanesOfDevice
        }
        #expect(cluster.asked.value.withLock { $0 } == SyncLimits.lanesOfDevice + 1)
        cluster.isOver.open()
        var answered = 0
        for try await results in group { answered += results.count }
        #expect(answered == frames * SyncLimits.lanesInFlight + 1, "and what waited is done")
      }
    }
  }
}
