import CaravanCLICore
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanCLIDriver

/// Goal: suites that start at the same moment do not both believe that a port is theirs. Method: they choose, before
/// anybody listens; claims are of this process, and the kernel gives none of them twice.
@Suite struct AddressTests {
  private static let random = SeededRandom(seed: 31)
  private static func free() throws -> HostPort { HostPort("127.0.0.1", try LoopbackPort.free(random: random)) }

  private static func choose(_ given: HostPort?, _ usual: HostPort, after earlier: String? = nil) throws(CaravanError)
    -> Addresses.Claimed
  {
    try Addresses.choose(given, earlier, usual, "--nats", random)
  }

  @Test("of many suites that start at once one gets the usual port, and each of the others one of its own")
  func race() async throws {
    let usual = try Self.free()
    let all = try await withThrowingTaskGroup(of: Addresses.Claimed.self) { group in
      for _ in 0..<12 { group.addTask { try Self.choose(nil, usual) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(all.map(\.address.port)).count == 12)
    #expect(all.count { $0.address == usual } == 1)
    for claimed in all { claimed.claim.release() }
    let next = try Self.choose(nil, usual)
    #expect(next.address == usual, "what has ended holds nothing")
    next.claim.release()
  }

  @Test("a port that was asked for is refused, with the reason, to whoever comes second; so is one that is listened at")
  func given() throws {
    let port = try Self.free()
    let first = try Self.choose(port, port)
    let late = #expect(throws: CaravanError.self) { try Self.choose(port, port) }
    #expect(late?.code == .unavailable && late?.message.contains("another caravan up") == true)
    #expect(late?.message.contains("\(port)") == true)
    first.claim.release()
    #expect(throws: CaravanError.self) { try Self.choose(HostPort("somewhere", 1), port) }
  }

  @Test("the port of the last run comes first, while it is to be had")
  func earlier() throws {
    let (usual, known) = (try Self.free(), try Self.free())
    let first = try Self.choose(nil, usual, after: "nats://\(known)")
    #expect(first.address == known)
    let second = try Self.choose(nil, usual, after: "nats://\(known)")
    #expect(second.address == usual)
    for claimed in [first, second] { claimed.claim.release() }
  }

  @Test("one suite has two ports, whichever of them was asked for")
  func same() throws {
    let wanted = try Self.free()
    let earlier = RunFile(
      http: "http://\(wanted)", nats: "nats://127.0.0.1:1", authority: nil, directory: "/", version: "0", process: 0)
    let addresses = try Addresses(http: nil, nats: wanted, after: earlier, names: [], random: Self.random)
    #expect(addresses.nats == wanted && addresses.http != wanted)
    addresses.release()
    let refusal = #expect(throws: CaravanError.self) {
      _ = try Addresses(http: wanted, nats: wanted, after: nil, names: [], random: Self.random)
    }
    #expect(refusal?.message.contains("same port") == true)
  }
}
