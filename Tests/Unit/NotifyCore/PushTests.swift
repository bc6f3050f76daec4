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
}
