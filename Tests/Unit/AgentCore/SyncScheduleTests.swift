import CaravanModel
import Testing

@testable import CaravanAgentCore

/// Goal: what is due, and what follows what has happened, is the schedule's word alone. Method: the value itself, event
/// by event, with times written out in milliseconds.
@Suite struct SyncScheduleTests {
  private typealias Key = Coalescer.Key
  private static let table = PushSessionTests.table
  private static let other = TableID(app: table.app, name: "other")
  private static let write = Key(table, .write)
  private static let read = Key(table, .read)
  private static let immediate = SyncRegistration(
    periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .wifi)

  private static func at(_ milliseconds: UInt64) -> Moment {
    Moment(monotonic: milliseconds * 1_000_000, wallMilliseconds: Int64(milliseconds))
  }

  /// Connected over `link`, with the table registered in both directions and heard of, and everything told.
  private static func quiet(link: Link = .wifi) -> SyncSchedule {
    var schedule = SyncSchedule(link: link)
    schedule.connected(at: at(0))
    let patience = schedule.register([write: immediate, read: immediate], at: at(0))
    schedule.number(
      SubscriptionList(generation: 1, items: [SubscriptionList.Item(table: table, periodMilliseconds: 0)]),
      patience: patience, at: at(0))
    while let transfer = schedule.takeTransfer(at: at(0)) {
      schedule.transferAnswered()
      for key in transfer.coalesced.items where schedule.begin(key) { _ = end(&schedule, key) }
      schedule.controlMessages.helloAnswered(generation: 1, resubscribe: false, at: at(0).monotonic)
    }
    return schedule
  }

  @discardableResult
  private static func end(
    _ schedule: inout SyncSchedule, _ key: Coalescer.Key, _ failure: CaravanError? = nil, hasWaiters: Bool = false,
    isAwaited: Bool = false, at milliseconds: UInt64 = 0
  ) -> SyncSchedule.Ended {
    schedule.end(key, failure, hasWaiters: hasWaiters, isAwaited: isAwaited, at: at(milliseconds)) { 0 }
  }

  private static func change(bytes: Int) -> [(key: TableID, value: LocalChanges)] {
    var changes = LocalChanges()
    changes.add(LocalChange(bytes: bytes), at: 0)
    return [(table, changes)]
  }

  /// The keys of the transfer that is due now; nil: none is.
  private static func due(_ schedule: inout SyncSchedule, at milliseconds: UInt64) -> [Coalescer.Key]? {
    guard let transfer = schedule.takeTransfer(at: at(milliseconds)) else { return nil }
    schedule.transferAnswered()
    return transfer.coalesced.items
  }

  @Test("the device's first word tells that it is here, and goes with what is registered")
  func first() {
    var schedule = SyncSchedule(link: .wifi)
    #expect(!schedule.canSpeak)
    let silent = schedule.takeTransfer(at: Self.at(0))
    #expect(silent == nil)
    schedule.connected(at: Self.at(0))
    _ = schedule.register([Self.read: Self.immediate], at: Self.at(0))
    let transfer = schedule.takeTransfer(at: Self.at(0))
    #expect(transfer?.controlMessages?.hello == true)
    #expect(transfer?.coalesced.items == [Self.read])
    #expect(transfer?.isAcknowledgement == false)
  }

  @Test("what was written while its table's push ran goes when that has ended, and nothing is due before")
  func whileRunning() {
    var schedule = Self.quiet()
    schedule.noteChanges(Self.change(bytes: 5), at: Self.at(1))
    let first = Self.due(&schedule, at: 1)
    #expect(first == [Self.write])
    let begins = schedule.begin(Self.write)
    #expect(begins)
    schedule.noteChanges(Self.change(bytes: 0), at: Self.at(2))
    let meanwhile = Self.due(&schedule, at: 2)
    #expect(meanwhile == nil)
    Self.end(&schedule, Self.write, at: 3)
    let second = Self.due(&schedule, at: 3)
    #expect(second == [Self.write])
  }

  @Test("a key that becomes due while it runs is due again when it has ended, once")
  func dueAgain() {
    var schedule = Self.quiet()
    let begins = [schedule.begin(Self.read), schedule.begin(Self.read)]
    #expect(begins == [true, false])
    Self.end(&schedule, Self.read, at: 1)
    let courses = [Self.due(&schedule, at: 1), Self.due(&schedule, at: 2)]
    #expect(courses == [[Self.read], nil])
  }

  @Test("REC-20: a session that failed is tried again after its wait, and whoever waits is answered by that")
  func failed() {
    var schedule = Self.quiet()
    _ = schedule.begin(Self.write)
    let ended = Self.end(&schedule, Self.write, PushSessionTests.offline, hasWaiters: true, at: 10)
    #expect(ended.failures == 1 && ended.keepsWaiters && !ended.isNewDiskRefusal && !ended.isResumed)
    let wait = EngineLimits.firstRetryMilliseconds / 2
    let tries = [Self.due(&schedule, at: 10 + wait - 1), Self.due(&schedule, at: 10 + wait)]
    #expect(tries == [nil, [Self.write]])
  }

  @Test("REC-28: a session that takes up what was cut off says so, also after a restart")
  func resumed() {
    var schedule = Self.quiet()
    schedule.recall(PushSessionTests.plan())
    #expect(schedule.pendingPlans.map(\.table) == [Self.table] && schedule.hasPlan(Self.table))
    _ = schedule.begin(Self.write)
    let cut = Self.end(&schedule, Self.write, PushSessionTests.offline)
    _ = schedule.begin(Self.write)
    let whole = Self.end(&schedule, Self.write)
    _ = schedule.begin(Self.write)
    let next = Self.end(&schedule, Self.write)
    #expect([cut, whole, next].map(\.isResumed) == [true, true, false])
  }

  @Test("CK-101: nothing of a table goes before the cloud wants it, whoever asks")
  func rateLimited() {
    var schedule = Self.quiet()
    _ = schedule.begin(Self.read)
    let failure = CaravanError(.rateLimited, "later", retryAfterMilliseconds: 60_000)
    Self.end(&schedule, Self.read, failure)
    schedule.demand(Self.read, at: Self.at(1))
    let tries = [Self.due(&schedule, at: 59_999), Self.due(&schedule, at: 60_000)]
    #expect(tries == [nil, [Self.read]])
  }

  @Test("a disk that refuses is new once, and forgotten when it has taken something")
  func disk() {
    var schedule = Self.quiet()
    var news: [Bool] = []
    for failure in [PushSessionTests.disk, PushSessionTests.disk, nil, PushSessionTests.disk] {
      _ = schedule.begin(Self.read)
      news.append(Self.end(&schedule, Self.read, failure).isNewDiskRefusal)
    }
    #expect(news == [true, false, false, true])
    #expect(schedule.diskRefusals.keys.sorted() == [Self.table])
  }

  @Test("REC-27: a table that goes on failing by a fault of ours is told of, once")
  func faults() {
    var schedule = Self.quiet()
    for number in 1...EngineLimits.attemptsBeforeFault {
      #expect(!schedule.hasFaults, "after \(number - 1) failures")
      _ = schedule.begin(Self.read)
      Self.end(&schedule, Self.read, CaravanError(.internalError, "a bug"))
    }
    #expect(schedule.hasFaults)
    let faults = schedule.takeFaults()
    #expect(faults.map(\.table) == [Self.table] && !schedule.hasFaults)
  }

  @Test("MOB-41: a notification's tables are pulled, but for those whose rows came with it and can be taken in")
  func notices() {
    var schedule = Self.quiet()
    var notices = [
      schedule.notified(1, bitmap: [1], generation: 1, inline: [Self.table], at: Self.at(1)),
      // Its session runs: the rows of the next are pulled after it.
      schedule.notified(2, bitmap: [1], generation: 1, inline: [Self.table], at: Self.at(1)),
      schedule.notified(2, bitmap: [1], generation: 1, inline: [], at: Self.at(1)),
    ]
    #expect(notices == [.taken(inline: [Self.table]), .taken(inline: []), .repeated])
    Self.end(&schedule, Self.read, at: 1)
    let pulled = Self.due(&schedule, at: 1)
    #expect(pulled == [Self.read])
    notices = [schedule.notified(3, bitmap: [1], generation: 7, inline: [], at: Self.at(2))]
    #expect(notices == [.otherList])
    let transfer = schedule.takeTransfer(at: Self.at(2))
    #expect(transfer?.coalesced.items == [Self.read] && transfer?.controlMessages?.subscribe == true)
  }

  @Test("MOB-44: what costs more than a table may cost is not due, and is as soon as the link is cheap again")
  func links() {
    var schedule = Self.quiet()
    schedule.noteChanges(Self.change(bytes: 5), at: Self.at(1))
    let changes = [schedule.changeLink { $0.announce(.cellular) }, schedule.changeLink { $0.announce(.cellular) }]
    #expect(changes == [true, false])
    let afresh = schedule.decidePermissions(budget: nil, at: Self.at(1))
    #expect(!afresh && schedule.canSpeak && !schedule.isFree)
    #expect(schedule.limit(of: Self.write, isDemanded: false) == nil)
    #expect(schedule.limit(of: Self.write, isDemanded: true) == .roaming)
    #expect(schedule.immediateWrites(hasBudget: false).isEmpty && schedule.permittedWrite(of: Self.table.app) == nil)
    #expect(schedule.toldOnly(hasBudget: false) == [Self.table] && schedule.deferrable == [Self.table])
    let dear = Self.due(&schedule, at: 2)
    _ = schedule.changeLink { $0.announce(.wired) }
    _ = schedule.decidePermissions(budget: nil, at: Self.at(3))
    let cheap = Self.due(&schedule, at: 3)
    #expect(dear == nil && cheap == [Self.write])
    #expect(schedule.immediateWrites(hasBudget: false) == [Self.table] && schedule.toldOnly(hasBudget: false) == [])
    #expect(schedule.immediateWrites(hasBudget: true) == [])
    #expect(schedule.permittedWrite(of: Self.table.app) == Self.write)
  }

  @Test("MOB-47: a budget that is used up silences the device, and the next day's lets it look at everything")
  func budgets() {
    var schedule = Self.quiet()
    let turns = [
      schedule.lookAtBudget(left: 1 << 20, day: 1, at: Self.at(1)),
      schedule.lookAtBudget(left: 0, day: 1, at: Self.at(2)),
      schedule.lookAtBudget(left: 0, day: 1, at: Self.at(3)),
    ]
    #expect(turns == [false, true, false] && !schedule.canSpeak && schedule.toldOnly(hasBudget: true) == nil)
    let afresh = schedule.decidePermissions(budget: 1 << 20, at: Self.at(4))
    #expect(afresh)
    let transfer = schedule.takeTransfer(at: Self.at(4))
    #expect(transfer?.controlMessages?.hello == true && transfer?.coalesced.items == [Self.read])
  }

  @Test("a table that waits with starting over holds its rows back, until it has started or may not be tried")
  func startsOver() throws {
    var schedule = Self.quiet()
    let waits = [
      schedule.pullEnded(of: Self.table, awaitsPush: true, isAwaited: false),
      schedule.pullEnded(of: Self.table, awaitsPush: true, isAwaited: false),
    ]
    #expect(waits == [true, nil] && !schedule.mayCollect(Self.table))
    #expect(schedule.immediateWrites(hasBudget: false) == [])
    #expect(throws: CaravanError.self) { try schedule.beginPull(of: Self.table, opInFlight: 3) }
    let isVoid = try schedule.beginPull(of: Self.table, opInFlight: nil)
    #expect(!isVoid)
    let released = schedule.releaseWaitingRows()
    #expect(released == [Self.table] && schedule.mayCollect(Self.table))
    _ = schedule.changeLink { $0.announce(.cellular) }
    _ = schedule.decidePermissions(budget: nil, at: Self.at(1))
    let elsewhere = schedule.pullEnded(of: Self.table, awaitsPush: true, isAwaited: false)
    #expect(elsewhere == nil && schedule.mayCollect(Self.table))
  }

  @Test("an epoch begins once nothing is in flight, and the tables that nobody could explain start over in it")
  func epochs() throws {
    var schedule = Self.quiet()
    schedule.foundUnexplained(Self.table)
    schedule.pushLeft(PlanInFlight(PushSessionTests.plan(), mustSettle: true), of: Self.other)
    let early = schedule.beginEpoch()
    schedule.pushLeft(nil, of: Self.other)
    let begins = [early, schedule.beginEpoch(), schedule.beginEpoch()]
    #expect(begins == [false, true, false] && !schedule.mayCollect(Self.other))
    schedule.epochDidNotBegin()
    let again = schedule.beginEpoch()
    let tables = schedule.epochBegan()
    #expect(again && tables == [Self.table] && schedule.mayCollect(Self.other))
    let startsOver = try schedule.beginPull(of: Self.table, opInFlight: nil)
    #expect(startsOver)
  }

  @Test("MOB-05: a busy cloud is relieved of rows that may be lost, where it cannot have taken them")
  func shedding() {
    var schedule = Self.quiet()
    let none = schedule.beginShedding(of: Self.table)
    let plan = PushSessionTests.plan(9, tolerated: 1)
    schedule.pushLeft(PlanInFlight(plan, mustSettle: true), of: Self.table)
    let uncertain = schedule.beginShedding(of: Self.table)
    schedule.pushLeft(PlanInFlight(plan, mustSettle: false), of: Self.table)
    let ops = [none, uncertain, schedule.beginShedding(of: Self.table), schedule.beginShedding(of: Self.table)]
    #expect(ops == [nil, nil, plan.op, nil] && schedule.isRunning(Self.write))
    schedule.endReservation(Self.write, isAwaited: false, at: Self.at(1))
    #expect(!schedule.isRunning(Self.write))
  }

  @Test("chunks go before their row over a link that costs nothing, and the table's push follows them")
  func earlyUploads() {
    var schedule = Self.quiet()
    var elsewhere = Self.quiet(link: .cellular)
    let begun = [elsewhere.beginEarlyUpload(of: Self.table), elsewhere.isRunning(Self.write)]
    #expect(begun == [false, false])
    for _ in 0..<EngineLimits.earlyMessages {
      let begins = schedule.beginEarlyUpload(of: Self.table)
      #expect(begins)
    }
    let more = schedule.beginEarlyUpload(of: Self.table)
    let push = schedule.begin(Self.write)
    #expect(!more && !push)
    let ends = (0..<EngineLimits.earlyMessages).map { _ in
      schedule.endEarlyUpload(of: Self.table, isAwaited: false, at: Self.at(2))
    }
    #expect(ends == [false, false, false, true] && !schedule.isRunning(Self.write))
    let due = Self.due(&schedule, at: 2)
    #expect(due == [Self.write])
  }

  @Test("as many transfers are in flight as may be, and a table that is forgotten leaves nothing behind")
  func bounds() {
    var schedule = Self.quiet()
    for number in 0..<EngineLimits.transfersInFlight {
      schedule.pullWhatIsLacking(of: TableID(app: Self.table.app, name: "t\(number)"), at: Self.at(1))
      let transfer = schedule.takeTransfer(at: Self.at(1))
      #expect(transfer != nil)
    }
    schedule.noteChanges(Self.change(bytes: 5), at: Self.at(1))
    let crowded = schedule.takeTransfer(at: Self.at(1))
    #expect(crowded == nil && schedule.nextWake(after: Self.at(1)) == nil)
    schedule.transferAnswered()
    schedule.forget(Self.table)
    let nothing = schedule.takeTransfer(at: Self.at(1))
    #expect(nothing == nil && !schedule.hasPlan(Self.table))
  }
}
