import CaravanModel
import CaravanNotifyCore
import Testing

/// Goal: small changes travel with the notification of them, and only what is whole from one change token to another.
/// Method: the pure machine of one partition.
@Suite struct InlinePageTests {
  private func inlinePage(_ low: Seq, _ high: Seq, incarnation: Incarnation = 1, bytes: Int = 3) throws -> InlinePage {
    let page = [UInt8](repeating: UInt8(truncatingIfNeeded: high), count: bytes)
    return try #require(InlinePage(incarnation: incarnation, low: low, high: high, page: page))
  }

  /// A phone whose first notification is out, so that what follows gathers behind it.
  private func waiting() throws -> (PartitionNotifier, first: PendingNotification) {
    var machine = try partition([phone: list(1, [("a", 0), ("b", 0)])])
    let first = try #require(machine.changed(zone("a"), writer: "x", position: 1, now: moment(0)).sends.first)
    return (machine, first)
  }

  @Test("one change travels at once; a change without entries does not") func one() throws {
    var machine = try partition([phone: list(1, [("a", 0), ("b", 0)])])
    let change = try inlinePage(4, 5)
    let pending = machine.changed(zone("b"), writer: "x", position: 1, now: moment(0)) { change }.sends.first
    #expect(pending?.inlinePage == [1: change])
    #expect(try waiting().first.inlinePage == [:])
  }

  @Test("changes that follow one another travel together", arguments: [true, false])
  func together(_ follows: Bool) throws {
    var (machine, first) = try waiting()
    for (position, low) in [(UInt64(2), Seq(5)), (3, follows ? 6 : 7)] {
      let change = try inlinePage(low, low + 1)
      _ = machine.changed(zone("b"), writer: "x", position: position, now: moment(0)) { change }
    }
    let next = machine.acked(first.number, device: phone, now: moment(1)).sends.first
    #expect(next?.bitmap.set == [1])
    #expect(next?.inlinePage[1]?.page == (follows ? [6, 6, 6, 7, 7, 7] : nil))
    #expect(next?.inlinePage[1]?.low == (follows ? 5 : nil) && next?.inlinePage[1]?.high == (follows ? 7 : nil))
  }

  @Test("CK-81 the device's own change between two others leaves a gap: it has to ask") func ownChangeBetween() throws {
    var (machine, first) = try waiting()
    for (position, writer) in [(UInt64(2), "x"), (3, "alice/phone/1"), (4, "x")] {
      let change = try inlinePage(position, position + 1)
      _ = machine.changed(zone("b"), writer: writer, position: position, now: moment(0)) { change }
    }
    let next = machine.acked(first.number, device: phone, now: moment(1)).sends.first
    #expect(next?.bitmap.set == [1] && next?.inlinePage == [:])
  }

  @Test("another life of the zone, or an unknown change, leaves nothing to travel") func interrupted() throws {
    for second in [try inlinePage(6, 7, incarnation: 2), nil] {
      var (machine, first) = try waiting()
      let change = try inlinePage(5, 6)
      _ = machine.changed(zone("b"), writer: "x", position: 2, now: moment(0)) { change }
      _ = machine.changed(zone("b"), writer: "x", position: 3, now: moment(0)) { second }
      let next = machine.acked(first.number, device: phone, now: moment(1)).sends.first
      #expect(next?.bitmap.set == [1] && next?.inlinePage == [:])
    }
  }

  @Test("MOB-46 no rows travel to who is told only, nor those that waited when its link changed, until it may again")
  func toldOnly() throws {
    func list(_ generation: UInt64, told: Bool) throws -> DeviceList {
      try DeviceList(
        generation: generation,
        items: [
          DeviceList.Item(zone: zone("a"), period: 0), DeviceList.Item(zone: zone("b"), period: 0, isToldOnly: told),
        ])
    }
    var (machine, _) = try waiting()
    for (position, generation) in [(UInt64(2), UInt64(2)), (4, 3), (6, 4)] {
      let isTold = generation < 4
      let changes = [try inlinePage(position, position + 1), try inlinePage(position + 1, position + 2)]
      _ = machine.changed(zone("b"), writer: "x", position: position, now: moment(0)) { changes[0] }
      let next = try machine.setList(
        list(generation, told: isTold), of: phone, isCurrent: true, now: moment(1)
      ).sends.first
      #expect(next?.bitmap.set.contains(1) == true && next?.inlinePage == [:])
      _ = machine.changed(zone("b"), writer: "x", position: position + 1, now: moment(2)) { changes[1] }
      let last = machine.acked(try #require(next).number, device: phone, now: moment(3)).sends.first
      #expect(last?.bitmap.set == [1] && last?.inlinePage == (isTold ? [:] : [1: changes[1]]))
    }
  }

  @Test("no more travels than a notification takes; the rest is asked for") func bounded() throws {
    #expect(
      InlinePage(
        incarnation: 1, low: 0, high: 1, page: [UInt8](repeating: 0, count: NotifyLimits.inlinePageBytes + 1)) == nil)
    var (machine, first) = try waiting()
    for (position, name) in [(UInt64(2), "a"), (3, "b")] {
      let change = try inlinePage(5, 6, bytes: NotifyLimits.inlinePageBytes - 10)
      _ = machine.changed(zone(name), writer: "x", position: position, now: moment(0)) { change }
    }
    let next = machine.acked(first.number, device: phone, now: moment(1)).sends.first
    #expect(next?.bitmap.set == [0, 1] && next?.inlinePage.keys.sorted() == [0])
  }

  @Test("MOB-43 who was away is told what changed, and asks") func away() throws {
    var (machine, first) = try waiting()
    let change = try inlinePage(5, 6)
    _ = machine.changed(zone("b"), writer: "x", position: 2, now: moment(0)) { change }
    var time = moment(0)
    while machine[phone]?.presence == .present, let due = machine.wake.monotonic {
      time = moment(due)
      _ = machine.tick(time)
    }
    let back = machine.attached(phone, generation: 1, behind: nil, now: time).sends.first
    #expect(back?.bitmap.set == [0, 1] && back?.inlinePage == [:])
    _ = first
  }
}
