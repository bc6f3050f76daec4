import CaravanCrypto
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanTokens
import Testing

/// Goal: services read their keys again when the file changes, and keep those of before when they cannot (TRU-09).
/// Method: a file of the test's own, in simulated time.
@Suite struct RingFileTests {
  private func key(_ number: UInt8) throws -> TicketKey {
    try TicketKey([UInt8](repeating: number, count: TicketKey.byteCount))
  }

  @Test("TRU-09: a ring is read again when its file changes; one that cannot be read changes nothing, said once")
  func reload() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/ticket.key"
    let first = KeyRing(try key(5))
    let second = try first.adding(key(6), at: 1)
    try TextFile.writeSecret(first.fileText, to: path)
    let (cluster, sink) = (Simulation(seed: 1), MemoryLogSink())
    defer { cluster.end() }
    let host = cluster.host("sync").host
    let logged = host.with(log: Log(level: .info, clock: host.clock, sink: sink))
    try cluster.run {
      let file = try RingFile(path, host: logged)
      _ = cluster.start { await file.run() }
      func pass() async throws { try await host.clock.sleep(for: LaunchLimits.ringRereads + .seconds(1)) }
      try TextFile.writeSecret(second.fileText, to: path)
      #expect(file.ring == first)
      try await pass()
      #expect(file.ring == second)
      for _ in 0..<3 {
        try TextFile.writeSecret("no key\n", to: path)
        try await pass()
      }
      DiskFile.remove(path)
      try await pass()
      #expect(file.ring == second)
      #expect(sink.records.count { $0.level == .warning } == 1)
      try TextFile.writeSecret(first.fileText, to: path)
      try await pass()
      #expect(file.ring == first)
      file.shutDown()
    }
    #expect(sink.records.count == 4, "changed, cannot be read, can be read again, changed")
    for record in sink.records {
      #expect(!"\(record)".contains("0505") && !"\(record)".contains("0606"))
    }
  }

  @Test("TRU-09: sync's key of aliases is the one given, else that beside its ticket key")
  func aliasKey() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/ticket.key"
    func given(_ more: String...) throws -> TicketKey? {
      let command = Command("caravan-sync", "", flags: [Flag<String>.ticketKey, Flag<String?>.aliasKey])
      return try command.parse(["--ticket-key", path] + more).aliasKey()
    }
    #expect(try given() == nil)
    try TextFile.writeSecret(key(7).fileText, to: "\(directory.path)/alias.key")
    try TextFile.writeSecret(key(8).fileText, to: "\(directory.path)/mine")
    #expect(try given() == key(7))
    #expect(try given("--alias-key", "\(directory.path)/mine") == key(8))
    #expect(throws: CaravanError.self) { try given("--alias-key", "\(directory.path)/nothing") }
  }

  @Test("TRU-09: the tokens' ring is the file given, else that beside the tickets', else the tickets' of before")
  func tokenKey() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/ticket.key"
    let sync = Command("caravan-sync", "", flags: [Flag<String>.ticketKey, Flag<String?>.tokenKey])
    let notify = Command("caravan-notify", "", flags: [Flag<String?>.oldTicketKey, Flag<String?>.tokenKey])
    #expect(try sync.parse(["--ticket-key", path]).tokenKeyFile(path) == path)
    try TextFile.writeSecret(key(7).fileText, to: "\(directory.path)/token.key")
    #expect(try sync.parse(["--ticket-key", path]).tokenKeyFile(path) == "\(directory.path)/token.key")
    #expect(try sync.parse(["--ticket-key", path, "--token-key", "mine"]).tokenKeyFile(path) == "mine")
    #expect(try notify.parse(["--token-key", "mine"]).tokenKeyFile(nil) == "mine")
    #expect(throws: CaravanError.self) { try notify.parse([]).tokenKeyFile(nil) }
  }

  @Test("TRU-09: tokens, turns and tickets of a ring open while their key is in it, and not afterwards")
  func seals() throws {
    let zone = try ZoneID(
      DatabaseID(container: ContainerID("album"), environment: .development, owner: UserID("ann")), "photos")
    let device = EnrolledDevice("ann", "phone")
    let position = CaravanModel.ChangePosition(incarnation: 3, seq: 4)
    let turn = SyncTurn(leaseToken: 1, height: 2, incarnation: 3)
    let grant = TicketGrant(
      database: zone.database, device: device, isUpload: true, bytes: 1, expiresMilliseconds: 50)
    let old = KeyRing(try key(5))
    let added = try old.adding(key(6), at: 1)
    let pending = try #require(added.pending)
    let new = try #require(added.sealing(with: pending.id, at: 2))
    let gone = new.retiring(endedBy: 2)
    for (sealing, opening, isOpen) in [(old, new, true), (new, added, true), (new, old, false), (old, gone, false)] {
      let token = TokenSeal(key: sealing).seal(position, of: zone)
      #expect((try? TokenSeal(key: opening).open(token, of: zone)) == (isOpen ? position : nil))
      let turns = TurnSeal(key: sealing).seal(turn, in: zone, of: "client")
      #expect(TurnSeal(key: opening).open(turns, in: zone, of: "client") == (isOpen ? turn : nil))
      let ticket = TicketSeal(key: sealing).issue(grant)
      let opened = try? TicketSeal(key: opening).open(ticket, from: device, nowMilliseconds: 0)
      #expect(opened == (isOpen ? grant : nil))
    }
  }
}
