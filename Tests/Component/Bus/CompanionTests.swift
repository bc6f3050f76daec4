import CaravanBus
import CaravanEncoding
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: instances that answer from different stores never serve side by side.
@Suite("Companions", .timeLimit(.minutes(2)))
struct CompanionTests {
  private static func service(_ bus: any MessageBus, sharing shared: String?) -> ServiceHost {
    let companions = Companions(sharing: shared, advice: "stop one")
    return ServiceHost(
      name: "storage", version: "1.0.0", bus: bus, host: .quiet, companions: companions,
      endpoints: [ServiceHostTests.echo()])
  }

  /// What becomes of one that starts while another serves; nil: it serves.
  private static func refusal(
    _ kind: BusKind, beside first: String?, sharing shared: String?
  ) async throws -> CaravanError? {
    try await withCluster(kind) { cluster in
      let there = service(try await cluster.connect("a"), sharing: first)
      let comes = service(try await cluster.connect("b"), sharing: shared)
      return try await running([there]) {
        try await eventually("the first serves") { there.isServing(.exact(.echo)) }
        let end = Latch()
        async let outcome = ended(comes, end)
        try await eventually("the second serves or has ended") { comes.isServing(.exact(.echo)) || end.isOpen }
        comes.shutDown()
        return await outcome
      }
    }
  }

  private static func ended(_ service: ServiceHost, _ end: Latch) async -> CaravanError? {
    defer { end.open() }
    return await failure { try await service.run() }
  }

  @Test("one that shares nothing, or another thing, refuses to start and names the other", arguments: BusKind.allCases)
  func strangers(kind: BusKind) async throws {
    for (first, shared) in [(nil, nil), ("x", nil), (nil, "x"), ("x", "y")] as [(String?, String?)] {
      let refusal = try await Self.refusal(kind, beside: first, sharing: shared)
      #expect(refusal?.code == .unavailable, "\(first ?? "-") \(shared ?? "-")")
      let (message, process) = (refusal?.message ?? "", Host.quiet.process)
      #expect(message.contains("another storage serves") && message.hasSuffix("stop one"), "\(message)")
      #expect(message.contains("process \(process.identifier) on host \(process.hostName)"), "\(message)")
    }
  }

  @Test("those that share one thing serve side by side", arguments: BusKind.allCases)
  func companions(kind: BusKind) async throws {
    #expect(try await Self.refusal(kind, beside: "x", sharing: "x") == nil)
  }

  @Test("one that is gone without a word hinders nobody", arguments: BusKind.allCases)
  func restart(kind: BusKind) async throws {
    try await withCluster(kind) { cluster in
      for name in ["a", "b"] {
        let service = Self.service(try await cluster.connect(name), sharing: nil)
        try await running([service]) { try await eventually("it serves") { service.isServing(.exact(.echo)) } }
      }
    }
  }
}
