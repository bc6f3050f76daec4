import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: the device says how much later something could still come, and waits when it is told to. Method: a pure value.
@Suite struct SlackTests {
  private static let app = ContainerID(unchecked: "app")
  private func key(_ table: String) -> Coalescer.Key { Coalescer.Key(TableID(app: Self.app, name: table), .write) }
  private func at(_ seconds: Double) -> Moment {
    Moment(monotonic: UInt64(seconds * 1e9), wallMilliseconds: 10_000_000 + Int64(seconds * 1000))
  }

  private func coalescer() -> Coalescer {
    var c = Coalescer(volume: { _ in 100_000 })
    c.setLink(.wifi)
    for (table, tolerance) in [("patient", 300_000), ("chat", 0)] as [(String, UInt32)] {
      c.register(
        key(table), SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: tolerance, link: .wifi),
        at: at(0))
    }
    return c
  }

  @Test("MOB-08: what rides along before its deadline has the time that is left; what is due has none")
  func slack() {
    var c = coalescer()
    c.noteChange(key("patient"), bytes: 1, at: at(0))
    c.noteChange(key("chat"), bytes: 1, at: at(100))
    #expect(c.takeTransfer(at: at(100))?.items == [key("chat"), key("patient")])
    #expect(c.slackMilliseconds(key("chat"), at: at(100).monotonic) == 0)
    #expect(c.slackMilliseconds(key("patient"), at: at(101).monotonic) == 199_000)
    c.finished(key("patient"))
    #expect(c.slackMilliseconds(key("patient"), at: at(101).monotonic) == 0)
    c.noteChange(key("patient"), bytes: 1, at: at(200))
    #expect(c.takeTransfer(at: at(500))?.items == [key("patient")])
    #expect(c.slackMilliseconds(key("patient"), at: at(500).monotonic) == 0, "its deadline is what made it go")
  }

  @Test("CK-101: what is held goes neither with others nor on demand, and is woken for when it may")
  func held() {
    var c = coalescer()
    c.hold(key("chat"), until: at(30).monotonic)
    c.noteChange(key("chat"), bytes: 1, at: at(1))
    c.demand(key("chat"), at: at(2))
    c.demand(key("patient"), at: at(2))
    #expect(c.takeTransfer(at: at(2))?.items == [key("patient")])
    #expect(c.nextWake(after: at(2)) == at(30).monotonic)
    #expect(c.takeTransfer(at: at(29.9)) == nil)
    #expect(c.takeTransfer(at: at(30)) == .init(trigger: .demand, items: [key("chat")], late: 1))
  }

  @Test("What fails and has become due again meanwhile still waits as long as it was told")
  func dueAgain() {
    var c = coalescer()
    c.noteChange(key("chat"), bytes: 1, at: at(1))
    #expect(c.takeTransfer(at: at(1)) != nil)
    c.noteChange(key("chat"), bytes: 1, at: at(2))
    c.putBack(key("chat"), isDemanded: false, notBefore: at(60).monotonic)
    #expect(c.takeTransfer(at: at(59)) == nil)
    #expect(c.takeTransfer(at: at(60))?.items == [key("chat")])
  }
}
