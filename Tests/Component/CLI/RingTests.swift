import CaravanCrypto
import CaravanEncoding
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanCLIDriver

/// Goal: operators change ticket keys and nothing else (TRU-09). Method: the commands as they are typed, on a
/// directory of the test's own, in simulated time.
@Suite struct RingTests {
  private let directory: TemporaryDirectory
  private let cluster = Simulation(seed: 1)
  private let said = Collector()
  private var keys: String { "\(directory.path)/keys" }

  init() throws {
    directory = try TemporaryDirectory()
    _ = try KeyDirectory.ensure("\(directory.path)/keys", at: 1_800_000_000)
  }

  private func ring() throws -> KeyRing { try KeyRing.reading("\(keys)/ticket.key") }

  private func run(_ words: String..., cutAfter time: Duration? = nil, daysLater days: Int64 = 0) throws -> Int32? {
    let machine = cluster.host("operator")
    machine.adjustWallTime(by: .seconds(days * 86_400))
    let terminal = Terminal(host: machine.host) { said.add($0) }
    let line = ["keys"] + words + ["--dir", directory.path]
    let task = cluster.start { await Caravan.run(line, environment: [:], terminal) }
    if let time {
      try cluster.run(for: time)
      return try task.result?.get()
    }
    return try cluster.run { try await task.value() }
  }

  @Test("TRU-09: a rotation lets everybody read the new key before it seals")
  func rotate() throws {
    let before = try ring()
    #expect(try run("rotate", "tickets", cutAfter: .seconds(14)) == nil)
    let between = try ring()
    #expect(between.sealing == before.sealing && between.members.count == 2)
    try cluster.run(for: .seconds(2))
    let after = try ring()
    #expect(after.sealing == between.pending)
    #expect(after.members.map(\.key) == between.members.reversed().map(\.key))
    #expect(said.lines.count == 2 && said.lines.allSatisfy { $0.contains(after.sealing.id) }, "\(said.lines)")
    let secrets = after.members.map { Hex.encode($0.key.bytes) }
    #expect(said.lines.allSatisfy { line in secrets.allSatisfy { !line.contains($0) } })
    #expect(try run("rotate", "tickets", "--wait", "1s") == ExitCode.failure)
    #expect(try ring() == after)
  }

  @Test("TRU-09: a rotation that was cut short goes on with its key when it is run again")
  func resumed() throws {
    let folder = try RingFolder(directory.path)
    let host = cluster.host("operator").host
    let first = try cluster.run { try await folder.begin(host) }
    #expect(!first.isResumed)
    #expect(try run("rotate", "tickets", "--json") == 0)
    let answer = try JSON.parse(Array((said.lines.first ?? "").utf8))
    #expect(
      answer["tickets"]?["sealing"]?.stringValue == first.added.id && answer["tickets"]?["resumed"]?.boolValue == true)
    #expect(try ring().sealing.id == first.added.id && ring().members.count == 2)
  }

  @Test("TRU-09: keys retire 30 days after another took their place; a full ring waits for that")
  func retired() throws {
    let first = try ring().sealing.key
    for _ in 1..<KeyRing.most { #expect(try run("rotate", "tickets") == 0) }
    let full = try ring()
    #expect(full.members.count == KeyRing.most)
    #expect(try run("rotate", "tickets") == ExitCode.failure)
    #expect(try run("rotate", "tickets", daysLater: 29) == ExitCode.failure)
    #expect(try ring() == full)
    #expect(try run("rotate", "tickets", daysLater: 31) == 0)
    let after = try ring()
    #expect(after.members.count == 2 && after.members[1].key == full.sealing.key)
    #expect(try TicketKey.reading("\(keys)/alias.key") != first, "a new directory's aliases have a key of their own")
  }

  @Test("TRU-09: a distrusted key is gone at once, and with no id every key")
  func distrust() throws {
    #expect(try run("rotate", "tickets") == 0)
    let before = try ring()
    #expect(try run("distrust", "tickets", before.members[1].id) == 0)
    #expect(try ring().members == [before.sealing])
    #expect(try run("distrust", "tickets", "00000000") == ExitCode.failure)
    #expect(try run("rotate", "tickets") == 0)
    let two = try ring()
    #expect(try run("distrust", "tickets", two.sealing.id) == 0)
    #expect(try ring().members.dropFirst().map(\.key) == [before.sealing.key])
    #expect(try run("distrust", "tickets") == 0)
    let last = try ring()
    #expect(last.members.count == 1 && !(two.members + before.members).map(\.key).contains(last.sealing.key))
  }

  @Test("TRU-09: a key that is distrusted during its rotation does not seal")
  func distrustedMeanwhile() throws {
    let before = try ring()
    #expect(try run("rotate", "tickets", cutAfter: .seconds(5)) == nil)
    let pending = try #require(try ring().pending)
    #expect(try run("distrust", "tickets", pending.id) == 0)
    try cluster.run(for: .seconds(20))
    #expect(try ring() == before)
  }

  @Test("TRU-09: aliases of a directory of before stay: their key is copied once, also by a rotation")
  func aliases() throws {
    let old = try ring().sealing.key
    DiskFile.remove("\(keys)/alias.key")
    #expect(try run("rotate", "tickets") == 0)
    #expect(try TicketKey.reading("\(keys)/alias.key") == old)
    for _ in 0..<2 { _ = try KeyDirectory.ensure(keys, at: 1_900_000_000) }
    #expect(try TicketKey.reading("\(keys)/alias.key") == old)
    DiskFile.remove("\(keys)/alias.key")
    _ = try KeyDirectory.ensure(keys, at: 1_900_000_000)
    #expect(try TicketKey.reading("\(keys)/alias.key") == old, "the key is in the ring still")
    #expect(try run("distrust", "tickets") == 0)
    DiskFile.remove("\(keys)/alias.key")
    let error = #expect(throws: CaravanError.self) { try KeyDirectory.ensure(keys, at: 1_900_000_000) }
    #expect(error?.code == .invalidData && error?.message.contains("alias.key") == true)
    #expect(try run("distrust", "tickets") == 0, "whose aliases are lost distrusts keys all the same")
  }

  private func ring(_ purpose: RingPurpose) throws -> KeyRing { try KeyRing.reading("\(keys)/\(purpose.file)") }

  @Test("TRU-09: each purpose has a ring of its own: what changes one leaves the other, and no word changes all")
  func purposes() throws {
    let (tickets, tokens) = (try ring(.tickets), try ring(.tokens))
    #expect(tickets.sealing.key != tokens.sealing.key, "a new directory has a key for each")
    #expect(try run("rotate", "tokens") == 0)
    #expect(try ring(.tickets) == tickets && ring(.tokens).members.count == 2)
    #expect(try run("distrust", "tokens", tokens.sealing.id) == 0)
    #expect(try ring(.tickets) == tickets && ring(.tokens).members.count == 1)
    #expect(try run("distrust", "tickets") == 0)
    #expect(try ring(.tickets).sealing.key != tickets.sealing.key && ring(.tokens).members.count == 1)
    #expect(try run("rotate") == 0)
    #expect(try ring(.tickets).members.count == 2 && ring(.tokens).members.count == 2)
    #expect(try run("rotate", "sessions") == ExitCode.failure)
    #expect(try run("show") == 0)
    for purpose in RingPurpose.allCases {
      let ring = try ring(purpose)
      #expect(said.lines.contains("\(purpose): key \(ring.sealing.id) seals"))
      for member in ring.members {
        #expect(said.lines.allSatisfy { !$0.contains(Hex.encode(member.key.bytes)) })
      }
    }
  }

  @Test(
    "TRU-09: where one ring was for everything, each purpose begins with its keys, and one leaked goes from all")
  func split() throws {
    DiskFile.remove("\(keys)/token.key")
    #expect(try run("rotate") == 0)
    #expect(!DiskFile.exists("\(keys)/token.key"), "services that run read the one ring still")
    #expect(try run("rotate", "tokens") == ExitCode.failure)
    let old = try ring(.tickets)
    _ = try KeyDirectory.ensure(keys, at: 1_900_000_000)
    #expect(try ring(.tokens) == old && ring(.tickets) == old)
    let leaked = old.members[1].id
    #expect(try run("distrust", leaked) == 0)
    for purpose in [RingPurpose.tickets, .tokens] { #expect(try ring(purpose).members == [old.sealing]) }
    #expect(try ring(.webhooks).sealing.key != old.sealing.key, "what came later never was of the one ring")
  }
}
