import CaravanAgentCore
import CaravanModel
import Testing

/// Goal: what may be lost never makes the device speak, and misses no chance to go along. Method: a pure value.
@Suite struct ToleratedTests {
  private static let app = ContainerID(unchecked: "app")
  private func key(_ table: String) -> Coalescer.Key { Coalescer.Key(TableID(app: Self.app, name: table), .write) }
  private func at(_ seconds: Double) -> Moment {
    Moment(monotonic: UInt64(seconds * 1e9), wallMilliseconds: 10_000_000 + Int64(seconds * 1000))
  }
  private func coalescer() -> Coalescer {
    var c = Coalescer(volume: { _ in 100 })
    c.setLink(.wifi)
    for (table, period) in [("samples", 60_000), ("chat", 0)] as [(String, UInt32)] {
      c.register(
        key(table), SyncRegistration(periodMilliseconds: period, delayToleranceMilliseconds: 0, link: .wifi), at: at(0))
    }
    return c
  }

  @Test("MOB-05: it starts nothing, however much there is and however long it waits, and rides along with all else")
  func rides() {
    var c = coalescer()
    for second in 1...600 {
      c.noteTolerated(key("samples"), bytes: 1_000, at: at(Double(second)))
      #expect(c.takeTransfer(at: at(Double(second))) == nil)
    }
    #expect(c.policy(at: at(600)).start == nil)
    #expect(c.policy(at: at(600)).batch == [key("samples")])
    c.noteChange(key("chat"), bytes: 1, at: at(601))
    #expect(c.takeTransfer(at: at(601)) == .init(trigger: .delaySensitive, items: [key("chat"), key("samples")]))
    #expect(c.policy(at: at(601)).batch.isEmpty)
  }

  @Test("MOB-44: it rides over no link that its table refuses")
  func links() {
    var c = coalescer()
    c.register(
      key("chat"), SyncRegistration(periodMilliseconds: 0, delayToleranceMilliseconds: 0, link: .roaming), at: at(0))
    c.setLink(.cellular)
    c.noteTolerated(key("samples"), bytes: 10, at: at(1))
    c.noteChange(key("chat"), bytes: 1, at: at(1))
    #expect(c.takeTransfer(at: at(1))?.items == [key("chat")])
  }

  @Test("A failed ride is no reason to try again; what has to go anyhow still is")
  func failures() {
    var c = coalescer()
    c.noteTolerated(key("samples"), bytes: 10, at: at(1))
    c.noteChange(key("chat"), bytes: 1, at: at(1))
    #expect(c.takeTransfer(at: at(1))?.items.count == 2)
    c.putBack(key("samples"), isDemanded: false, notBefore: at(2).monotonic)
    c.putBack(key("chat"), isDemanded: false, notBefore: at(5).monotonic)
    #expect(c.nextWake(after: at(1)) == at(5).monotonic)
    #expect(c.takeTransfer(at: at(4)) == nil)
    #expect(c.takeTransfer(at: at(5))?.items == [key("chat"), key("samples")])
    // The table had something else to send as well.
    c.finished(key("samples"))
    c.noteTolerated(key("samples"), bytes: 10, at: at(6))
    c.noteChange(key("samples"), bytes: 10, by: at(6).monotonic, at: at(6))
    #expect(c.takeTransfer(at: at(6))?.items == [key("samples")])
    c.putBack(key("samples"), isDemanded: false, notBefore: at(7).monotonic)
    #expect(c.takeTransfer(at: at(7))?.trigger == .deadline)
  }

  @Test("MOB-05: it is given up when a period brought no transfer; not again before something new may be")
  func discards() {
    var c = coalescer()
    c.noteTolerated(key("samples"), bytes: 10, at: at(5))
    #expect(c.nextDiscard() == at(65).monotonic)
    #expect(c.takeDiscards(at: at(64)) == [])
    #expect(c.takeDiscards(at: at(65)) == [key("samples")])
    #expect(c.takeDiscards(at: at(65)) == [])
    c.spent(key("samples"), rows: 3)
    #expect(c.nextDiscard() == nil)
    c.noteTolerated(key("samples"), bytes: 10, at: at(100))
    #expect(c.takeDiscards(at: at(125)) == [key("samples")])
    c.spent(key("samples"), rows: 0)
    c.noteTolerated(key("samples"), bytes: 10, at: at(200))
    c.noteChange(key("chat"), bytes: 1, at: at(201))
    #expect(c.takeTransfer(at: at(201))?.items.count == 2)
    #expect(c.nextDiscard() == nil)
  }
}
