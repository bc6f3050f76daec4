import CaravanAgentCore
import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanTokens
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore

/// Goal: the keys of tickets and change tokens change under devices that are at work (TRU-09). Method:
/// `SuiteCluster` with a file of keys that its services read again by themselves; sync counts whom it refuses.
@Suite struct RotationTests {
  private static let refused = CounterName("caravan_sync_operations_total", "")
  private static let resets = CounterName("caravan_sync_resets_total", "")

  private func simulate(seed: UInt64, _ body: @escaping @Sendable (SuiteCluster) async throws -> Void) throws {
    let suite = try SuiteCluster(seed: seed, hasKeyFile: true)
    try suite.cluster.run(deadline: .seconds(7_200)) { try await body(suite) }
  }

  /// How many pulls and other operations sync has refused, and how many devices it told to begin anew.
  private static func refusals(_ suite: SuiteCluster) -> Int {
    let metrics = suite.syncHost.metrics
    return Int(metrics.counter(refused, [.outcome: "refused"]).value + metrics.counter(resets).value)
  }

  private static func change(
    _ suite: SuiteCluster, of purposes: [RingPurpose] = RingPurpose.allCases, _ change: (KeyRing) throws -> KeyRing
  ) throws {
    for file in purposes.map(suite.keyFile) {
      try TextFile.writeSecret(change(KeyRing.reading(file)).fileText, to: file)
    }
  }

  /// As `caravan keys rotate` does it.
  private static func rotate(_ suite: SuiteCluster, at clock: any Clock) async throws {
    let seconds = clock.wallTime.milliseconds / 1_000
    try change(suite) { try $0.adding(.generate(), at: seconds) }
    try await clock.sleep(for: LaunchLimits.ringTravels)
    try change(suite) { ring in
      let next = try #require(ring.pending)
      return try #require(ring.sealing(with: next.id, at: seconds))
    }
  }

  private static func device(_ name: String, _ suite: SuiteCluster) async throws -> RunningDevice {
    let device = try await suite.start(name)
    try await device.createTable()
    try await device.register()
    return device
  }

  @Test("TRU-09: keys are rotated three times under pulls and uploads, and nobody starts over")
  func rotation() throws {
    try simulate(seed: 21) { suite in
      let (a, b) = (try await Self.device("a", suite), try await Self.device("b", suite))
      // This one is away from before the first rotation until after the last.
      let c = try await Self.device("c", suite)
      try await a.write("first", 0)
      for device in [b, c] { try await device.until("it is there") { try await device.numbers() == ["first": 0] } }
      try await c.kill()
      let before = Self.refusals(suite)
      let rotations = suite.cluster.start {
        for _ in 0..<3 {
          try await Self.rotate(suite, at: a.clock)
          try await a.clock.sleep(for: .seconds(10))
        }
      }
      let random = SeededRandom(seed: 3)
      var photos: [String: [UInt8]] = [:]
      for number in 0..<40 {
        let writer = number.isMultiple(of: 2) ? a : b
        photos["p\(number)"] = random.bytes(200_000)
        try await writer.writePhoto("p\(number)", photos["p\(number)"] ?? [])
        try await writer.write("n\(number)", Int64(number))
        try await a.clock.sleep(for: .seconds(2))
      }
      try await rotations.value()
      let ring = try KeyRing.reading(suite.keyFile(.tokens))
      #expect(ring.members.count == 4)
      try await a.write("last", 0)
      let again = try await suite.start("c")
      for device in [a, b, again] {
        try await device.until("all of it is everywhere") { try await device.rows().count == 82 }
        try await device.until("nothing waits") { try await device.isSettled() }
        for (name, bytes) in photos {
          try await device.until("the photo is whole") { try await device.photo(name) == bytes }
        }
      }
      #expect(Self.refusals(suite) == before)
      // Had nobody read the file again, nobody would have been refused either.
      let tokens = TokenSeal(key: try KeyRing([ring.sealing]))
      let zone = try ZoneID(
        DatabaseID(container: RunningDevice.table.app, environment: .development, owner: UserID("ada")), "album")
      for device in [b, again] {
        let token = try await device.store.syncState(of: RunningDevice.table).token
        #expect(throws: Never.self) { try tokens.open(token, of: zone) }
      }
    }
  }

  @Test("TRU-09: who distrusts the keys of tickets makes no device compare; of tokens, none lose a photo or a row")
  func purposes() throws {
    try simulate(seed: 23) { suite in
      let (a, b) = (try await Self.device("a", suite), try await Self.device("b", suite))
      var known = 0
      for (purpose, isRefused) in [(RingPurpose.tickets, false), (.tokens, true)] {
        try await a.write("before \(purpose)", 1)
        try await b.until("it is there") { [known] in try await b.numbers().count == known + 1 }
        let before = Self.refusals(suite)
        try Self.change(suite, of: [purpose]) { ring in
          try ring.distrusting(Set(ring.members.map(\.id)), for: .generate(), at: 0)
        }
        try await a.clock.sleep(for: LaunchLimits.ringTravels)
        try await a.write("after \(purpose)", 2)
        try await b.writePhoto("photo \(purpose)", SeededRandom(seed: 4).bytes(200_000))
        known += 2
        for device in [a, b] {
          try await device.until("all of it is everywhere") { [known] in
            let photo = try await device.photo("photo \(purpose)")
            return try await device.numbers().count == known && photo?.count == 200_000
          }
          try await device.until("nothing waits") { try await device.isSettled() }
        }
        #expect((Self.refusals(suite) > before) == isRefused, "\(purpose): what sync has refused")
      }
    }
  }

  @Test("TRU-09: after all keys are distrusted, devices compare with the cloud, and unsent rows arrive")
  func distrust() throws {
    try simulate(seed: 22) { suite in
      let (a, b) = (try await Self.device("a", suite), try await Self.device("b", suite))
      for number in 0..<10 { try await a.write("n\(number)", Int64(number)) }
      try await b.until("they are there") { try await b.rows().count == 10 }
      try await a.until("all is sent") { try await a.isSettled() }
      try await a.kill()
      let before = Self.refusals(suite)
      try Self.change(suite) { ring in
        try ring.distrusting(Set(ring.members.map(\.id)), for: .generate(), at: 0)
      }
      try await b.clock.sleep(for: LaunchLimits.ringTravels)
      var options = LocalStoreOptions()
      options.isDurable = false
      // Its unsent rows are written before it hears of it.
      let again = try await suite.start("a", in: "\(suite.directory.path)/a", options) { agent in
        let name = [CellValue("name", .text("unsent")), CellValue("number", .integer(77))]
        try await agent.store.write(RunningDevice.table, cells: name)
        try await agent.store.write(
          RunningDevice.table, cells: [CellValue("number", .integer(99))],
          selection: Selection("name = ?", [.text("n3")]))
      }
      try await b.writePhoto("photo", SeededRandom(seed: 4).bytes(200_000))
      var expected = Dictionary(uniqueKeysWithValues: (0..<10).map { ("n\($0)", Int64($0)) })
      (expected["unsent"], expected["n3"]) = (77, 99)
      for device in [again, b] {
        try await device.until("all of it is everywhere") { [expected] in
          let (numbers, rows) = (try await device.numbers(), try await device.rows())
          return numbers == expected && rows.count == 12
        }
        try await device.until("nothing waits") { try await device.isSettled() }
        try await device.until("the photo is there") { try await device.photo("photo")?.count == 200_000 }
      }
      #expect(Self.refusals(suite) > before, "nobody noticed: the test has tested nothing")
    }
  }
}
