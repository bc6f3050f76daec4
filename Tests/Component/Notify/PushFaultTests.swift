import CaravanBus
import CaravanModel
import CaravanNotifyCore
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: whatever is away, busy or asked too much, what became of each notification is kept and told. Method: notify
/// with real storage and a push service that answers as it is told, in virtual time.
@Suite("Pushing the log through faults", .timeLimit(.minutes(2))) struct PushFaultTests {
  private let fixture: PushFixture
  private var cluster: Cluster { fixture.cluster }
  private var push: ScriptedPush { fixture.push }

  init() throws {
    fixture = try PushFixture()
    try cluster.waitUntilOwned(cluster.startNotify())
  }

  private static let taken = DeliverReply(outcome: .taken, status: 200)

  @Test("CK-85: what was taken before the push service was busy does not come again, and others do not wait for it")
  func busy() throws {
    let busy = Mutex(3)
    push.answer { request throws(CaravanError) in
      let isBusy =
        request.number == 5
        && busy.withLock { left in
          left -= 1
          return left >= 0
        }
      guard isBusy else { return Self.taken }
      throw CaravanError(.serverBusy, "all lanes are taken", retryAfterMilliseconds: 500)
    }
    try fixture.log(1...8)
    try fixture.save()
    try fixture.until { [push] in push.numbers.last == 8 }
    #expect(push.numbers == [1, 2, 3, 4, 5, 5, 5, 5, 6, 7, 8])
    #expect(try fixture.state()?.delivered == 8)
  }

  @Test("CK-85: the push service's own fault gives up nothing", arguments: [ErrorCode.internalError, .accessDenied])
  func brokenService(code: ErrorCode) throws {
    let left = Mutex(4)
    push.answer { _ throws(CaravanError) in
      let isBroken = left.withLock { left in
        left -= 1
        return left >= 0
      }
      guard !isBroken else { throw CaravanError(code, "something is wrong here") }
      return Self.taken
    }
    try fixture.save()
    try fixture.log(1...2)
    try fixture.until { [push] in push.numbers == [1, 1, 1, 1, 1, 2] }
    #expect(try fixture.state()?.delivered == 2 && fixture.state()?.givenUp == 0)
  }

  @Test(
    "CK-85: what is given up is told, also where storage is away just then",
    arguments: [DeliveryOutcome.refused, .gone])
  func storageAway(outcome: DeliveryOutcome) throws {
    push.answer { [cluster] _ in
      cluster.faults.set { $0.lost = { $0.subject.hasPrefix("svc.storage.") && $0.subject.hasSuffix(".commit") } }
      return DeliverReply(outcome: outcome, status: outcome == .gone ? 410 : 413, problem: "no")
    }
    try fixture.save()
    try fixture.log(1...1)
    try cluster.simulation.run(for: .seconds(300))
    #expect(try fixture.state() == nil)
    cluster.faults.set { $0.lost = { _ in false } }
    push.answer { _ in Self.taken }
    try cluster.simulation.run(for: .seconds(120))
    let state = try #require(try fixture.state())
    #expect(state.ended == (outcome == .gone) && state.givenUp == (outcome == .gone ? 0 : 1))
    #expect(push.numbers == [1], "nothing comes again")
  }

  @Test("CK-85: whoever acted for a partition before overwrites nothing of what its successor has told")
  func successor() throws {
    try fixture.save()
    try fixture.log(1...2)
    try fixture.until { [push] in push.numbers == [1, 2] }
    let other = PushState(
      delivered: 2, givenUp: 7, last: [GivenUp(source: 1, number: 2, status: 413, problem: "no", atMilliseconds: 1)])
    try fixture.overwriteState(other)
    try fixture.log(3...3)
    try fixture.until { [push] in push.numbers.contains(3) }
    try cluster.simulation.run(for: .seconds(10))
    let state = try #require(try fixture.state())
    #expect(state.givenUp == 7 && state.last.count == 1 && state.delivered >= 3)
  }

  @Test("CK-85: a server gets no more calls in a minute than it said it takes", arguments: [1, 6, 60, 300] as [UInt32])
  func pace(perMinute: UInt32) throws {
    let count = Mutex(0)
    push.answer { _ in
      // Some are tried again, which is a call as well.
      let number = count.withLock { count in
        count += 1
        return count
      }
      return number % 3 == 0 ? DeliverReply(outcome: .later, status: 503, problem: "later") : Self.taken
    }
    try fixture.save { $0.perMinute = perMinute }
    try fixture.log(1...40)
    try cluster.simulation.run(for: .seconds(600))
    let times = push.times
    let most = times.map { first in times.count { $0 >= first && $0 < first + .seconds(60) } }.max() ?? 0
    #expect(most <= perMinute, "\(most) calls in a minute")
    #expect(Set(push.numbers).count >= min(40, 5 * Int(perMinute)), "\(push.numbers)")
  }

  @Test("CK-85: what a target does not want takes none of its server's calls")
  func unwanted() throws {
    try fixture.save {
      $0.target?.subscriptions = ["mine"]
      $0.perMinute = 1
    }
    try fixture.log(1...19, subscription: "other")
    try cluster.simulation.run(for: .seconds(5))
    try fixture.log(20...20)
    try fixture.until(60) { [push] in push.numbers == [20] }
  }

  @Test("CK-85: what the log had no more room for before a target took it is counted as given up")
  func overwritten() throws {
    push.answer { _ in DeliverReply(outcome: .later, status: 503, problem: "the server answered with status 503") }
    try fixture.save()
    try fixture.log(1...4, kept: 10)
    try cluster.simulation.run(for: .seconds(30))
    #expect(Set(push.numbers) == [1])
    try fixture.log(5...25, kept: 10)
    push.answer { _ in Self.taken }
    try fixture.until(300) { [push] in push.numbers.last == 25 }
    #expect(Array(push.numbers.suffix(10)) == Array(16...25))
    let state = try #require(try fixture.state())
    #expect(state.delivered == 10 && state.givenUp == 15, "\(state)")
    #expect(state.last.map(\.number) == [15] && state.last.first?.problem.hasPrefix("15 up to this one") == true)
  }

  @Test("CK-85: targets that hang do not keep a core busy while others wait for their places")
  func waiting() throws {
    push.isMute = true
    for id in ["a", "b", "c", "d", "e"] { try fixture.save(id) }
    try fixture.log(1...1)
    try cluster.simulation.run(for: .seconds(1))
    let before = cluster.simulation.steps
    try cluster.simulation.run(for: .seconds(10))
    #expect(cluster.simulation.steps - before < 5_000, "\(cluster.simulation.steps - before) steps in 10 s")
  }

  @Test("CK-85: whoever takes everything in anew misses no notification, and pushes nothing to what was removed")
  func rebuilt() throws {
    let fixture = try PushFixture()
    let (cluster, push) = (fixture.cluster, fixture.push)
    let buses = Mutex<[TrimmingBus]>([])
    try cluster.waitUntilOwned(
      cluster.startNotify(through: { bus in
        let wrapped = TrimmingBus(bus)
        buses.withLock { $0.append(wrapped) }
        return wrapped
      }))
    for id in ["hook", "removed"] { try fixture.save(id) }
    try fixture.log(1...1)
    try fixture.until { push.numbers == [1, 1] }
    cluster.faults.set { $0.lost = { $0.subject.hasPrefix("changes.") } }
    try fixture.remove("removed")
    try fixture.log(2...2)
    for bus in buses.withLock({ $0 }) { bus.trimNext() }
    try fixture.until(600) { push.numbers.count > 2 }
    try cluster.simulation.run(for: .seconds(60))
    #expect(push.numbers == [1, 1, 2] && push.requests.last?.target?.target?.id == "hook")
    #expect(buses.withLock { $0.allSatisfy(\.hasTrimmed) })
  }
}
