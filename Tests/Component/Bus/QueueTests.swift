import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

/// The queues under both buses.
@Suite("Bus queues", .timeLimit(.minutes(1)))
struct QueueTests {
  private func drain(_ mailbox: Mailbox<Int>) async -> [String] {
    mailbox.finish()
    var seen: [String] = []
    while let item = await mailbox.next() {
      switch item {
      case .element(let element): seen.append("\(element)")
      case .dropped(let count): seen.append("-\(count)")
      }
    }
    return seen
  }

  @Test("First in, first out, over many rounds of the ring")
  func order() async {
    let mailbox = Mailbox<Int>(capacity: 300)
    var expected = 0
    var next = 0
    for round in 0..<200 {
      for _ in 0..<(round % 13) {
        mailbox.push(next)
        next += 1
      }
      for _ in 0..<min(round % 11, next - expected) {
        guard case .element(let element)? = await mailbox.next() else { break }
        #expect(element == expected)
        expected += 1
      }
    }
    #expect(await drain(mailbox) == (expected..<next).map { "\($0)" })
  }

  @Test("Beyond the capacity the newest go, or the oldest, and the gap is told first")
  func overflow() async {
    let newest = Mailbox<Int>(capacity: 3)
    var results = (0..<6).map { newest.push($0) }
    #expect(results == [.accepted, .accepted, .accepted, .droppedFirst, .dropped, .dropped])
    #expect(await drain(newest) == ["-3", "0", "1", "2"])
    let oldest = Mailbox<Int>(capacity: 3, overflow: .dropOldest)
    results = (0..<5).map { oldest.push($0) }
    #expect(results == [.accepted, .accepted, .accepted, .droppedFirst, .dropped])
    #expect(await drain(oldest) == ["-2", "2", "3", "4"])
    #expect(oldest.push(9) == .finished)
  }

  @Test("Beyond the weight too, but one element always fits")
  func weight() async {
    let mailbox = Mailbox<Int>(capacity: 100, heaviest: 10) { $0 }
    #expect(mailbox.push(50) == .accepted)
    #expect(mailbox.push(1) == .droppedFirst)
    #expect(await drain(mailbox) == ["-1", "50"])
    let other = Mailbox<Int>(capacity: 100, heaviest: 10) { $0 }
    #expect([4, 6, 1].map { other.push($0) } == [.accepted, .accepted, .droppedFirst])
    _ = await other.next()
    _ = await other.next()
    #expect(other.push(4) == .accepted)
    #expect(other.push(1) == .droppedFirst)
    #expect(await drain(other) == ["-1", "6", "4"])
  }

  @Test("The table of waiting requests is bounded, and full again only when as many wait")
  func replyTableBound() async throws {
    let clock = ManualClock()
    let table = ReplyTable(capacity: 2)
    let sent = BoundedQueue<Void>(capacity: 8)
    let ask: @Sendable () async -> CaravanError? = {
      await failure {
        try await table.request(deadline: .seconds(1), clock: clock) { _ throws(CaravanError) in sent.push(()) }
      }
    }
    await withTaskGroup(of: CaravanError?.self) { group in
      for _ in 0..<2 {
        group.addTask(operation: ask)
        await sent.next()
      }
      #expect(await ask()?.code == .unavailable)
      clock.advance(by: .seconds(1))
      for _ in 0..<2 { #expect(await group.next()??.code == .timedOut) }
      group.addTask(operation: ask)
      await sent.next()
      table.failAll(.connectionLost)
      #expect(await group.next() == .some(.connectionLost))
    }
  }

  @Test("Requests end when their time is over, each at its own, with one call of the clock for all that are later")
  func replyTableExpiry() async throws {
    let clock = ManualClock()
    let table = ReplyTable()
    let sent = BoundedQueue<Void>(capacity: 8)
    await withTaskGroup(of: Int.self) { group in
      for seconds in [5, 1, 3] {
        group.addTask {
          let error = await failure {
            try await table.request(deadline: .seconds(seconds), clock: clock) { _ throws(CaravanError) in
              sent.push(())
            }
          }
          return error?.code == .timedOut ? seconds : 0
        }
        await sent.next()
      }
      #expect(clock.sleepers == 2, "the third has nothing to add to the second's")
      clock.advance(by: .milliseconds(999))
      #expect(clock.sleepers == 2)
      for (wait, ended) in [(1, 1), (2_000, 3), (2_000, 5)] {
        clock.advance(by: .milliseconds(wait))
        #expect(await group.next() == ended)
      }
      #expect(clock.sleepers == 0)
    }
  }

  @Test("An answer that comes before its caller waits is kept, a second one dropped")
  func earlyAnswer() async throws {
    let table = ReplyTable()
    let answer = try await table.request(deadline: .seconds(60), clock: Host.quiet.clock) { id throws(CaravanError) in
      table.resolve(id, .success(Message([1])))
      table.resolve(id, .success(Message([2])))
    }
    #expect(answer.payload == [1])
  }

  @Test("Who waits until nobody waits hears of an answer that came before its caller")
  func idleAfterEarlyAnswer() async throws {
    let (table, clock) = (ReplyTable(), Host.quiet.clock)
    let patience = clock.now + .seconds(30)
    let isAbout = Mutex(false)
    async let idle: Void = {
      while table.isIdle { await Task.yield() }
      isAbout.withLock { $0 = true }
      await table.waitUntilIdle(before: patience, clock: clock)
    }()
    _ = try await table.request(deadline: .seconds(60), clock: clock) { id throws(CaravanError) in
      table.resolve(id, .success(Message([1])))
      while !isAbout.withLock({ $0 }) { sched_yield() }
      // Time to get from there into the wait; were it too short, the test would see nothing, but not fail.
      usleep(20_000)
    }
    await idle
    #expect(clock.now < patience)
  }
}
