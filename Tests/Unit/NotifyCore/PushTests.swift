import CaravanModel
import CaravanNotifyCore
import Testing

/// Goal: who is pushed to when, and how far each has come. Method: the values alone.
@Suite struct PushTests {
  private static func name(_ id: String, of user: String = "ann", in container: String = "chat") -> TargetName {
    TargetName(
      log: LogName(
        user: UserID(unchecked: user), container: ContainerID(unchecked: container), environment: .development), id: id)
  }

  // MARK: The schedule

  @Test("CK-85: a target runs once it is there, and again when its log has more, not before it may")
  func schedule() {
    var schedule = PushSchedule()
    let (a, b) = (Self.name("a"), Self.name("b", of: "bob"))
    schedule.put(a)
    schedule.put(b)
    #expect(schedule.start(0) == [a, b] && schedule.start(0).isEmpty && schedule.nextWake == nil)
    schedule.ended(a, isBehind: false, notBefore: 50)
    schedule.ended(b, isBehind: true, notBefore: 70)
    #expect(schedule.nextWake == 70 && schedule.start(69).isEmpty)
    schedule.changed(a.log)
    #expect(schedule.nextWake == 50 && schedule.start(49).isEmpty && schedule.start(50) == [a])
    schedule.changed(a.log)
    schedule.ended(a, isBehind: false, notBefore: 60)
    #expect(schedule.start(60) == [a], "something came while it ran")
    schedule.changed(Self.name("c", in: "album").log)
    schedule.ended(a, isBehind: false, notBefore: 0)
    #expect(schedule.start(69).isEmpty, "another log is none of its affair")
  }

  @Test("CK-85: one that has ended waits until it is put again, one that is removed is gone")
  func ends() {
    var schedule = PushSchedule()
    let (a, b) = (Self.name("a"), Self.name("b"))
    schedule.put(a)
    schedule.put(b)
    _ = schedule.start(0)
    schedule.ended(a, isBehind: true, notBefore: nil)
    schedule.changed(a.log)
    #expect(schedule.start(.max - 1).isEmpty && schedule.nextWake == nil)
    schedule.put(a)
    #expect(schedule.start(0) == [a])
    schedule.remove(b)
    schedule.ended(b, isBehind: true, notBefore: 0)
    schedule.remove(a)
    schedule.changed(a.log)
    schedule.ended(a, isBehind: true, notBefore: 0)
    #expect(schedule.start(.max - 1).isEmpty && schedule.count == 0)
  }

  @Test("CK-85: no user has more than their share of the places, and nobody waits for ever")
  func shares() {
    var schedule = PushSchedule()
    for number in 0..<20 { schedule.put(Self.name("t\(number)", of: "ann")) }
    for number in 0..<20 { schedule.put(Self.name("t", of: "user\(number)")) }
    let first = schedule.start(0)
    #expect(first.count == NotifyLimits.pushesAtOnce)
    #expect(first.count { $0.log.user.text == "ann" } == NotifyLimits.pushesAtOncePerUser)
    var done: Set<TargetName> = []
    var now: Int64 = 0
    var running = first
    while !running.isEmpty {
      for name in running {
        done.insert(name)
        schedule.ended(name, isBehind: false, notBefore: now)
      }
      now += 1
      running = schedule.start(now)
      #expect(running.count { $0.log.user.text == "ann" } <= NotifyLimits.pushesAtOncePerUser)
    }
    #expect(done.count == 40)
  }

  @Test("CK-85: nobody is woken for a target that has no place to run in")
  func noPlace() {
    var schedule = PushSchedule()
    let names = (0...NotifyLimits.pushesAtOncePerUser).map { Self.name("t\($0)") }
    for name in names { schedule.put(name) }
    let running = schedule.start(0)
    #expect(running.count == NotifyLimits.pushesAtOncePerUser && schedule.nextWake == nil)
    schedule.ended(running[0], isBehind: false, notBefore: 0)
    #expect(schedule.nextWake == 0 && schedule.start(0) == [names.last])
    for number in 0..<20 { schedule.put(Self.name("t", of: "user\(number)")) }
    #expect(schedule.start(0).count == NotifyLimits.pushesAtOnce - NotifyLimits.pushesAtOncePerUser)
    #expect(schedule.nextWake == nil, "all places are taken")
  }

  // MARK: Pace

  @Test(
    "CK-85: whatever turns bring, no minute has more calls than a server takes",
    arguments: [1, 2, 7, 30, 60, 100, 1_000, 6_000, .max] as [UInt32], [1, 100, 900] as [Int64])
  func pace(perMinute: UInt32, callTime: Int64) {
    let pace = PushPace(perMinute: perMinute)
    #expect((1...NotifyLimits.pushesPerTurn).contains(pace.callsPerTurn))
    var now: Int64 = 0
    var calls: [Int64] = []
    while now < 200_000 {
      let began = now
      for _ in 0..<pace.callsPerTurn {
        calls.append(now)
        now += callTime
      }
      now = max(now, pace.next(afterTurnAt: began, calls: pace.callsPerTurn, lastAt: calls.last ?? began))
    }
    var first = 0
    for (index, call) in calls.enumerated() {
      while calls[first] <= call - 60_000 { first += 1 }
      #expect(index - first + 1 <= perMinute)
    }
    #expect(calls.count >= min(Int(perMinute), 150), "\(calls.count) calls in 200 s")
    #expect(pace.next(afterTurnAt: 5, calls: 0, lastAt: 0) == 5, "who was not called need not rest")
  }

  @Test("CK-85: a server that said nothing is called in turns that hardly rest")
  func freePace() {
    let pace = PushPace(perMinute: 0)
    #expect(pace.callsPerTurn == NotifyLimits.pushesPerTurn)
    #expect(pace.next(afterTurnAt: 7, calls: 20, lastAt: 5_000) == 7 + 20 * NotifyLimits.pushSpacingMilliseconds)
  }

  // MARK: Progress

  private static let next = ChangePosition(incarnation: 3, seq: 9)
  private static func lost(_ number: UInt64) -> TargetProgress.GivenUp {
    TargetProgress.GivenUp(source: 1, number: number, status: 400, problem: "refused", at: 5)
  }

  @Test("CK-85: what is taken lies behind a target, what is to be tried again does not")
  func progress() {
    var progress = TargetProgress()
    #expect(progress.take(.taken, next: Self.next, now: 1) && progress.position == Self.next)
    #expect(progress.delivered == 1 && progress.failingSince == nil)
    let after = ChangePosition(incarnation: 3, seq: 10)
    let isLater = progress.take(.later(status: 503, problem: "busy", waitMilliseconds: 0), next: after, now: 7)
    #expect(!isLater)
    #expect(progress.position == Self.next && progress.failingSince == 7 && progress.problem == "busy")
    #expect(progress.take(.refused(Self.lost(4)), next: after, now: 8) && progress.position == after)
    #expect(progress.givenUp == 1 && progress.last == [Self.lost(4)] && progress.failingSince == nil)
    #expect(!progress.take(.gone(status: 410, problem: "gone"), next: after, now: 9) && progress.hasEnded)
  }

  @Test("CK-85: pauses double up to an hour, and end with what is taken")
  func pauses() {
    var progress = TargetProgress()
    var pauses: [Int64] = []
    for _ in 0..<14 {
      _ = progress.take(.later(status: 0, problem: "away", waitMilliseconds: 0), next: Self.next, now: 1)
      pauses.append(progress.pauseMilliseconds)
    }
    #expect(Array(pauses.prefix(4)) == [1_000, 2_000, 4_000, 8_000] && pauses.last == 3_600_000)
    progress.failures = 1_000
    #expect(progress.pauseMilliseconds == 3_600_000)
    _ = progress.take(.taken, next: Self.next, now: 2)
    #expect(progress.pauseMilliseconds == 0)
  }

  @Test("CK-85: a target that takes nothing for a week has ended; a clock that is set back ends nobody")
  func patience() {
    func failing(at times: [Int64]) -> Bool {
      var progress = TargetProgress()
      for time in times {
        _ = progress.take(.later(status: 0, problem: "away", waitMilliseconds: 0), next: Self.next, now: time)
      }
      return progress.hasEnded
    }
    let week = NotifyLimits.pushPatienceMilliseconds
    #expect(!failing(at: [0, week - 1]) && failing(at: [0, week]))
    #expect(!failing(at: [10, 5, week + 4]) && failing(at: [10, 5, week + 5]))
  }

  @Test("CK-85: the last that were given up are told, and no more of them")
  func deadLetters() {
    var progress = TargetProgress()
    for number in 1...25 { progress.giveUp(Self.lost(UInt64(number)), next: Self.next) }
    #expect(progress.givenUp == 25 && progress.last.map(\.number) == Array(16...25))
  }

  @Test("CK-85: what made room in the log before a target came to it is given up, what came before the target is not")
  func missing() {
    var progress = TargetProgress()
    #expect(progress.meet(5, of: 1, since: 0, at: 1) == 0, "it begins here")
    progress.pass(5, of: 1, next: Self.next)
    #expect(progress.meet(6, of: 1, since: 0, at: 1) == 0 && progress.meet(6, of: 1, since: 0, at: 1) == 0)
    #expect(progress.meet(9, of: 1, since: 0, at: 2) == 3 && progress.meet(9, of: 1, since: 0, at: 2) == 0)
    #expect(progress.givenUp == 3 && progress.last.map(\.number) == [8] && progress.last.first?.at == 2)
    // The log says that nothing is missing below.
    #expect(progress.meet(20, of: 1, since: 20, at: 3) == 0 && progress.meet(30, of: 2, since: 0, at: 3) == 0)
    // It began anew, and has what the target has taken.
    progress.pass(20, of: 1, next: Self.next)
    #expect(progress.meet(3, of: 1, since: 0, at: 4) == 0)
    progress.pass(3, of: 1, next: Self.next)
    #expect(progress.meet(21, of: 1, since: 0, at: 4) == 0 && progress.givenUp == 3)
  }
}
