import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: what follows the end of a session follows from what was known then. Method: the value itself, a line a case.
@Suite struct SessionEndTests {
  private static let offline = PushSessionTests.offline
  private static let tomorrow = PushSessionTests.tomorrow
  private static let refused = CaravanError(.accessDenied, "not yours")
  private static let bug = CaravanError(.internalError, "a bug")

  private static func facts(
    _ direction: Direction = .write, hasMore: Bool = false, isDueAgain: Bool = false, hasPlan: Bool = false
  ) -> SessionEnd.Facts {
    SessionEnd.Facts(direction, hasMore: hasMore, isDueAgain: isDueAgain, hasPlan: hasPlan)
  }

  private static func failed(
    _ failure: CaravanError, _ facts: SessionEnd.Facts = facts(), failures: UInt32 = 1, canSpeak: Bool = true
  ) -> SessionEnd {
    .failed(failure, facts, failures: failures, wait: 7, canSpeak: canSpeak)
  }

  @Test("after a session that came to its end, what is new goes, and what was refused rests")
  func done() {
    let cases: [(SessionEnd.Facts, SessionEnd.Next)] = [
      (Self.facts(), .rested), (Self.facts(hasMore: true), .more), (Self.facts(isDueAgain: true), .nothing),
      (Self.facts(hasMore: true, isDueAgain: true), .more), (Self.facts(.read), .nothing),
    ]
    for (facts, next) in cases {
      let end = SessionEnd.done(facts)
      #expect(end.next == next && !end.keepsWaiters && !end.beginsRest && !end.givesUp, "\(facts)")
    }
  }

  @Test("what the cloud asks to come again later is no failure: nobody is told of it")
  func deferred() {
    var failure = CaravanError(.serverBusy, "later", retryAfterMilliseconds: 3)
    failure.isDeferral = true
    let end = SessionEnd.deferred(failure)
    #expect(end.next == .after(3_000_000, yields: false) && end.keepsWaiters && !end.givesUp && !end.beginsRest)
  }

  @Test("REC-20: what may be right the next time is tried again, and whoever waits is told after three tries")
  func retried() {
    let first = Self.failed(Self.offline)
    #expect(first.next == .after(7, yields: false) && first.keepsWaiters && !first.beginsRest)
    #expect(!Self.failed(Self.offline, canSpeak: false).keepsWaiters)
    #expect(!Self.failed(Self.offline, failures: EngineLimits.attemptsBeforeAnswer).keepsWaiters)
    #expect(Self.failed(Self.offline, failures: EngineLimits.attemptsBeforeAnswer - 1).keepsWaiters)
    #expect(Self.failed(Self.offline, Self.facts(.read)).next == .after(7, yields: false))
  }

  @Test("MOB-47: what today's budget has no room for waits, yields to all else, and does not hold up what came since")
  func tomorrow() {
    // A budget that is used up is told at once.
    let retried = Self.failed(Self.tomorrow, Self.facts(hasPlan: true))
    #expect(retried.next == .after(7, yields: true) && !retried.keepsWaiters)
    #expect(Self.failed(Self.tomorrow, Self.facts(isDueAgain: true, hasPlan: true)).next == .nothing)
  }

  @Test("rows that the cloud refuses rest; a plan that is to be settled does not, whatever was said")
  func refused() {
    let rested = Self.failed(Self.refused)
    #expect(rested.next == .rested && rested.beginsRest && !rested.keepsWaiters)
    #expect(Self.failed(Self.refused, Self.facts(hasMore: true)).next == .after(7, yields: false))
    #expect(Self.failed(Self.refused, Self.facts(hasMore: true)).beginsRest)
    #expect(Self.failed(Self.refused, Self.facts(isDueAgain: true)).next == .nothing)
    let settled = Self.failed(Self.refused, Self.facts(hasPlan: true))
    #expect(settled.next == .after(7, yields: false) && !settled.beginsRest)
    // Nothing is known to rest of what comes down.
    let pull = Self.failed(Self.refused, Self.facts(.read))
    #expect(pull.next == .nothing && !pull.beginsRest)
  }

  @Test("REC-27: what has failed inside the cloud for long is given up once")
  func givenUp() {
    let most = EngineLimits.attemptsBeforeFault
    #expect([most - 1, most, most + 1].map { Self.failed(Self.bug, failures: $0).givesUp } == [false, true, false])
    #expect(!Self.failed(Self.offline, failures: most).givesUp)
  }
}

/// Goal: what is registered decides what is new for the coalescer, what a link is taken for, and what goes at once.
@Suite struct SyncRegistrationsTests {
  private typealias Key = Coalescer.Key
  private static let (album, notes) = (PushSessionTests.table, TableID(app: PushSessionTests.table.app, name: "notes"))

  private static func registration(_ period: UInt32 = 0, _ tolerance: UInt32 = 0, _ link: LinkClass = .wifi)
    -> SyncRegistration
  { SyncRegistration(periodMilliseconds: period, delayToleranceMilliseconds: tolerance, link: link) }

  @Test("what is new, changed and gone is named once; a pull's period is the cloud's to keep")
  func changes() {
    var all = SyncRegistrations()
    let (up, down) = (Key(Self.album, .write), Key(Self.album, .read))
    let first = all.replace(with: [up: Self.registration(5, 6), down: Self.registration(7, 8)])
    #expect(first.new.count == 2 && first.gone.isEmpty && first.patience == 8)
    #expect(first.new.first { $0.key == up }?.registration == Self.registration(5, 6))
    #expect(first.new.first { $0.key == down }?.registration == Self.registration(0, 8))
    let same = all.replace(with: [up: Self.registration(5, 6), down: Self.registration(7, 8)])
    #expect(same.new.isEmpty && same.gone.isEmpty && same.patience == EngineLimits.heartbeatMilliseconds)
    let next = all.replace(with: [down: Self.registration(7, 9)])
    #expect(next.new.map(\.key) == [down] && next.gone == [up] && next.patience == 9)
    #expect(all.keys == [down] && all.contains(down) && !all.contains(up))
  }

  @Test("MOB-44: a link that nobody knows is the dearest that is named; one that is known stays what it is")
  func link() {
    var all = SyncRegistrations()
    #expect(all.link(nil) == nil && all.link(.unknown())?.linkClass == .roaming)
    _ = all.replace(with: [Key(Self.album, .write): Self.registration(0, 0, .cellular)])
    #expect(all.link(.unknown())?.linkClass == .cellular && all.link(.wired) == .wired)
  }

  @Test("MOB-57: what has waited at the cloud has so much less of its tolerance left here")
  func waited() {
    var all = SyncRegistrations()
    let key = Key(Self.album, .read)
    _ = all.replace(with: [key: Self.registration(0, 10_000)])
    let now = Moment(monotonic: 1_000_000_000, wallMilliseconds: 1_000)
    func left(_ waited: UInt32, _ key: Key) -> UInt64? {
      all.deadline(of: key, waited: waited, at: now).map { ($0 - now.monotonic) / 1_000_000 }
    }
    #expect(left(0, key) == nil, "as registered")
    #expect(left(1, key) == 9_999 && left(10_000, key) == 0 && left(.max, key) == 0)
    #expect(left(1, Key(Self.notes, .read)) == nil)
  }

  @Test("SIM-20, MOB-46: at once goes what has no period and no tolerance; told only are tables that may not be pulled")
  func filters() {
    var all = SyncRegistrations()
    _ = all.replace(
      with: [
        Key(Self.album, .write): Self.registration(), Key(Self.notes, .write): Self.registration(0, 1),
        Key(Self.album, .read): Self.registration(), Key(Self.notes, .read): Self.registration(),
      ])
    #expect(all.immediateWrites { _ in true } == [Self.album] && all.immediateWrites { _ in false } == [])
    #expect(all.toldOnly(hasBudget: false) { $0.table == Self.album } == [Self.notes])
    #expect(all.toldOnly(hasBudget: true) { _ in true } == [Self.album, Self.notes])
    #expect(all.deferrable { $0.table == Self.album } == [Self.notes] && all.deferrable { _ in true } == [])
  }
}

/// Goal: a cloud that asks for chunks gets each once in a heartbeat.
@Suite struct ChunkRequestsTests {
  @Test("what was sent within a heartbeat is not sent again; what is asked for anew takes the place of the old")
  func requests() {
    let app = PushSessionTests.table.app
    let (a, b) = (PushSessionTests.chunk(1), PushSessionTests.chunk(2))
    var requests = ChunkRequests()
    let nothing = requests.take(app, at: 0)
    #expect(requests.apps.isEmpty && nothing.isEmpty)
    requests.ask(for: [a], of: app)
    requests.ask(for: [a, b], of: app)
    #expect(requests.apps == [app])
    let first = requests.take(app, at: 10)
    #expect(first == [a, b] && requests.apps.isEmpty)
    requests.noteSent([a], at: 10)
    let heartbeat = EngineLimits.heartbeatMilliseconds * 1_000_000
    requests.ask(for: [a, b], of: app)
    let early = requests.take(app, at: 10 + heartbeat - 1)
    requests.ask(for: [a, b], of: app)
    let late = requests.take(app, at: 10 + heartbeat)
    #expect(early == [b] && late == [a, b])
  }

  @Test("more than may be remembered is forgotten as a whole")
  func bound() {
    let app = PushSessionTests.table.app
    var requests = ChunkRequests()
    requests.noteSent(Set((0..<EngineLimits.chunksBrought).map(PushSessionTests.chunk)), at: 5)
    requests.ask(for: [PushSessionTests.chunk(0)], of: app)
    let none = requests.take(app, at: 6)
    #expect(none.isEmpty)
    requests.noteSent([PushSessionTests.chunk(EngineLimits.chunksBrought)], at: 6)
    requests.ask(for: [PushSessionTests.chunk(0), PushSessionTests.chunk(EngineLimits.chunksBrought)], of: app)
    let again = requests.take(app, at: 7)
    #expect(again == [PushSessionTests.chunk(0)])
  }
}
