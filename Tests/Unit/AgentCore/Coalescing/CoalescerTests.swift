import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: every way a transfer can become due, and every way it must not. Method: a pure value, moments written by hand.
@Suite struct CoalescerTests {
  private static let app = ContainerID(unchecked: "app")
  private func key(_ table: String, _ direction: Direction = .write) -> Coalescer.Key {
    Coalescer.Key(TableID(app: Self.app, name: table), direction)
  }
  /// Wall and monotonic clock run together; the wall stands at 10,000 s.
  private func at(_ seconds: Double) -> Moment {
    Moment(monotonic: UInt64(seconds * 1e9), wallMilliseconds: 10_000_000 + Int64(seconds * 1000))
  }
  private func every(_ period: UInt32, _ tolerance: UInt32, _ link: LinkClass = .roaming) -> SyncRegistration {
    SyncRegistration(
      periodMilliseconds: period * 1000, delayToleranceMilliseconds: tolerance * 1000, link: link)
  }
  private func onWifi() -> Coalescer {
    var coalescer = Coalescer(volume: { _ in 1000 })
    coalescer.setLink(.wifi)
    return coalescer
  }

  @Test("MOB-04 a: data that tolerates no delay goes at once, and takes along what waits")
  func delaySensitive() {
    var c = onWifi()
    c.register(key("log"), every(10, 60), at: at(0))
    c.register(key("chat"), every(0, 0), at: at(0))
    c.noteChange(key("log"), bytes: 10, at: at(1))
    #expect(c.takeTransfer(at: at(10)) == nil)
    c.noteChange(key("chat"), bytes: 10, at: at(20))
    #expect(c.takeTransfer(at: at(20)) == .init(trigger: .delaySensitive, items: [key("chat"), key("log")]))
    #expect(c.takeTransfer(at: at(21)) == nil)
  }

  @Test("MOB-47: what waits for tomorrow yields to what is new, also to what came while it was on its way")
  func yields() {
    var c = onWifi()
    c.register(key("log"), every(0, 0), at: at(0))
    for isNewBefore in [true, false] {
      c.noteChange(key("log"), bytes: 10, at: at(1))
      #expect(c.takeTransfer(at: at(1)) != nil)
      if isNewBefore { c.noteChange(key("log"), bytes: 1, at: at(1)) }
      c.putBack(key("log"), isDemanded: false, notBefore: at(900).monotonic, yields: true)
      c.noteChange(key("log"), bytes: 0, at: at(2))
      #expect((c.takeTransfer(at: at(2)) != nil) == isNewBefore)
    }
    #expect(c.nextWake(after: at(2)) == at(900).monotonic)
    c.noteChange(key("log"), bytes: 1, at: at(3))
    #expect(c.takeTransfer(at: at(3)) != nil)
  }

  @Test("MOB-04 b: enough waiting bytes make a transfer due before any deadline")
  func volume() {
    var c = onWifi()
    c.register(key("log"), every(10, 600), at: at(0))
    c.noteChange(key("log"), bytes: 999, at: at(1))
    #expect(c.takeTransfer(at: at(10)) == nil)
    c.noteChange(key("log"), bytes: 1, at: at(11))
    #expect(c.takeTransfer(at: at(11)) == .init(trigger: .volume, items: [key("log")]))
  }

  @Test("SIM-17, MOB-04 c, MOB-12, MOB-30: looked at every 600 s, sent within 60 s of that")
  func deadline() {
    var c = onWifi()
    c.register(key("album"), every(600, 60, .wifi), at: at(0))
    c.noteChange(key("album"), bytes: 5, at: at(3))
    // The wall stands at 10,000 s: the next multiple of 600 is 10,200.
    #expect(c.nextWake(after: at(3)) == at(200).monotonic)
    #expect(c.takeTransfer(at: at(199)) == nil)
    #expect(c.takeTransfer(at: at(200)) == nil)
    #expect(c.nextWake(after: at(200)) == at(260).monotonic)
    #expect(c.takeTransfer(at: at(259)) == nil)
    #expect(c.takeTransfer(at: at(260)) == .init(trigger: .deadline, items: [key("album")]))
  }

  @Test("MOB-32: tables of one period share its tick: one moment to wake at, one transfer, whenever they registered")
  func onePeriod() {
    var c = onWifi()
    for number in 0..<50 {
      c.register(key("t\(number)"), every(600, 0), at: at(Double(number)))
      c.noteChange(key("t\(number)"), bytes: 1, at: at(Double(number)))
    }
    #expect(c.nextWake(after: at(50)) == at(200).monotonic)
    #expect(c.takeTransfer(at: at(200))?.items.count == 50)
  }

  @Test("MOB-34: harmonic periods meet in one transfer")
  func harmonic() {
    var c = onWifi()
    c.register(key("a"), every(60, 0), at: at(7))
    c.register(key("b"), every(120, 0), at: at(33))
    c.noteChange(key("a"), bytes: 1, at: at(70))
    c.noteChange(key("b"), bytes: 1, at: at(71))
    // 10,080 is a multiple of both.
    #expect(c.takeTransfer(at: at(80)) == .init(trigger: .delaySensitive, items: [key("a"), key("b")]))
  }

  @Test("MOB-44, MOB-46: an item waits for a link as cheap as it wants, and is released when one comes")
  func links() {
    var c = onWifi()
    c.setLink(.cellular)
    c.register(key("photos"), every(0, 0, .wifi), at: at(0))
    c.register(key("chat"), every(0, 0, .cellular), at: at(0))
    c.noteChange(key("photos"), bytes: 1, at: at(1))
    c.noteChange(key("chat"), bytes: 1, at: at(1))
    #expect(c.takeTransfer(at: at(1))?.items == [key("chat")])
    #expect(c.nextWake(after: at(1)) == nil)
    c.setLink(.wifi)
    #expect(c.takeTransfer(at: at(2))?.items == [key("photos")])
  }

  @Test("MOB-45: the user's limit overrides what apps allow, demands included")
  func userLimit() {
    var c = onWifi()
    c.setLink(.cellular)
    c.setUserLink(.wifi)
    c.demand(key("chat"), at: at(0))
    #expect(c.takeTransfer(at: at(1)) == nil)
    c.setUserLink(.cellular)
    #expect(c.takeTransfer(at: at(1))?.trigger == .demand)
  }

  @Test("SIM-19: a demand needs no registration; without a link it waits")
  func demand() {
    var c = Coalescer(volume: { _ in 1000 })
    c.demand(key("notes"), at: at(0))
    #expect(c.takeTransfer(at: at(0)) == nil)
    c.setLink(.roaming)
    #expect(c.takeTransfer(at: at(9)) == .init(trigger: .demand, items: [key("notes")], late: 1))
  }

  @Test("SIM-18: after unregister nothing periodic is sent; registering again finds the change")
  func unregister() {
    var c = onWifi()
    c.register(key("t"), every(10, 60), at: at(0))
    c.noteChange(key("t"), bytes: 1, at: at(1))
    #expect(c.takeTransfer(at: at(10)) == nil)
    c.unregister(key("t"))
    #expect(c.takeTransfer(at: at(100)) == nil)
    #expect(c.nextWake(after: at(100)) == nil)
    c.register(key("t"), every(0, 0), at: at(101))
    #expect(c.takeTransfer(at: at(101))?.items == [key("t")])
  }

  @Test("MOB-31: a transfer takes along also what its period has not come to, and only what is registered")
  func ridesAlong() {
    var c = onWifi()
    c.register(key("log"), every(600, 60), at: at(0))
    c.register(key("chat"), every(0, 0), at: at(0))
    c.noteChange(key("log"), bytes: 10, at: at(1))
    c.noteChange(key("local"), bytes: 10, at: at(1))
    #expect(c.policy(at: at(1)).start == nil)
    #expect(c.policy(at: at(1)).batch == [key("log")])
    c.noteChange(key("chat"), bytes: 10, at: at(2))
    #expect(c.takeTransfer(at: at(2)) == .init(trigger: .delaySensitive, items: [key("chat"), key("log")]))
    // Nothing of it is left for the period.
    #expect(c.takeTransfer(at: at(260)) == nil)
  }

  @Test("MOB-36, SIM-91: what waits goes with whatever the device has to say itself")
  func ridesWithControlMessages() {
    var c = onWifi()
    c.register(key("log"), every(600, 60), at: at(0))
    c.noteChange(key("log"), bytes: 10, at: at(1))
    #expect(c.takeTransfer(at: at(2)) == nil)
    #expect(c.takeTransfer(at: at(2), isUnderway: true) == .init(trigger: .control, items: [key("log")]))
    #expect(c.takeTransfer(at: at(2), isUnderway: true) == nil)
  }

  @Test("MOB-03: the aggregate says when, why and what, before anything is sent")
  func aggregate() {
    var c = onWifi()
    c.register(key("a"), every(0, 300), at: at(0))
    c.register(key("b"), every(0, 100), at: at(0))
    c.noteChange(key("a"), bytes: 30, at: at(1))
    c.noteChange(key("b"), bytes: 40, at: at(2))
    #expect(
      c.policy(at: at(3))
        == TransferPolicy(
          start: .init(at: at(102).monotonic, trigger: .deadline), batch: [key("b"), key("a")], bytes: 70))
  }

  @Test("MOB-01: one object's intent starts a transfer although its table's period is far")
  func objectIntent() {
    var c = onWifi()
    c.register(key("log"), every(600, 60), at: at(0))
    c.noteChange(key("log"), bytes: 10, at: at(1))
    c.noteChange(key("log"), bytes: 10, by: at(6).monotonic, at: at(1))
    #expect(c.nextWake(after: at(1)) == at(6).monotonic)
    #expect(c.takeTransfer(at: at(6)) == .init(trigger: .deadline, items: [key("log")]))
    c.noteChange(key("log"), bytes: 10, by: at(7).monotonic, at: at(7))
    #expect(c.takeTransfer(at: at(7))?.trigger == .delaySensitive)
  }

  @Test("A suspended machine: what became due while it slept goes at once, in one transfer, counted as late")
  func suspended() {
    var c = onWifi()
    c.register(key("a"), every(10, 60), at: at(0))
    c.register(key("b"), every(0, 30), at: at(0))
    c.noteChange(key("a"), bytes: 1, at: at(1))
    c.noteChange(key("b"), bytes: 1, at: at(1))
    #expect(c.takeTransfer(at: at(2)) == nil)
    // Stopped by a signal: both clocks go on.
    #expect(c.takeTransfer(at: at(500)) == .init(trigger: .deadline, items: [key("b"), key("a")], late: 2))
    c.noteChange(key("b"), bytes: 1, at: at(501))
    #expect(c.takeTransfer(at: at(501)) == nil)
    // Suspended to memory: the monotonic clock stood still.
    let awake = Moment(monotonic: at(502).monotonic, wallMilliseconds: at(4_000).wallMilliseconds)
    #expect(c.takeTransfer(at: awake)?.items == [key("b")])
  }

  @Test("A failed transfer's items wait until the back-off is over")
  func putBack() {
    var c = onWifi()
    c.demand(key("t"), at: at(0))
    #expect(c.takeTransfer(at: at(0))?.items == [key("t")])
    c.putBack(key("t"), isDemanded: false, notBefore: at(5).monotonic)
    #expect(c.takeTransfer(at: at(4)) == nil)
    #expect(c.nextWake(after: at(4)) == at(5).monotonic)
    #expect(c.takeTransfer(at: at(5))?.items == [key("t")])
  }

  @Test("I12: what failed waits for its back-off, and not for the deadline of what came while it was on its way")
  func putBackBeforeWhatIsNew() {
    var c = onWifi()
    c.register(key("t"), every(0, 600, .wifi), at: at(0))
    for isDemanded in [false, true] {
      c.noteChange(key("t"), bytes: 1, at: at(0))
      #expect(c.takeTransfer(at: at(0), isUnderway: true)?.items == [key("t")])
      c.noteChange(key("t"), bytes: 1, at: at(1))
      c.putBack(key("t"), isDemanded: isDemanded, notBefore: at(5).monotonic)
      #expect(c.takeTransfer(at: at(4)) == nil)
      #expect(c.takeTransfer(at: at(5)) == .init(trigger: isDemanded ? .demand : .deadline, items: [key("t")]))
      c.finished(key("t"))
    }
    // Rows that may be lost make nothing due (MOB-05).
    c.noteTolerated(key("t"), bytes: 1, at: at(6))
    #expect(c.takeTransfer(at: at(6), isUnderway: true)?.items == [key("t")])
    c.noteChange(key("t"), bytes: 1, at: at(7))
    c.putBack(key("t"), isDemanded: false, notBefore: at(8).monotonic)
    #expect(c.nextWake(after: at(9)) == at(607).monotonic)
  }

  @Test("UNI-22: what is lacking is asked for without delay, registered or not, over a link that its table permits")
  func trigger() {
    var c = onWifi()
    c.trigger(key("u"), at: at(0))
    #expect(c.takeTransfer(at: at(0)) == .init(trigger: .delaySensitive, items: [key("u")]))
    c.register(key("t"), every(0, 600, .wifi), at: at(0))
    c.noteChange(key("t"), bytes: 1, at: at(1))
    c.trigger(key("t"), at: at(2))
    #expect(c.takeTransfer(at: at(2)) == .init(trigger: .delaySensitive, items: [key("t")]))
    c.putBack(key("t"), isDemanded: false, notBefore: at(5).monotonic)
    c.trigger(key("t"), at: at(3))
    #expect(c.takeTransfer(at: at(4)) == nil)
    #expect(c.takeTransfer(at: at(5)) != nil)
    c.setLink(.cellular)
    c.trigger(key("t"), at: at(6))
    #expect(c.takeTransfer(at: at(7)) == nil)
    c.setLink(.wifi)
    #expect(c.takeTransfer(at: at(8))?.items == [key("t")])
  }

  @Test("A wall clock that jumps ahead fires a period once; one that goes back does not fire it again")
  func clockJumps() {
    var c = onWifi()
    c.register(key("t"), every(10, 0), at: at(0))
    c.noteChange(key("t"), bytes: 1, at: at(1))
    let ahead = Moment(monotonic: at(2).monotonic, wallMilliseconds: 20_000_000)
    #expect(c.takeTransfer(at: ahead)?.items == [key("t")])
    c.noteChange(key("t"), bytes: 1, at: ahead)
    #expect(c.takeTransfer(at: at(3)) == nil)
    #expect(c.takeTransfer(at: at(10))?.items == [key("t")])
  }
}
