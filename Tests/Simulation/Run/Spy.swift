internal import CaravanBus
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanTestKit

/// A device with a program of its own: it listens wherever others hear something, from the beginning to the end, and
/// speaks as whoever it is not. The broker is to refuse all of that.
struct Spy: Sendable {
  private static let name = Gatehouse.trying + "spy"
  private static let capacity = 4

  private let suite: Suite
  private let bus: InProcessBus
  private let patterns: [SubjectPattern]
  private var ears: [any BusSubscription] = []

  init(_ suite: Suite) {
    self.suite = suite
    bus = suite.ground.connect(Self.name, as: .device(EnrolledDevice(suite.scale.users[0], Self.name)))
    patterns =
      [
        .everyExchange, .everyChunks(nil), .everyAck(nil), .everyRenewal, .everyChange, .everyExtension,
        .everyPartition(.storage, method: "commit"),
      ] + suite.devices.map { .exact(.notify($0.identity)) }
  }

  mutating func listen() async throws {
    for pattern in patterns {
      ears.append(try await bus.subscribe(pattern, group: nil, capacity: Self.capacity))
    }
  }

  /// Once all is quiet.
  func conclude() async throws {
    defer { bus.close() }
    var actions = patterns.map { (BrokerRefusal.Action.subscribe, $0.text) }
    for (pattern, ear) in zip(patterns, ears) {
      ear.cancel()
      while let delivery = await ear.next() {
        guard case .message(let incoming) = delivery else { continue }
        suite.ground.recorder.intruded("\(Self.name) hears at \(pattern.text) what goes to \(incoming.subject.text)")
      }
    }
    for subject in foreign {
      try await bus.publish(Message(), to: subject)
      actions.append((.publish, subject.text))
    }
    for (action, subject) in actions
    where !suite.ground.gatehouse.hasRefused(BrokerRefusal(peer: Self.name, action: action, subject: subject)) {
      suite.ground.recorder.intruded("\(Self.name) is refused no \(action.rawValue) to \(subject)")
    }
  }

  private var foreign: [Subject] {
    let (victim, partition) = (suite.devices[0].identity, Suite.partitions(suite.scale)[0])
    return [
      .exchange(victim), .chunks(victim, partition), .acks(victim, partition), .renew(victim), .notify(victim),
      .partitioned(.storage, partition, method: "commit"), .service(.schema, method: "propose"), .changes(partition),
      .claimsUpdate,
    ]
  }
}
