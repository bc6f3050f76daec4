import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

private actor Attached {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ executor: any SerialExecutor) { self.executor = executor }

  func thread() -> UInt { UInt(pthread_self()) }
}

private actor Bystander {
  func thread() -> UInt { UInt(pthread_self()) }
}

@Suite("The event loop", .timeLimit(.minutes(1)))
struct EventLoopTests {
  private let loop = EventLoop.main

  @Test("tasks, their children, other actors and actors made inline share the loop's thread")
  func oneThread() async {
    let loop = await loop.run { UInt(pthread_self()) }
    let threads = await withTaskExecutorPreference(EventLoop.main) {
      async let child = UInt(pthread_self())
      return [
        await child, await Attached(Host.live().executors.makeInline()).thread(), await Bystander().thread(),
        UInt(pthread_self()),
      ]
    }
    #expect(threads.allSatisfy { $0 == loop })
    #expect(await Attached(Host.live().executors.makeSerial("other")).thread() != loop)
  }

  @Test("what is put off to the end of a turn comes after the work that waits, also what that work makes")
  func endOfTurn() async {
    let order = Mutex<[String]>([])
    let done = Promise<Void>()
    loop.call { [loop] in
      loop.callAtEndOfTurn {
        order.withLock { $0.append("end") }
        done.fulfil(())
      }
      loop.call {
        order.withLock { $0.append("first") }
        loop.call { order.withLock { $0.append("made by the first") } }
      }
    }
    try? await done.wait()
    #expect(order.withLock { $0 } == ["first", "made by the first", "end"])
  }

  @Test("calls come in the order of their times; a sleeper wakes not before its time, a cancelled one at once")
  func timers() async throws {
    let order = Mutex<[Int]>([])
    let done = Promise<Void>()
    // Of one turn of the loop, so that no time to speak of passes between them.
    loop.call { [loop] in
      loop.call(after: .milliseconds(400)) {
        order.withLock { $0.append(400) }
        done.fulfil(())
      }
      loop.call(after: .milliseconds(10)) { order.withLock { $0.append(10) } }
    }
    let clock = Host.live().clock
    let start = clock.now
    try await clock.sleep(for: .milliseconds(50))
    #expect(clock.now - start >= .milliseconds(50))
    try await done.wait()
    #expect(order.withLock { $0 } == [10, 400])
    await withTaskGroup(of: Bool.self) { group in
      group.addTask { (try? await clock.sleep(for: .seconds(3_600))) == nil }
      group.cancelAll()
      #expect(await group.next() == true)
    }
  }

  @Test("a watched descriptor is heard while it is ready, and not after its watch was cancelled")
  func descriptors() async throws {
    var pair: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let (near, far) = (pair[0], pair[1])
    defer { for descriptor in [near, far] { close(descriptor) } }
    let heard = BoundedQueue<UInt8>(capacity: 8)
    let watch = try loop.watch(near, for: .reading) { readiness in
      var byte: UInt8 = 0
      if readiness.contains(.reading), read(near, &byte, 1) == 1 { heard.push(byte) }
    }
    for byte in [UInt8(1), 2] {
      #expect(write(far, [byte], 1) == 1)
      #expect(await heard.next() == byte)
    }
    watch.cancel()
    #expect(write(far, [3], 1) == 1)
    // A turn of the loop later it would have been heard.
    for _ in 0..<3 { await loop.run {} }
    #expect(heard.count == 0)
    #expect(throws: CaravanError.self, "no such descriptor") { try loop.watch(-1, for: .reading) { _ in } }
  }
}
