import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@Suite("Queues, promises, limiters", .timeLimit(.minutes(1)))
struct ConcurrencyTests {
  @Test("a queue hands out in order, refuses beyond its capacity, and ends after what waits")
  func queueBounds() async {
    let queue = BoundedQueue<Int>(capacity: 3)
    #expect((1...4).map { queue.push($0) } == [.accepted, .accepted, .accepted, .full])
    #expect(queue.count == 3)
    #expect(await queue.next() == 1)
    #expect(queue.push(5) == .accepted)
    queue.finish()
    #expect(queue.push(6) == .finished)
    #expect([await queue.next(), await queue.next(), await queue.next(), await queue.next()] == [2, 3, 5, nil])
  }

  @Test("a queue that wraps around keeps its order")
  func queueWraps() {
    let queue = BoundedQueue<Int>(capacity: 100)
    var expected = 0
    for value in 0..<10_000 {
      queue.push(value)
      if value % 7 > 1 || queue.count > 50 {
        #expect(queue.tryNext() == expected)
        expected += 1
      }
    }
    while let value = queue.tryNext() {
      #expect(value == expected)
      expected += 1
    }
    #expect(expected == 10_000)
  }

  @Test("cancelling a waiting consumer ends its wait and loses no element")
  func queueCancellation() async {
    for _ in 0..<2_000 {
      let queue = BoundedQueue<Int>(capacity: 4)
      let consumer = Task { await queue.next() }
      let canceller = Task { consumer.cancel() }
      queue.push(1)
      await canceller.value
      let got = await consumer.value
      #expect((got == 1) != (queue.tryNext() == 1))
    }
  }

  @Test("a consumer that was cancelled before it asks gets what waits, and else nil")
  func cancelledBefore() async {
    let queue = BoundedQueue<Int>(capacity: 4)
    queue.push(1)
    let consumer = Task {
      while !Task.isCancelled { await Task.yield() }
      return [await queue.next(), await queue.next()]
    }
    consumer.cancel()
    #expect(await consumer.value == [1, nil])
  }

  @Test("many producers and consumers: every element arrives once")
  func queueCrowd() async {
    let queue = BoundedQueue<Int>(capacity: 64)
    let sum = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var sum = 0
          while let value = await queue.next() { sum += value }
          return sum
        }
      }
      await withTaskGroup { producers in
        for start in 0..<4 {
          producers.addTask {
            for value in stride(from: start, to: 20_000, by: 4) {
              while queue.push(value) == .full { await Task.yield() }
            }
          }
        }
      }
      queue.finish()
      return await group.reduce(0, +)
    }
    #expect(sum == 20_000 * 19_999 / 2)
  }

  @Test("a signal raised many times wakes once; raised before the wait it is not lost")
  func signal() async {
    let signal = Signal()
    for _ in 0..<5 { signal.raise() }
    await signal.wait()
    let second = Task { await signal.wait() }
    signal.raise()
    await second.value
  }

  @Test("a wait for a signal ends when its time is up, and leaves later signals to the next wait")
  func patientSignal() async {
    let (signal, clock) = (Signal(), Host.live().clock)
    await signal.wait(atMost: .milliseconds(1), clock: clock)
    signal.raise()
    let start = clock.now
    await signal.wait(atMost: .seconds(60), clock: clock)
    #expect(clock.now - start < .seconds(30))
  }

  @Test("a promise gives all waiters its first value, and a cancelled one an error")
  func promise() async throws {
    let promise = Promise<Int>()
    let waiters = (0..<4).map { _ in Task { try await promise.wait() } }
    let cancelled = Task { try await promise.wait() }
    cancelled.cancel()
    await #expect(throws: CaravanError.self) { try await cancelled.value }
    #expect(promise.value == nil)
    #expect(promise.fulfil(7))
    #expect(!promise.fulfil(8))
    for waiter in waiters { #expect(try await waiter.value == 7) }
    #expect(try await promise.wait() == 7)
  }

  @Test("a limiter admits as many as it has permits, lets as many wait as it may, and refuses the rest")
  func limiter() async throws {
    let limiter = Limiter(permits: 2, waiters: 1)
    let running = Shared((now: 0, most: 0))
    let gate = Latch()
    let outcomes = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<10 {
        group.addTask {
          do throws(CaravanError) {
            return try await limiter.withPermit { () async throws(CaravanError) -> Bool in
              running.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
              await gate.wait()
              running.change { $0.now -= 1 }
              return true
            }
          } catch {
            #expect(error.code == .serverBusy)
            return false
          }
        }
      }
      var refused = 0
      while refused < 7, let outcome = await group.next() { refused += outcome ? 0 : 1 }
      gate.open()
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(outcomes == 3)
    #expect(running.value.most == 2)
    #expect(limiter.inUse == 0)
  }

  @Test("cancelling a task that waits for a permit loses no permit")
  func limiterCancellation() async {
    let limiter = Limiter(permits: 1, waiters: 8)
    for _ in 0..<1_000 {
      #expect(limiter.tryAcquire())
      let waiter = Task {
        do { try await limiter.acquire() } catch { return }
        limiter.release()
      }
      let canceller = Task { waiter.cancel() }
      limiter.release()
      await waiter.value
      await canceller.value
      #expect(limiter.inUse == 0)
    }
  }

  @Test("a deadline cancels what takes longer and leaves alone what does not")
  func deadline() async throws {
    let clock = ManualClock()
    #expect(try await clock.withDeadline(.seconds(5), "sum") { 1 + 1 } == 2)
    let late = Task {
      try await clock.withDeadline(.seconds(5), "waiting") { () async throws(CaravanError) -> Void in
        try await Promise<Void>().wait()
      }
    }
    await clock.untilSleepers(1)
    clock.advance(by: .seconds(5))
    let error = await #expect(throws: CaravanError.self) { try await late.value }
    #expect(error?.code == .timedOut)
    #expect(error?.message == "waiting took longer than 5000 ms")
  }
}
