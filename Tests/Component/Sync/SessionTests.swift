import CaravanBus
import CaravanCrypto
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanTokens
import CaravanWire
import Testing

/// A notifier that remembers who attached and acknowledged.
final class RecordingNotifier: Sendable {
  struct Heard: Sendable {
    var attached: [AttachRequest] = []
  }

  private let state = Mutex(Heard())
  var heard: Heard { state.withLock { $0 } }

  func service(on bus: any MessageBus, host: Host) -> ServiceHost {
    let attach = Endpoint("attach", .everyPartition(.notify, method: "attach"), group: nil, maxInFlight: 8) {
      [self] (request: AttachRequest, _) throws(CaravanError) in
      state.withLock { $0.attached.append(request) }
      return AttachReply()
    }
    return ServiceHost(name: "notify", version: "1.0.0", bus: bus, host: host, endpoints: [attach])
  }
}

/// Hello, subscriptions, acknowledgements, tickets: the device itself.
@Suite(.timeLimit(.minutes(2))) struct SessionTests {
  private static let zones = ["photos", "notes"]

  private func subscribe(_ generation: UInt64) -> CaravanWire.Operation.Kind {
    .subscribe(
      Subscribe(
        generation: generation,
        subscriptions: Self.zones.map {
          ZoneSubscription(container: "album", zone: $0, periodMilliseconds: 1_000, toldOnly: $0 == "notes")
        }))
  }

  private func hello(_ device: Device, _ generation: UInt64, _ tokens: [[UInt8]] = []) async throws -> HelloResult {
    let result = try await device.ask(.hello(Hello(software: "test", generation: generation, tokens: tokens)))
    guard case .hello(let hello) = result else { throw Unexpected(result: result) }
    return hello
  }

  @Test(
    "MOB-53: hello tells the notifier what the device holds, decoded from its tokens; a bad token counts as nothing")
  func seen() async throws {
    let notifier = RecordingNotifier()
    try await CloudCluster.with(notifier: notifier) { cloud in
      let a = try cloud.device("a")
      let type = try await a.agree([("name", .text)])
      let rows = (0..<7).map { CaravanModel.Mutation.save("r\($0)", [1: .text("x")], type: type) }
      _ = try await a.push(1, rows)
      #expect(try await a.ask(subscribe(4)) == .done(Empty()))
      let token = try await a.pull().token
      // The second is the first's: foreign to its zone.
      let answer = try await hello(a, 4, [token, token])
      #expect(!answer.resubscribe && answer.maxFrameBytes == UInt32(Limits.frameBytes))
      let now = cloud.host.clock.wallTime.milliseconds
      #expect(abs(now - Int64(answer.serverTimeMilliseconds)) < 60_000)

      let heard = notifier.heard.attached
      #expect(heard.map(\.generation) == [4, 4] && heard.allSatisfy { $0.device == "ann/a/1" })
      #expect(heard.map(\.seen) == [[], [7, 0]])
      #expect(try await a.ask(subscribe(4)) == .done(Empty()))
      #expect(notifier.heard.attached.count == 3, "the same list again is told again")
      _ = try await a.ask(subscribe(3))
      #expect(notifier.heard.attached.count == 3, "an older one is not")
      #expect(heard[1].list?.subscriptions.map { $0.zone?.zone } == Self.zones)
      #expect(heard[1].list?.subscriptions.map(\.toldOnly) == [false, true])
      #expect(heard[1].list?.subscriptions.allSatisfy { $0.zone?.database?.owner == "ann" } == true)
    }
  }

  @Test("E13: a generation that the cloud does not know is asked for again; a list lies in the store, not in a process")
  func resubscribe() async throws {
    try await CloudCluster.with(notifier: RecordingNotifier()) { cloud in
      let a = try cloud.device("a")
      #expect(try await !hello(a, 0).resubscribe, "a device without subscriptions")
      #expect(try await hello(a, 3).resubscribe, "a list the cloud never got")
      _ = try await a.ask(subscribe(3))
      #expect(try await !hello(a, 3).resubscribe)
      #expect(try await hello(a, 2).resubscribe, "another list than the cloud has")
      #expect(try await hello(a, 0).resubscribe, "a device that lost its store")
      _ = try await a.ask(subscribe(2))
      #expect(try await !hello(a, 3).resubscribe, "a list that came late changes nothing")
      let newLife = try cloud.device("a", epoch: 2)
      #expect(try await hello(newLife, 3).resubscribe, "the same number of another life is another list")
      _ = try await newLife.ask(subscribe(1))
      #expect(try await !hello(newLife, 1).resubscribe, "a device that lost its store knows best")
      #expect(try await hello(cloud.device("b"), 1).resubscribe, "another device's list is not its own")
    }
  }

  @Test("A notifier that is away fails nothing: neither hello nor subscribe nor the acknowledgement")
  func withoutNotifier() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      #expect(try await a.ask(subscribe(1)) == .done(Empty()))
      #expect(try await !hello(a, 1).resubscribe)
      #expect(try await a.ask(.ack(AckNotification(number: 1))) == .done(Empty()))
    }
  }

  @Test("Acknowledgements reach the notifier under the subject's names")
  func acknowledge() async throws {
    try await CloudCluster.with { cloud in
      let home = Partition(of: .system(try UserID("ann")))
      let notifier = cloud.hub.connect(as: "notify")
      let acks = try await notifier.subscribe(.everyAck(home), group: nil, capacity: 8)
      let a = try cloud.device("a")
      #expect(try await a.ask(.ack(AckNotification(number: 9))) == .done(Empty()))
      guard case .message(let heard)? = await acks.next() else { throw CaravanError(.internalError, "no message") }
      #expect(heard.subject == .acks(EnrolledDevice("ann", "a"), home))
      #expect(try AckNotification.decode(heard.message.payload) == AckNotification(number: 9))
      #expect(heard.reply == nil)
      notifier.close()
    }
  }

  @Test("More subscriptions than a device may have, and subscriptions to impossible zones, are refused")
  func badSubscriptions() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let many = (0...Limits.subscriptionsPerDevice).map { ZoneSubscription(container: "album", zone: "z\($0)") }
      #expect(try await a.refusal(.subscribe(Subscribe(generation: 1, subscriptions: many)))?.code == .limitExceeded)
      let bad = [ZoneSubscription(container: "album", zone: "")]
      #expect(try await a.refusal(.subscribe(Subscribe(generation: 1, subscriptions: bad)))?.code == .invalidData)
      #expect(
        try await a.ask(.subscribe(Subscribe(generation: 1, subscriptions: many.dropLast()))) == .done(Empty()))
    }
  }

  @Test("A ticket is for the subject's user and device, bounded in time and bytes")
  func ticket() async throws {
    try await CloudCluster.with { cloud in
      let a = try cloud.device("a")
      let result = try await a.ask(.ticket(RequestTicket(container: "album", upload: true, bytes: .max)))
      guard case .ticket(let ticket) = result else { throw Unexpected(result: result) }
      let now = cloud.host.clock.wallTime.milliseconds
      let grant = try TicketSeal(key: cloud.key).open(ticket, from: a.enrolled, nowMilliseconds: now)
      #expect(
        grant.database == DatabaseID(container: try ContainerID("album"), environment: .development, owner: a.user))
      #expect(grant.isUpload && grant.bytes == UInt64(Limits.chunksPerObject * Limits.chunkBytes))
      #expect((1...15 * 60_000).contains(grant.expiresMilliseconds - now))
    }
  }
}
