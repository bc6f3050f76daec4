import CaravanBus
import CaravanBusNATS
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire

/// `kill -9` of storage in the middle of commits, again and again: nothing acknowledged is lost, nothing is there
/// twice, and it is back in time however much it holds.
struct StormTrial: Sendable {
  let urls: [String]
  let storage: StorageProcess
  let cycles: Int
  let records: Int
  /// How long commits may be held up; nil: as long as they are.
  let limit: Duration?
  let host: Host

  private static let clients = 64
  private static let zones = 8
  /// Commits that each life must acknowledge before it ends.
  private static let commitsPerLife = 150
  private static let perCommit = 400

  /// - Returns: whether all is there, once, and commits went on in time.
  func run() async throws -> Bool {
    let bus = try await NATSBus.connect(NATSOptions(urls: urls, name: "storm"), host: host)
    var policy = StorageClient.Policy()
    (policy.deadline, policy.attempts) = (.milliseconds(400), 1)
    let client = StorageClient(bus: bus, host: host, writer: "@storm", policy: policy)
    try storage.start()
    try await eventually("storage serves") { (try? await client.status(of: Partition.all[0])) != nil }
    try await fill(StorageClient(bus: bus, host: host, writer: "@storm"))
    let counters = Counters()
    var times: [Duration] = []
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Self.clients { group.addTask { try await save(number, client, counters) } }
      for cycle in 0..<cycles {
        try await eventually("commits go on", within: .seconds(60)) { counters.ofThisLife >= Self.commitsPerLife }
        // Not always at the same moment of a commit.
        try await host.clock.sleep(for: .microseconds(Int64(host.random.below(20_000))))
        storage.kill()
        counters.begin()
        let dead = host.clock.now
        try storage.start()
        try await eventually("storage is back after kill \(cycle)", within: .seconds(60)) { counters.ofThisLife > 0 }
        times.append(counters.first - dead)
      }
      counters.stop()
      try await group.waitForAll()
    }
    let problems = try await check(StorageClient(bus: bus, host: host, writer: "@storm"), counters)
    storage.kill()
    await bus.drain(deadline: .seconds(1))
    return report(times, counters, problems)
  }

  private func report(_ times: [Duration], _ counters: Counters, _ problems: [String]) -> Bool {
    for problem in problems.prefix(10) { print(problem) }
    let sorted = times.sorted()
    let (median, longest) = (sorted[sorted.count / 2].wholeMilliseconds, sorted.last?.wholeMilliseconds ?? 0)
    print(
      "\(cycles) kills with \(records) records there: \(counters.saved.count) commits acknowledged, "
        + (problems.isEmpty ? "none lost, none doubled" : "\(problems.count) problems")
        + "; commits go on after \(median) ms (median), \(longest) ms (longest)")
    guard let limit else { return problems.isEmpty }
    let late = times.count { $0 > limit }
    if late > 0 { print("\(late) times it took longer than the \(limit.wholeMilliseconds) ms it may") }
    return problems.isEmpty && late == 0
  }

  // MARK: Commits

  private static func zone(_ number: Int) throws(CaravanError) -> ZoneID {
    let owner = try UserID("user-\(number % zones)")
    return try ZoneID(DatabaseID(container: ContainerID("storm"), environment: .development, owner: owner), "rows")
  }

  private static func save(_ name: String) -> CaravanModel.Mutation {
    let body = [UInt8](repeating: UInt8(ascii: "x"), count: 230)
    return CaravanModel.Mutation(name: name, base: .absent, change: .save(type: 1, body: body, chunks: []))
  }

  private func fill(_ client: StorageClient) async throws {
    let commits = (records + Self.perCommit - 1) / Self.perCommit
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<8 {
        group.addTask {
          for number in stride(from: lane, to: commits, by: 8) {
            let first = number * Self.perCommit
            let names = (first..<min(first + Self.perCommit, records)).map { "old.\($0)" }
            _ = try await client.commit(to: Self.zone(lane), atomically: false, names.map(Self.save))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// One row after the other, each asked for under one op until it is answered.
  private func save(_ client: Int, _ storage: StorageClient, _ counters: Counters) async throws {
    let zone = try Self.zone(client)
    var number: UInt64 = 0
    while !counters.isOver {
      number += 1
      let name = "\(client).\(number)"
      let commit = Commit(
        zone: zone, op: OpID(writer: "storm-\(client)", epoch: 1, number: number), opFloor: number, isAtomic: false,
        mutations: [Self.save(name)])
      let request = CommitRequest(commit)
      while true {
        do throws(CaravanError) {
          let result = try await storage.commit(request, in: Partition(of: zone.database)).model()
          counters.acknowledge(zone, name, result)
          break
        } catch {
          guard error.isTransient else { throw error }
          try await host.clock.sleep(for: .milliseconds(5))
        }
      }
    }
  }

  // MARK: What is there

  private func check(_ client: StorageClient, _ counters: Counters) async throws -> [String] {
    var problems = counters.oddities
    let saved = Dictionary(grouping: counters.saved, by: \.zone)
    var found = 0
    for number in 0..<Self.zones {
      let zone = try Self.zone(number)
      var versions: [String: Seq] = [:]
      var expected: Seq = 1
      var request = ReadChangesRequest(zone: ZoneRef(zone), maxRecords: 4_096, maxBytes: 1 << 20)
      while true {
        let page = try await client.changes(of: zone, request)
        for entry in try EntryPage.decode(page.page).entries {
          if entry.version != expected { problems.append("\(zone) has \(entry.version) where \(expected) follows") }
          expected = entry.version + 1
          if versions.updateValue(entry.version, forKey: entry.name) != nil { problems.append("\(entry.name) twice") }
        }
        guard page.more else { break }
        request.from = page.next
      }
      for row in saved[zone, default: []] where versions[row.name] != row.version {
        problems.append("\(row.name) was acknowledged at \(row.version), there is \(versions[row.name] ?? 0)")
      }
      found += versions.count
    }
    if found != records + counters.saved.count {
      problems.append("\(found) rows are there, \(records + counters.saved.count) were acknowledged")
    }
    return problems
  }
}

/// What was acknowledged.
final class Counters: Sendable {
  struct Saved: Sendable {
    let zone: ZoneID
    let name: String
    let version: Seq
  }

  private struct State {
    var saved: [Saved] = []
    var oddities: [String] = []
    var ofThisLife = 0
    var first = Instant(nanoseconds: 0)
    var isOver = false
  }

  private let state = Mutex(State())
  private let clock = Host.live().clock

  var saved: [Saved] { state.withLock { $0.saved } }
  var oddities: [String] { state.withLock { $0.oddities } }
  var isOver: Bool { state.withLock { $0.isOver } }
  /// Acknowledged since `begin`.
  var ofThisLife: Int { state.withLock { $0.ofThisLife } }
  /// When the first of this life was.
  var first: Instant { state.withLock { $0.first } }

  func begin() { state.withLock { $0.ofThisLife = 0 } }
  func stop() { state.withLock { $0.isOver = true } }

  func acknowledge(_ zone: ZoneID, _ name: String, _ result: CommitResult) {
    state.withLock { state in
      if state.ofThisLife == 0 { state.first = clock.now }
      state.ofThisLife += 1
      guard case .applied(let outcomes, _, _, _) = result, case .accepted(let version)? = outcomes.first else {
        return state.oddities.append("\(name) was answered with \(result)")
      }
      state.saved.append(Saved(zone: zone, name: name, version: version))
    }
  }
}
