import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: the engine's decisions that are values. Method: events by hand, times written out.
@Suite struct ControlMessagesTests {
  private let beat = EngineLimits.heartbeatMilliseconds * 1_000_000

  @Test("The first word after connecting is a hello; the list goes only when the cloud asks for it")
  func hello() {
    var messages = ControlMessages(generation: 3)
    #expect(messages.take(at: 0) == nil)
    messages.connected(at: 10)
    let batch = messages.take(at: 10)
    #expect(batch?.hello == true && batch?.subscribe == false)
    #expect(messages.take(at: 10) == nil)
    messages.helloAnswered(generation: 3, resubscribe: true, at: 20)
    #expect(messages.take(at: 20)?.subscribe == true)
    messages.subscribed(generation: 3)
    #expect(messages.take(at: 20) == nil)
    #expect(messages.nextWake == 20 + beat)
  }

  @Test("A list that changed while the cloud was hearing the old one goes afterwards")
  func listChanges() {
    var messages = ControlMessages(generation: 1)
    messages.connected(at: 0)
    #expect(messages.take(at: 0)?.hello == true)
    messages.listChanged(to: 2, by: 0)
    #expect(messages.take(at: 0) == nil)
    messages.helloAnswered(generation: 1, resubscribe: false, at: 0)
    #expect(messages.take(at: 0)?.subscribe == true)
    messages.listChanged(to: 3, by: 0)
    messages.subscribed(generation: 2)
    #expect(messages.take(at: 0)?.subscribe == true)
  }

  @Test("UNI-22: a list waits as long as its tables tolerate, a sign of life rides along when half its time has passed")
  func riding() {
    var messages = ControlMessages(generation: 1)
    messages.connected(at: 0)
    _ = messages.take(at: 0)
    messages.helloAnswered(generation: 1, resubscribe: false, at: 0)
    messages.listChanged(to: 2, by: 60)
    #expect(messages.take(at: 59) == nil)
    #expect(messages.nextWake == 60)
    #expect(messages.take(at: 59, isUnderway: true)?.subscribe == true)
    messages.subscribed(generation: 2)
    #expect(messages.take(at: beat / 2 - 1, isUnderway: true) == nil)
    #expect(messages.take(at: beat / 2) == nil)
    #expect(messages.take(at: beat / 2, isUnderway: true)?.hello == true)
  }

  @Test("MOB-43: an acknowledgement that was not heard goes again; a repeated notification is known as such")
  func acks() throws {
    var messages = ControlMessages(generation: 1)
    messages.connected(at: 0)
    _ = messages.take(at: 0)
    messages.helloAnswered(generation: 1, resubscribe: false, at: 0)
    #expect(messages.notified(7) == false)
    let taken = messages.take(at: 1)
    let batch = try #require(taken)
    #expect(batch.acks == [7])
    #expect(messages.take(at: 1) == nil)
    messages.failed(batch, at: 1, random: 0, retryAfterMilliseconds: nil)
    #expect(messages.take(at: 1) == nil)
    let retry = messages.nextWake ?? 0
    #expect(retry == 1 + EngineLimits.firstRetryMilliseconds * 1_000_000 / 2)
    #expect(messages.take(at: retry)?.acks == [7])
    #expect(messages.notified(7) == true)
    #expect(messages.take(at: retry)?.acks == [7])
  }

  @Test("E13: a notification for another list makes the device send its own again")
  func mistaken() {
    var messages = ControlMessages(generation: 5)
    messages.connected(at: 0)
    _ = messages.take(at: 0)
    messages.helloAnswered(generation: 5, resubscribe: false, at: 0)
    messages.listMistaken()
    #expect(messages.take(at: 0)?.subscribe == true)
  }

  @Test("A device that says nothing else says hello every heartbeat, and nothing while it is not connected")
  func heartbeat() {
    var messages = ControlMessages(generation: 0)
    messages.connected(at: 0)
    _ = messages.take(at: 0)
    messages.helloAnswered(generation: 0, resubscribe: false, at: 0)
    #expect(messages.take(at: beat - 1) == nil)
    #expect(messages.take(at: beat)?.hello == true)
    messages.disconnected()
    messages.helloAnswered(generation: 0, resubscribe: false, at: beat)
    #expect(messages.nextWake == nil)
    #expect(messages.take(at: 10 * beat) == nil)
  }
}

@Suite struct SubscriptionListTests {
  private func list(_ count: Int, generation: UInt64 = 4) -> SubscriptionList {
    SubscriptionList(
      generation: generation,
      items: (0..<count).map {
        SubscriptionList.Item(table: TableID(app: ContainerID(unchecked: "app"), name: "t\($0)"), periodMilliseconds: 0)
      })
  }

  @Test("MOB-41: bit i, least significant first, is subscription i")
  func bits() {
    #expect(list(10).tables(in: [0b101, 0b10], generation: 4)?.map(\.name) == ["t0", "t2", "t9"])
    #expect(list(10).tables(in: [], generation: 4) == [])
    #expect(list(8).tables(in: [0x80], generation: 4)?.map(\.name) == ["t7"])
  }

  @Test("E13: another generation, or a bit beyond the list, means another list")
  func other() {
    #expect(list(10).tables(in: [1], generation: 3) == nil)
    #expect(list(9).tables(in: [0, 0b10], generation: 4) == nil)
    #expect(list(0).tables(in: [1], generation: 4) == nil)
  }
}

@Suite struct FramePackingTests {
  private typealias Load = FramePacking.Load

  @Test("What fits travels together, in its order; what is too large travels alone")
  func packing() {
    #expect(FramePacking.frames([]) == [])
    let third = EngineLimits.frameBytes / 3
    #expect(FramePacking.frames([Load](repeating: Load(bytes: third), count: 4)) == [0..<3, 3..<4])
    let huge = Load(bytes: EngineLimits.frameBytes + 1)
    #expect(FramePacking.frames([Load(bytes: 1), huge, Load(bytes: 1)]) == [0..<1, 1..<2, 2..<3])
  }

  @Test("A frame holds so many operations, and so many pulls, and no more")
  func counts() {
    let small = [Load](repeating: Load(bytes: 1), count: Limits.operationsPerFrame + 1)
    #expect(FramePacking.frames(small).map(\.count) == [Limits.operationsPerFrame, 1])
    let pulls = [Load](repeating: Load(bytes: 1, isPull: true), count: EngineLimits.pullsPerFrame + 1)
    #expect(FramePacking.frames(pulls).map(\.count) == [EngineLimits.pullsPerFrame, 1])
  }
}

@Suite struct BackoffTests {
  @Test("Waits double up to the limit, half of each by chance; a success begins again")
  func doubles() {
    var backoff = Backoff()
    let first = EngineLimits.firstRetryMilliseconds * 1_000_000
    #expect(backoff.failed(random: 0) == first / 2)
    #expect(backoff.failed(random: first - 1) == 2 * first - 1)
    for _ in 0..<100 { _ = backoff.failed(random: 0) }
    #expect(backoff.failed(random: 0) == EngineLimits.longestRetryMilliseconds * 1_000_000 / 2)
    backoff.succeeded()
    #expect(backoff.failed(random: 0) == first / 2)
  }

  @Test("What the cloud asks for is waited at least")
  func retryAfter() {
    var backoff = Backoff()
    #expect(backoff.failed(random: 0, retryAfterMilliseconds: 5_000) == 5_000_000_000)
  }
}

@Suite struct TicketsTests {
  private let scope = Tickets<String>.Scope(app: ContainerID(unchecked: "app"), isUpload: true)

  @Test("A ticket serves until its bytes are used, its time is nearly over, or the cloud refuses it")
  func serves() {
    var tickets = Tickets<String>()
    #expect(tickets.take(1, for: scope, cloudMilliseconds: 0) == nil)
    tickets.add("a", for: scope, bytes: 10, expires: 100_000)
    #expect(tickets.take(6, for: scope, cloudMilliseconds: 0) == "a")
    #expect(tickets.take(6, for: scope, cloudMilliseconds: 0) == nil)
    #expect(tickets.take(4, for: scope, cloudMilliseconds: 0) == "a")
    tickets.add("b", for: scope, bytes: 10, expires: 100_000)
    #expect(tickets.take(1, for: scope, cloudMilliseconds: 100_000 - EngineLimits.ticketMarginMilliseconds) == nil)
    #expect(tickets.take(1, for: scope, cloudMilliseconds: 0) == "b")
    tickets.drop(scope)
    #expect(tickets.take(1, for: scope, cloudMilliseconds: 0) == nil)
  }
}

@Suite struct SessionTableTests {
  @Test("UNI-12, REC-22: one session a table and direction; what becomes due meanwhile is due again when it ends")
  func oneAtATime() {
    let key = Coalescer.Key(TableID(app: ContainerID(unchecked: "app"), name: "t"), .write)
    let other = Coalescer.Key(key.table, .read)
    var sessions = SessionTable()
    let begins = [sessions.begin(key), sessions.begin(other), sessions.begin(key)]
    #expect(begins == [true, true, false])
    let ends = [sessions.end(key), sessions.end(other)]
    #expect(ends == [true, false])
    let next = [sessions.begin(key), sessions.end(key)]
    #expect(next == [true, false])
  }
}
