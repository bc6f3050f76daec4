import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: no device and no user has all of what an endpoint takes. Method: one sends more than its share, another asks.
@Suite("Shares of senders", .timeLimit(.minutes(1)))
struct ShareTests {
  private static func exchange(_ user: String, _ device: String) -> Subject {
    .exchange(
      EnrolledDevice(
        user: UserID(unchecked: user), device: DeviceID(unchecked: device), enrolment: 1, environment: .development))
  }

  private static func incoming(_ subject: Subject, bytes: Int = 1) -> Incoming {
    Incoming(subject: subject, message: Message([UInt8](repeating: 0, count: bytes)), reply: nil)
  }

  @Test("TRU-02: in a queue one device has an eighth, its user half, and the suite's own have no share")
  func queue() async {
    let mailbox = Mailbox<Incoming>.forMessages(capacity: 16)
    func push(_ user: String, _ device: String) -> Bool {
      mailbox.push(Self.incoming(Self.exchange(user, device))) == .accepted
    }
    #expect([push("ann", "a"), push("ann", "a"), push("ann", "a")] == [true, true, false])
    #expect((0..<4).map { push("ann", "b\($0)") && push("ann", "b\($0)") } == [true, true, true, false])
    #expect(push("bob", "a"), "another user's device of one name is another")
    for _ in 0..<7 { #expect(mailbox.push(Self.incoming(.service(.schema, method: "types"))) == .accepted) }
    #expect(!push("cid", "c"), "the whole is bounded as ever")
    for _ in 0..<2 { _ = await mailbox.next() }
    _ = await mailbox.next()
    #expect(push("ann", "a"), "what was taken is given back")
  }

  @Test("TRU-02: of the bytes that wait, one device has an eighth; one message always fits")
  func bytes() async {
    let mailbox = Mailbox<Incoming>.forMessages(capacity: 1_024)
    let share = BusLimits.subscriptionBytes / BusLimits.devicesInWhole
    let (ann, bob) = (Self.exchange("ann", "a"), Self.exchange("bob", "b"))
    #expect(mailbox.push(Self.incoming(ann, bytes: share)) == .accepted)
    #expect(mailbox.push(Self.incoming(ann)) == .droppedFirst)
    #expect(mailbox.push(Self.incoming(bob, bytes: share + 1)) == .accepted)
    #expect(mailbox.push(Self.incoming(bob)) == .dropped)
    for _ in 0..<3 { _ = await mailbox.next() }
    #expect(mailbox.push(Self.incoming(ann, bytes: share)) == .accepted)
  }

  @Test("TRU-02: of requests in flight one device has an eighth: beyond it is busy, and others are answered")
  func inFlight() async throws {
    let host = Host.quiet
    let hub = InProcessHub(clock: host.clock, random: SeededRandom(seed: 1))
    let gate = Latch()
    let decoded = Mutex(0)
    let endpoint = Endpoint("exchange", .everyExchange, group: nil, maxInFlight: 16) { incoming in
      decoded.withLock { $0 += 1 }
      if incoming.subject.sender?.device.text == "flood" { await gate.wait() }
      return [1]
    }
    let service = ServiceHost(
      name: "sync", version: "1.0.0", bus: hub.connect(as: "sync"), host: host, endpoints: [endpoint])
    try await running([service]) {
      try await eventually("the endpoint is served") { service.isServing(.everyExchange) }
      let flood = hub.connect(as: "flood")
      await withTaskGroup(of: CaravanError?.self) { group in
        for _ in 0..<20 {
          group.addTask {
            await failure {
              try await flood.request(Message(), to: Self.exchange("eve", "flood"), deadline: .seconds(60))
            }
          }
        }
        for _ in 0..<18 {
          let refusal = await group.next() ?? nil
          #expect(refusal?.code == .serverBusy)
          #expect(refusal?.retryAfterMilliseconds == BusLimits.busyRetryMilliseconds)
        }
        let other = hub.connect(as: "phone")
        #expect(
          await failure {
            try await other.request(Message(), to: Self.exchange("ann", "phone"), deadline: .seconds(60))
          } == nil)
        #expect(decoded.withLock { $0 } == 3, "what is beyond the share comes to no decoder")
        gate.open()
        for await refusal in group { #expect(refusal == nil) }
      }
    }
  }
}
