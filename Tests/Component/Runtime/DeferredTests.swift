import CaravanRuntime
import Dispatch
import Glibc
import Testing

/// Goal: work beside the caller is done once, in order, and waited for. Method: real threads.
@Suite("Helpers", .timeLimit(.minutes(1)))
struct DeferredTests {
  private static var thread: UInt { UInt(pthread_self()) }

  @Test("a helper works on a thread of its own, first in, first out")
  func order() {
    let helper = Host.live().executors.makeHelper("helper")
    let order = Mutex<[Int]>([])
    for number in 0..<1_000 { helper.run { order.withLock { $0.append(number) } } }
    let thread = Deferred(by: helper) { Self.thread }.waitWithoutHelping()
    #expect(order.withLock { $0 } == Array(0..<1_000))
    #expect(thread != Self.thread || sysconf(Int32(_SC_NPROCESSORS_ONLN)) == 1)
  }

  @Test(
    "what the helper has not begun, whoever wants it does; nothing is done twice",
    .enabled("there is nobody to help on one processor") { sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 })
  func lendingAHand() {
    let helper = Host.live().executors.makeHelper("helper")
    let runs = Mutex(0)
    let hold = DispatchSemaphore(value: 0)
    let held = Deferred(by: helper) { hold.wait() }
    let wanted = (0..<20).map { number in
      Deferred(by: helper) {
        runs.withLock { $0 += 1 }
        return number
      }
    }
    #expect(wanted.filter(\.isReady).isEmpty)
    #expect(wanted[7].wait() == 7)
    for deferred in wanted.reversed() { deferred.doUnlessBegun() }
    #expect(wanted.filter(\.isReady).count == 20)
    hold.signal()
    held.wait()
    let values = wanted.map { $0.wait() }
    #expect(values == Array(0..<20))
    #expect(runs.withLock { $0 } == 20)
  }

  @Test("without a helper the work is done where it is asked for")
  func noHelper() {
    let deferred = Deferred(by: NoHelper()) { Self.thread }
    #expect(deferred.isReady)
    #expect(deferred.wait() == Self.thread)
  }
}

extension Deferred {
  /// Leaves the work to the helper.
  fileprivate func waitWithoutHelping() -> Value {
    while !isReady { usleep(100) }
    return wait()
  }
}
