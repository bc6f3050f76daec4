import CaravanBus
import CaravanModel
import CaravanNotifyCore
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: each notification of the log is pushed to each target, in order, at least once under one id, or visibly given
/// up. Method: notify with real storage and a push service that answers as it is told, in virtual time.
@Suite("Pushing the log", .timeLimit(.minutes(2))) struct PushTests {
  private let fixture: PushFixture
  private var cluster: Cluster { fixture.cluster }
  private var push: ScriptedPush { fixture.push }

  init() throws { fixture = try PushFixture() }

  @Test("CK-85: what the log gets is pushed in its order, once, wherever the target was saved before or after")
  func inOrder() throws {
    try cluster.waitUntilOwned(cluster.startNotify())
    try fixture.log(1...3)
    try fixture.save()
    try fixture.until { [push] in push.numbers == [1, 2, 3] }
    try fixture.log(4...30)
    try fixture.until { [push] in push.numbers == Array(1...30) }
    try cluster.simulation.run(for: .seconds(60))
    #expect(push.numbers == Array(1...30), "nothing comes again")
    #expect(try fixture.state()?.delivered == 30)
    let first = try #require(push.requests.first)
    #expect(first.container == "album" && first.environment == "development" && first.target?.target?.id == "hook")
    #expect(Set(push.requests.map(\.id)).count == 30 && first.seconds > 86_400 && !first.isRetry)
  }

  @Test("CK-85: a target that is away is tried ever more seldom, under the same id, and then has all in order")
  func away() throws {
    try cluster.waitUntilOwned(cluster.startNotify())
    try fixture.save()
    push.answer { _ in DeliverReply(outcome: .later, status: 503, problem: "the server answered with status 503") }
    try fixture.log(1...3)
    try cluster.simulation.run(for: .seconds(100))
    #expect(Set(push.numbers) == [1] && Set(push.requests.map(\.id)).count == 1)
    #expect((5...8).contains(push.numbers.count), "\(push.numbers.count) tries in 100 s")
    let pauses = zip(push.times.dropFirst(), push.times).map { $0 - $1 }
    #expect(zip(pauses.dropFirst(2), pauses).allSatisfy { $0 > $1 }, "\(pauses)")
    #expect(push.requests.dropFirst().allSatisfy { $0.isRetry })
    let failing = try fixture.state()
    #expect(failing?.problem == "the server answered with status 503" && failing?.status == 503)
    #expect(failing?.failingSinceMilliseconds ?? 0 > 0 && failing?.delivered == 0)
    push.answer { _ in DeliverReply(outcome: .taken, status: 200) }
    try fixture.until(200) { [push] in push.numbers.suffix(3) == [1, 2, 3] }
    #expect(
      try fixture.state()?.delivered == 3 && fixture.state()?.problem == ""
        && fixture.state()?.failingSinceMilliseconds == 0)
  }

  @Test("CK-85: a target that asks for time gets it")
  func retryAfter() throws {
    try cluster.waitUntilOwned(cluster.startNotify())
    try fixture.save()
    push.answer { _ in DeliverReply(outcome: .later, status: 429, problem: "busy", waitSeconds: 90) }
    try fixture.log(1...1)
    try cluster.simulation.run(for: .seconds(89))
    #expect(push.numbers == [1])
    try fixture.until { [push] in push.numbers == [1, 1] }
  }

  @Test("CK-85: one that is refused is given up and told of, others go on; a gone target ends until it is saved anew")
  func refused() throws {
    try cluster.waitUntilOwned(cluster.startNotify())
    try fixture.save()
    push.answer { request in
      request.number == 2
        ? DeliverReply(outcome: .refused, status: 413, problem: "too large")
        : DeliverReply(outcome: .taken, status: 200)
    }
    try fixture.log(1...3)
    try fixture.until { [push] in push.numbers == [1, 2, 3] }
    let state = try #require(try fixture.state())
    #expect(state.delivered == 2 && state.givenUp == 1 && state.last.map(\.number) == [2] && !state.ended)
    #expect(state.last.first?.status == 413 && state.last.first?.problem == "too large")
    push.answer { _ in DeliverReply(outcome: .gone, status: 410, problem: "gone") }
    try fixture.log(4...5)
    try fixture.until { [push] in push.numbers == [1, 2, 3, 4] }
    #expect(try fixture.state()?.ended == true)
    push.answer { _ in DeliverReply(outcome: .taken, status: 200) }
    try fixture.log(6...6)
    try cluster.simulation.run(for: .seconds(7_200))
    #expect(push.numbers == [1, 2, 3, 4], "nothing goes there")
    let end = CaravanWire.ChangePosition(
      incarnation: try cluster.life(of: zone(NotificationLog.name)),
      seq: try cluster.head(of: zone(NotificationLog.name)))
    try fixture.save(registration: 2) { $0.from = end }
    try fixture.log(7...7)
    try fixture.until { [push] in push.numbers == [1, 2, 3, 4, 7] }
  }

  @Test("CK-85: whoever dies, nothing is lost: what may have been taken comes again under its id")
  func killed() throws {
    var notify = cluster.startNotify()
    try cluster.waitUntilOwned(notify)
    try fixture.save()
    try fixture.log(1...5)
    for round in 1...8 as ClosedRange<Int64> {
      try fixture.log((round * 5 + 1)...(round * 5 + 5))
      notify.crash()
      notify = cluster.startNotify("notify-\(round)")
    }
    try fixture.until(300) { [push] in Set(push.numbers) == Set(1...45) }
    try cluster.simulation.run(for: .seconds(60))
    let ids = Dictionary(grouping: push.requests, by: \.number).mapValues { Set($0.map(\.id)).count }
    #expect(ids.values.allSatisfy { $0 == 1 } && Set(push.requests.map(\.id)).count == 45)
    var firsts: [Int64] = []
    for number in push.numbers where !firsts.contains(number) { firsts.append(number) }
    #expect(firsts == Array(1...45))
  }

  @Test("CK-85: the push service may be away: that is no failure of a target")
  func nobodyPushes() throws {
    let alone = try Cluster()
    try alone.waitUntilOwned(alone.startNotify())
    let other = PushFixture(alone)
    try other.save()
    try other.log(1...2)
    try alone.simulation.run(for: .seconds(30))
    let state = try other.state()
    #expect(state?.failingSinceMilliseconds ?? 0 == 0 && state?.problem ?? "" == "")
    let (bus, push, clock) = (alone.hub.connect(as: "push"), other.push, alone.simulation.host("push").host.clock)
    _ = alone.simulation.start { try await push.serve(bus, clock) }
    try other.until { push.numbers == [1, 2] }
  }

  @Test("CK-85: a target gets what it asked for, at the pace that its server said")
  func wanted() throws {
    try cluster.waitUntilOwned(cluster.startNotify())
    try fixture.save {
      $0.target?.subscriptions = ["mine"]
      $0.perMinute = 60
    }
    try fixture.log(1...2, subscription: "other")
    try fixture.log(3...42)
    try fixture.until(60) { [push] in push.numbers == Array(3...42) }
    let first = try #require(push.times.first)
    #expect(push.times[39] - first >= .seconds(19), "\(push.times[39] - first) for 40 of 60 a minute")
    try fixture.log(43...43, subscription: "")
    try fixture.until { [push] in push.numbers.last == 43 }
  }

  @Test("CK-85: what has waited for three days is given up without a call, and told of")
  func old() throws {
    try cluster.waitUntilOwned(cluster.startNotify())
    try fixture.save()
    try fixture.log(1...2, age: NotifyLimits.pushWorthMilliseconds + 1)
    try fixture.log(3...3, age: NotifyLimits.pushWorthMilliseconds - 60_000)
    try fixture.until { [push] in push.numbers == [3] }
    let state = try #require(try fixture.state())
    #expect(state.givenUp == 2 && state.last.map(\.number) == [1, 2] && state.delivered == 1)
    #expect((58...60).contains(push.requests[0].seconds), "it is worth keeping for the rest of its time")
  }

  @Test("CK-85: to a target that was removed nothing goes")
  func removed() throws {
    try cluster.waitUntilOwned(cluster.startNotify())
    try fixture.save()
    try fixture.log(1...1)
    try fixture.until { [push] in push.numbers == [1] }
    try fixture.remove("hook")
    try fixture.log(2...2)
    try cluster.simulation.run(for: .seconds(60))
    #expect(push.numbers == [1])
  }
}
