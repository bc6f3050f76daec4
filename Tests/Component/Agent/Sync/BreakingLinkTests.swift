import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentNetwork
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// A link that breaks whenever so many bytes of a device have passed since it last did, and is there again at once:
/// whatever is on its way then is lost, and the part of it that had passed with it.
private final class BreakingLink: FaultPolicy {
  struct Count: Sendable {
    var sinceBreak = 0
    /// Of messages that arrived.
    var delivered = 0
    var lost = 0
    var breaks = 0
  }

  private let devices: Set<String>
  private let bytes: Int
  private let counts = Mutex<[String: Count]>([:])
  private let isMended = Mutex(false)

  init(_ devices: Set<String>, every bytes: Int) {
    self.devices = devices
    self.bytes = bytes
  }

  func count(of device: String) -> Count { counts.withLock { $0[device] ?? Count() } }

  /// From here on everything passes.
  func repair() { isMended.withLock { $0 = true } }

  /// From here on it breaks again.
  func spoil() { isMended.withLock { $0 = false } }

  func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
    guard let device = [passage.sender, passage.receiver].first(where: devices.contains) else { return [.zero] }
    return counts.withLock { counts in
      var count = counts[device] ?? Count()
      defer { counts[device] = count }
      guard count.sinceBreak + passage.bytes <= bytes || isMended.withLock({ $0 }) else {
        count.lost += bytes - count.sinceBreak
        count.breaks += 1
        count.sinceBreak = 0
        return []
      }
      count.sinceBreak += passage.bytes
      count.delivered += passage.bytes
      return [.zero]
    }
  }
}

/// Goal: over a link that breaks before a large message has passed everything arrives, and what has arrived is not sent
/// again (MOB-23). Method: devices and the real services, over links that let so many bytes pass and no more.
@Suite("Links that break", .timeLimit(.minutes(5)))
struct BreakingLinkTests {
  @Test("MOB-23: a loss makes messages much smaller, many that pass make them larger again; small ones say nothing")
  func size() {
    var size = FragmentSize()
    size.lost(EngineLimits.fragmentBytes - 1, sentUnder: size.bytes)
    #expect(size.isUnbroken)
    let first = size.bytes
    size.lost(300_000, sentUnder: first)
    // On its way together with the first.
    size.lost(200_000, sentUnder: first)
    #expect(size.bytes == first / 8)
    for _ in 0..<100 { size.passed(1_000) }
    #expect(size.bytes == first / 8)
    for _ in 1..<EngineLimits.passesToDouble { size.passed(size.bytes) }
    #expect(size.bytes == first / 8)
    size.passed(size.bytes)
    #expect(size.bytes == first / 4)
    for _ in 0..<20 { size.lost(1 << 20, sentUnder: size.bytes) }
    #expect(size.bytes == EngineLimits.fragmentBytes && size.isLeast)
    for _ in 0..<(8 * EngineLimits.passesToDouble) { size.passed(size.bytes) }
    #expect(size.isUnbroken)
  }

  private static func pair(_ suite: SuiteCluster) async throws -> (RunningDevice, RunningDevice) {
    let (a, b) = (try await suite.start("a"), try await suite.start("b"))
    for device in [a, b] { try await device.createTable() }
    return (a, b)
  }

  /// A lost message is missed after ten seconds or more: looking seldom is soon enough.
  private static func wait(_ device: RunningDevice, until condition: () async throws -> Bool) async throws {
    let end = device.clock.now + .seconds(10_000)
    while try await !condition() {
      guard device.clock.now < end else { throw NotYet(what: "everything has passed") }
      try await device.clock.sleep(for: .seconds(5))
    }
  }

  @Test(
    "MOB-23: an object of 1 MiB passes up and down, what has arrived not again", arguments: [20_000, 100_000, 150_000])
  func object(bytes: Int) throws {
    let link = BreakingLink(["a", "b"], every: bytes)
    let suite = try SuiteCluster(seed: 1, policy: link)
    try suite.cluster.run(deadline: .seconds(100_000)) {
      let photo = SeededRandom(seed: 3).bytes(1 << 20)
      let (a, b) = try await Self.pair(suite)
      try await a.register()
      try await a.writePhoto("x", photo)
      try await Self.wait(a) { try await a.isSettled() }
      try await b.register()
      try await Self.wait(b) { try await b.photo("x") == photo }
      for device in ["a", "b"] {
        let count = link.count(of: device)
        #expect(count.breaks > 0)
        #expect(count.delivered + count.lost <= photo.count * 3 / 2, "\(device): \(count)")
      }
      for device in [a, b] { #expect(try await device.store.problems() == []) }
    }
  }

  @Test("MOB-23, TRU-10: what the cloud's disk has lost comes again over a link that lets no chunk pass whole")
  func lostAtCloud() throws {
    let link = BreakingLink(["a"], every: 20_000)
    let suite = try SuiteCluster(seed: 12, policy: link, hasFiles: true)
    try suite.cluster.run(deadline: .seconds(100_000)) {
      let photo = SeededRandom(seed: 13).bytes(300_000)
      let (a, b) = try await Self.pair(suite)
      try await a.register()
      try await a.writePhoto("x", photo)
      try await Self.wait(a) { try await a.isSettled() }
      Files.write([], to: "\(suite.cloud)/store-0.chunks")
      try await b.register()
      try await Self.wait(b) { try await b.photo("x") == photo }
      #expect(link.count(of: "a").breaks > 0)
    }
  }

  @Test("MOB-23: what has arrived of a chunk outlives the agent, at both ends")
  func restart() throws {
    let link = BreakingLink(["a", "b"], every: 20_000)
    let suite = try SuiteCluster(seed: 5, policy: link)
    try suite.cluster.run(deadline: .seconds(100_000)) {
      let photo = SeededRandom(seed: 6).bytes(200_000)
      var (a, b) = try await Self.pair(suite)
      try await a.register()
      try await a.writePhoto("x", photo)
      for _ in 0..<5 {
        try await a.clock.sleep(for: .seconds(60))
        try await a.kill()
        a = try await suite.start("a")
      }
      try await Self.wait(a) { try await a.isSettled() }
      try await b.register()
      for _ in 0..<5 {
        try await b.clock.sleep(for: .seconds(60))
        try await b.kill()
        b = try await suite.start("b")
      }
      try await Self.wait(b) { try await b.photo("x") == photo }
      for device in ["a", "b"] {
        let count = link.count(of: device)
        #expect(count.delivered <= photo.count * 3 / 2, "\(device): \(count)")
      }
    }
  }

  @Test("MOB-23: a push and a page of many rows pass in smaller ones")
  func rows() throws {
    let link = BreakingLink(["a", "b"], every: 120_000)
    let suite = try SuiteCluster(seed: 2, policy: link)
    try suite.cluster.run(deadline: .seconds(100_000)) {
      let (a, b) = try await Self.pair(suite)
      let random = SeededRandom(seed: 4)
      for number in 0..<300 {
        // Nothing that could be packed to much less.
        try await a.write(String(decoding: random.bytes(2_000).map { 0x20 + $0 % 95 }, as: UTF8.self), Int64(number))
      }
      for device in [a, b] {
        try await device.register()
        try await Self.wait(device) {
          guard try await device.isSettled() else { return false }
          return try await device.store.status(of: RunningDevice.table.app)[0].rows == 300
        }
        let count = link.count(of: device.name)
        #expect(count.breaks > 0 && count.delivered <= 1_500_000, "\(device.name): \(count)")
      }
    }
  }

  /// Nothing that could be packed to much less.
  private static func text(_ random: SeededRandom, _ bytes: Int) -> String {
    String(decoding: random.bytes(bytes).map { 0x20 + $0 % 95 }, as: UTF8.self)
  }

  @Test(
    "MOB-23: a row whose cells are larger than the link bears arrives, and so does the cloud's copy in a conflict",
    arguments: [(5_000, 30_000), (20_000, 300_000), (100_000, 900_000)])
  func largeRow(bytes: Int, cell: Int) throws {
    let link = BreakingLink(["a", "b"], every: bytes)
    let suite = try SuiteCluster(seed: 7, policy: link)
    try suite.cluster.run(deadline: .seconds(100_000)) {
      let (a, b) = try await Self.pair(suite)
      let random = SeededRandom(seed: 8)
      let first = Self.text(random, cell)
      try await a.register()
      try await a.write(first, 1)
      try await Self.wait(a) { try await a.isSettled() }
      try await b.register()
      try await Self.wait(b) { try await b.numbers() == [first: 1] }
      for device in ["a", "b"] {
        let count = link.count(of: device)
        #expect(count.breaks > 0 && count.delivered + count.lost <= 2 * cell, "\(device): \(count)")
      }
      // Both change it: who comes second is answered with the other's.
      let (mine, theirs) = (Self.text(random, cell), Self.text(random, cell))
      for (device, name) in [(a, theirs), (b, mine)] {
        try await device.store.write(
          RunningDevice.table, cells: [CellValue("name", .text(name))], selection: Selection("number = 1"))
      }
      let conflicts = { () async throws in
        var count = 0
        for device in [a, b] {
          let status = try await device.store.status(of: RunningDevice.table.app)[0]
          guard status.pending == 0, status.dirty == status.conflicts else { return 0 }
          count += status.conflicts
        }
        return count
      }
      try await Self.wait(a) { try await conflicts() == 1 }
    }
  }

  @Test("MOB-23: also the cloud's copy in the answer to a push that is small itself")
  func largeAnswer() throws {
    let link = BreakingLink(["b"], every: 10_000)
    let suite = try SuiteCluster(seed: 9, policy: link)
    try suite.cluster.run(deadline: .seconds(100_000)) {
      let (a, b) = try await Self.pair(suite)
      try await a.register()
      try await a.write("x", 1)
      try await Self.wait(a) { try await a.isSettled() }
      try await b.agent.engine.syncNow(RunningDevice.table, write: false, read: true)
      try await a.store.write(
        RunningDevice.table, cells: [CellValue("name", .text(Self.text(SeededRandom(seed: 10), 30_000)))],
        selection: Selection("number = 1"))
      try await Self.wait(a) { try await a.isSettled() }
      try await b.update("x", 2)
      // Nothing but the push tells how much the link bears.
      _ = try? await b.agent.engine.syncNow(RunningDevice.table, write: true, read: false)
      try await Self.wait(b) { try await b.store.status(of: RunningDevice.table.app)[0].conflicts == 1 }
    }
  }

  @Test("MOB-23: a table starts over though its first row is larger than the link bears, which was good before")
  func startsOver() throws {
    let link = BreakingLink(["b"], every: 12_000)
    link.repair()
    let suite = try SuiteCluster(seed: 11, policy: link)
    try suite.cluster.run(deadline: .seconds(100_000)) {
      let (a, b) = try await Self.pair(suite)
      let large = Self.text(SeededRandom(seed: 12), 30_000)
      try await a.register()
      try await a.write(large, 1)
      try await Self.wait(a) { try await a.isSettled() }
      try await b.agent.engine.syncNow(RunningDevice.table, write: false, read: true)
      try await a.write("small", 2)
      try await Self.wait(a) { try await a.isSettled() }
      link.spoil()
      // The cloud does not know its token any more.
      try await b.store.reset(RunningDevice.table, token: [1, 2, 3])
      try await b.register()
      try await Self.wait(b) { try await b.numbers() == [large: 1, "small": 2] }
      #expect(link.count(of: "b").breaks > 0)
    }
  }

  @Test("MOB-23, MOB-47, UNI-07: a push whose answer the budget has no room for was heard of, and is not sent anew")
  func answerBeyondBudget() throws {
    let link = BreakingLink(["b"], every: 10_000)
    let suite = try SuiteCluster(seed: 9, policy: link)
    try suite.cluster.run(deadline: .seconds(100_000)) {
      let (a, b) = try await Self.pair(suite)
      let random = SeededRandom(seed: 10)
      try await a.register()
      try await a.write("x", 1)
      try await Self.wait(a) { try await a.isSettled() }
      // What the link bears is known from here on.
      try await b.writePhoto("photo", random.bytes(60_000))
      for (write, read) in [(true, false), (false, true)] {
        try await b.agent.engine.syncNow(RunningDevice.table, write: write, read: read)
      }
      try await a.store.write(
        RunningDevice.table, cells: [CellValue("name", .text(Self.text(random, 40_000)))],
        selection: Selection("number = 1"))
      try await Self.wait(a) { try await a.isSettled() }
      // Nothing gets lost any more, so that nothing but the budget stands in the way.
      link.repair()
      let engine = b.agent.engine
      let spent = engine.meter.spent(over: .wired)
      try await engine.setPolicy(NetworkPolicy(dailyBytes: [.wired: spent + 24_000]))
      // The answer to the two has the cloud's copy of the one, and says that the other is accepted.
      try await b.update("x", 2)
      let large = Self.text(random, 4_000)
      try await b.store.write(
        RunningDevice.table, cells: [CellValue("name", .text(large))], selection: Selection("name = 'photo'"))
      _ = try? await engine.syncNow(RunningDevice.table, write: true, read: false)
      try await b.clock.sleep(for: .seconds(60))
      #expect(engine.meter.spent(over: .wired) > spent + 12_000, "pieces of the answer have come")
      try await b.update(large, 4)
      #expect(try await b.store.status(of: RunningDevice.table.app)[0].conflicts == 0)
      try await engine.setPolicy(NetworkPolicy())
      _ = try? await engine.syncNow(RunningDevice.table, write: true, read: false)
      let status = try await b.store.status(of: RunningDevice.table.app)[0]
      #expect(status.conflicts == 1 && status.dirty == 1 && status.pending == 0, "\(status)")
    }
  }

  @Test("CK-102, MOB-23: a row for whose frame there is no room says so and goes when there is")
  func noRoom() throws {
    let link = BreakingLink(["a"], every: 20_000)
    let suite = try SuiteCluster(seed: 11, policy: link)
    try suite.cluster.run(deadline: .seconds(100_000)) {
      let (a, _) = try await Self.pair(suite)
      let storage = StorageClient(
        bus: suite.hub.connect(as: "operator"), host: suite.cluster.host("operator").host, writer: "@operator")
      let account = Account.user(UserID(unchecked: "ada"), .development)
      let random = SeededRandom(seed: 12)
      try await a.register()
      try await a.write(Self.text(random, 30_000), 1)
      try await Self.wait(a) { try await a.isSettled() }
      _ = try await storage.quota(
        QuotaRequest(set: CaravanWire.Quota(CaravanModel.Quota(records: 9, bytes: 1))), of: account)
      try await a.write(Self.text(random, 30_000), 2)
      try await Self.wait(a) {
        let status = try await a.store.status(of: RunningDevice.table.app)[0]
        return status.refused.contains("beyond") && status.dirty == 1
      }
      _ = try await storage.quota(QuotaRequest(useDefault: true), of: account)
      try await Self.wait(a) { try await a.isSettled() }
    }
  }
}
