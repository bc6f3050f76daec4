import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: whichever message on the bus is lost, comes twice or comes after everybody gave it up, a device that asks
/// again has the answer it would have had, and the store holds the same (I1, I7, R4). Method: message n of an
/// operation, on any of its ways between device, sync, schema and storage, for all n.
@Suite(.timeLimit(.minutes(5))) struct MessageFaultTests {
  /// Longer than any message is late.
  private static let afterwards: Duration = .seconds(60)

  @Test("I1, I7, UNI-07: message n of an operation goes wrong, for all n", arguments: OnePassage.Fate.allCases)
  func everyMessage(fate: OnePassage.Fate) throws {
    try SimulatedCloud.run(seed: 4) { cloud in
      var faults = 0
      for (number, operation) in CloudOperation.all.enumerated() {
        faults += try await Self.enumerate(operation, "\(number)", fate, cloud)
      }
      #expect(faults >= 3 * CloudOperation.all.count, "messages went wrong: \(faults)")
    }
  }

  /// - Returns: messages that went wrong.
  private static func enumerate(
    _ operation: CloudOperation, _ id: String, _ fate: OnePassage.Fate, _ cloud: SimulatedCloud
  ) async throws -> Int {
    let ideal = try cloud.place("ideal-\(id)")
    for operation in operation.before(ideal) { _ = try await ideal.insist(operation) }
    let answer = try await ideal.insist(operation.operation(ideal)).text
    let state = try await ideal.state()
    for message in 0..<100 {
      let place = try cloud.place("m\(message)-\(id)")
      for operation in operation.before(place) { _ = try await place.insist(operation) }
      cloud.fault.arm(message, fate)
      let found = try await place.insist(operation.operation(place)).text
      guard let what = cloud.fault.disarm() else { return message }
      #expect(found == answer, "\(operation): \(what)")
      try await cloud.host.clock.sleep(for: afterwards)
      let held = try await place.state()
      #expect(held == state, "\(operation): \(what)")
    }
    Issue.record("\(operation) has no end")
    return 0
  }

  @Test("I1, I7, UNI-07: a push whose message n goes wrong is settled: it happened, or never will")
  func settlements() throws {
    try SimulatedCloud.run(seed: 5) { cloud in
      var endings: Set<Bool> = []
      for fate in [OnePassage.Fate.lost, .late] {
        for message in 0..<20 {
          let place = try cloud.place("\(fate)-\(message)")
          _ = try await place.insist(place.propose())
          let before = try await place.state()
          cloud.fault.arm(message, fate)
          let push = try? await place.device.ask(place.push(1, [place.save("a", "x")]))
          guard let what = cloud.fault.disarm() else { break }
          let settle = CaravanWire.Operation.Kind.settle(Settle(container: place.container.text, zone: "t", op: 1))
          guard case .commit(let reply) = try await place.insist(settle) else {
            throw Missing("answer to the settlement")
          }
          try await cloud.host.clock.sleep(for: Self.afterwards)
          let state = try await place.state()
          #expect((state == before) == reply.aborted, "\(what)")
          if case .commit? = push { #expect(!reply.aborted, "\(what)") }
          endings.insert(reply.aborted)
        }
      }
      #expect(endings == [true, false], "some happened, some never will")
    }
  }
}
