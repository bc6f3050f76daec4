import CaravanBus
import CaravanChangeStream
import CaravanModel
import CaravanNotifyDriver
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: notify on the bus, with real storage. Method: one simulated cluster, virtual time.
@Suite(.timeLimit(.minutes(2))) struct ServiceTests {
  @Test("a single instance owns everything as soon as storage is there") func startsAtOnce() throws {
    let cluster = try Cluster()
    let notify = cluster.startNotify()
    try cluster.simulation.run(within: LeaseTiming().eager * 2) { notify.service.partitions.count == 64 }
  }

  @Test("SIM-66 a change at period 0 is heard without any wait") func immediate() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0), (zone("b"), 0)])
    let before = cluster.now
    try cluster.write(zone("b"))
    try cluster.simulation.run(within: .milliseconds(1)) { !device.notifications.isEmpty }
    #expect(device.bitmaps == [[0b10]])
    #expect(device.notifications.map(\.generation) == [1])
    #expect(cluster.now == before)
  }

  @Test("a small change travels with the notification, to each device under its own number of the zone")
  func pagesTravel() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let (one, two) = (try cluster.connect(phone), try cluster.connect(tablet))
    try cluster.subscribe(phone, [(zone("a"), 0), (zone("b"), 0)])
    try cluster.subscribe(tablet, [(zone("b"), 0)])
    for count in 1...3 {
      try cluster.write(zone("b"))
      try cluster.simulation.run(within: .seconds(20)) {
        one.notifications.count == count && two.notifications.count == count
      }
    }
    let (first, second) = (one.notifications.compactMap(\.pages.first), two.notifications.compactMap(\.pages.first))
    #expect(first.map(\.subscription) == [1, 1, 1] && second.map(\.subscription) == [0, 0, 0])
    #expect(first.map(\.token) == second.map(\.token) && Set(first.map(\.token)).count == 3)
    #expect(first.dropFirst().map(\.from) == first.dropLast().map(\.token), "each goes on where the one before ends")
    #expect(first.map(\.page) == second.map(\.page))
    #expect(try first.map { try EntryPage.decode($0.page).entries.map(\.version) } == [[1], [2], [3]])
  }

  @Test("MOB-46 a device hears of a zone that is not for its link, and gets rows only of the others")
  func toldOnly() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0), (zone("b"), 0)], toldOnly: [zone("a")])
    for name in ["a", "b"] { try cluster.write(zone(name)) }
    try cluster.simulation.run(within: .seconds(20)) { device.notifications.count == 2 }
    #expect(device.bitmaps == [[0b01], [0b10]] && device.notifications.map(\.pages.count) == [0, 1])
  }

  @Test("CK-81 the writer does not hear of its own change") func originExcluded() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let (one, two) = (try cluster.connect(phone), try cluster.connect(tablet))
    try cluster.subscribe(phone, [(zone("a"), 0)])
    try cluster.subscribe(tablet, [(zone("a"), 0)])
    try cluster.write(zone("a"), by: "alice/phone/1")
    try cluster.simulation.run(for: .seconds(60))
    #expect(one.notifications.isEmpty)
    #expect(two.bitmaps == [[1]])
  }

  @Test("MOB-34 zones of 2 s and 4 s: one notification on the multiple of both") func harmonic() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 2_000), (zone("b"), 4_000)])
    // The cluster's wall clock begins on a multiple of 4 s.
    try cluster.simulation.run(for: .milliseconds(2_500) - cluster.now)
    try cluster.write(zone("b"))
    try cluster.write(zone("a"))
    try cluster.simulation.run(for: .milliseconds(1_400))
    #expect(device.notifications.isEmpty)
    try cluster.simulation.run(for: .milliseconds(200))
    #expect(device.bitmaps == [[0b11]])
  }

  @Test("UNI-10: what changed in a window is one frame, a bit a zone under the list's generation; not the writer's own")
  func window() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let (one, two) = (try cluster.connect(phone), try cluster.connect(tablet))
    let zones = (0..<11).map { zone("z\($0)") }
    try cluster.subscribe(phone, generation: 7, zones.map { ($0, 2_000) })
    try cluster.subscribe(tablet, generation: 3, [(zones[9], 2_000)])
    for index in [0, 3, 9, 9, 10] { try cluster.write(zones[index], rows: 2) }
    try cluster.write(zones[5], by: "alice/phone/1")
    try cluster.simulation.run(for: .seconds(3))
    #expect(one.bitmaps == [[0b0000_1001, 0b0000_0110]] && one.notifications.map(\.generation) == [7])
    #expect(two.bitmaps == [[1]] && two.notifications.map(\.generation) == [3])
    // Nothing is lost on somebody who was away: it is offered again, from what the store has.
    two.setAnswers(false)
    try cluster.write(zones[9])
    try cluster.simulation.run(for: .seconds(200))
    two.setAnswers(true)
    let before = two.notifications.count
    try cluster.hello(tablet, generation: 3, seen: [try cluster.head(of: zones[9]) - 1])
    try cluster.simulation.run(within: .seconds(3)) { two.notifications.count > before }
    #expect(two.bitmaps.last == [1])
  }

  @Test("SIM-31, MOB-56: who did not subscribe hears nothing; devices and server apps that did are told, nobody polls")
  func onlyNotifies() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let (one, two) = (try cluster.connect(phone), try cluster.connect(tablet))
    try cluster.subscribe(phone, [(zone("a"), 0)])
    // A server app: it writes with storage's own calls and hears the change stream.
    let partition = Partition(of: zone("a").database)
    let stream = try cluster.simulation.run {
      try await cluster.bus.subscribe(.exact(.changes(partition)), group: nil, capacity: 16)
    }
    let asked = cluster.faults.storageRequests
    try cluster.write(zone("a"))
    try cluster.write(zone("b"), by: "alice/phone/1")
    try cluster.simulation.run(within: .milliseconds(10)) { !one.notifications.isEmpty }
    #expect(one.bitmaps == [[1]] && two.notifications.isEmpty)
    let heard = try cluster.simulation.run {
      var zones: [String] = []
      while zones.count < 2, case .message(let incoming)? = await stream.next() {
        zones += try ChangeHint.decode(incoming.message.payload).log.compactMap { $0.zone?.zone }
      }
      return zones
    }
    #expect(heard == ["a", "b"])
    #expect(cluster.faults.storageRequests - asked <= 6, "two commits and little else")
  }

  @Test("lost hints: the log repairs them within the watch's longest wait") func lostEvents() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0)])
    cluster.faults.set { $0.lost = { $0.subject.hasPrefix("changes.") } }
    try cluster.write(zone("a"))
    let bound = FollowLimits.longestWatch * 1.25 + FollowLimits.shortestWatch
    try cluster.simulation.run(within: bound) { !device.notifications.isEmpty }
    // A gap before a hint that does arrive is repaired at once.
    try cluster.write(zone("a"))
    cluster.faults.set { $0.lost = { _ in false } }
    try cluster.write(zone("a"))
    try cluster.simulation.run(within: .milliseconds(10)) { device.notifications.count > 1 }
  }

  @Test("hints lost because storage had no connection: it says where the logs stand as soon as it has one again")
  func lostByStorage() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0)])
    cluster.faults.set { $0.lost = { $0.subject.hasPrefix("changes.") } }
    try cluster.write(zone("a"))
    cluster.faults.set { $0.lost = { _ in false } }
    cluster.hub.disconnect("storage")
    cluster.hub.reconnect("storage")
    try cluster.simulation.run(within: .milliseconds(10)) { !device.notifications.isEmpty }
  }

  @Test("hints lost because notify had no connection: it looks as soon as it has one again")
  func lostByNotify() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0)])
    cluster.hub.disconnect("notify")
    try cluster.write(zone("a"))
    cluster.hub.reconnect("notify")
    try cluster.simulation.run(within: .milliseconds(10)) { !device.notifications.isEmpty }
  }

  @Test("an idle notify asks storage less than once in two seconds, for all partitions together") func idle() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    try cluster.simulation.run(for: .seconds(60))
    let before = cluster.faults.storageRequests
    try cluster.simulation.run(for: .seconds(200))
    #expect(cluster.faults.storageRequests - before < 100)
  }

  @Test("duplicated messages: heard once") func duplicates() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0)])
    cluster.faults.set { $0.doubled = { $0.subject.hasPrefix("changes.") } }
    try cluster.write(zone("a"))
    try cluster.simulation.run(for: .seconds(60))
    #expect(device.bitmaps == [[1]])
  }

  @Test("MOB-43 a lost notification is sent again; a silent device is left alone until it says hello")
  func lostNotification() throws {
    let cluster = try Cluster()
    let notify = cluster.startNotify()
    try cluster.waitUntilOwned(notify)
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0)])
    cluster.faults.set { $0.lost = { $0.subject.hasSuffix(".notify") } }
    try cluster.write(zone("a"))
    try cluster.simulation.run(for: .milliseconds(500))
    cluster.faults.set { $0.lost = { _ in false } }
    try cluster.simulation.run(within: .seconds(1)) { device.bitmaps == [[1]] }
    #expect(notify.count("caravan_notify_resends_total") == 1)

    device.setAnswers(false)
    try cluster.write(zone("a"))
    try cluster.simulation.run(for: .seconds(300))
    #expect(notify.count("caravan_notify_devices_away_total") == 1)
    let heard = device.notifications.count
    try cluster.write(zone("a"))
    try cluster.simulation.run(for: .seconds(60))
    #expect(device.notifications.count == heard)
    device.setAnswers(true)
    try cluster.hello(phone, generation: 1, seen: [1])
    try cluster.simulation.run(within: .milliseconds(10)) { device.notifications.count == heard + 1 }
  }

  @Test("E13 hello with an unknown generation is told to send the list again") func unknownGeneration() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    #expect(try cluster.hello(phone, generation: 3, seen: []).resubscribe)
    #expect(try !cluster.hello(phone, generation: 0, seen: []).resubscribe)
    try cluster.subscribe(phone, generation: 3, [(zone("a"), 0)])
    #expect(try !cluster.hello(phone, generation: 3, seen: [0]).resubscribe)
    #expect(try cluster.hello(phone, generation: 2, seen: [0]).resubscribe)
  }

  @Test("MOB-43 hello: what the store has more of is offered, what the device holds is not") func helloPending() throws
  {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    try cluster.write(zone("a"), rows: 3)
    try cluster.write(zone("b"), rows: 2)
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0), (zone("b"), 3_600_000), (zone("c"), 0)], seen: [3, 1, 0])
    try cluster.simulation.run(for: .seconds(1))
    #expect(device.bitmaps == [[0b010]])
    try cluster.hello(phone, generation: 1, seen: [3, 2, 0])
    try cluster.simulation.run(for: .seconds(60))
    #expect(device.notifications.count == 1)
    let lives = [try cluster.life(of: zone("a")), try cluster.life(of: zone("b")), 0]
    try cluster.hello(phone, generation: 1, seen: [9, 2, 0], lives: lives)
    try cluster.simulation.run(for: .seconds(1))
    #expect(device.notifications.count == 1)
    // UNI-18: as after a restore, of a life with fewer changes than the device has seen.
    try cluster.hello(phone, generation: 1, seen: [9, 2, 0], lives: [lives[0] + 1] + lives[1...])
    try cluster.simulation.run(for: .seconds(1))
    #expect(device.bitmaps == [[0b010], [0b001]])
  }

  @Test("notify crashes with a change unheard and another made meanwhile: both are heard after the restart")
  func crashAndRestart() throws {
    let cluster = try Cluster()
    let first = cluster.startNotify()
    try cluster.waitUntilOwned(first)
    let device = try cluster.connect(phone, answers: false)
    try cluster.subscribe(phone, [(zone("a"), 0), (zone("b"), 0)])
    cluster.faults.set { $0.lost = { $0.subject.hasSuffix(".notify") } }
    try cluster.write(zone("a"))
    first.crash()
    try cluster.write(zone("b"))
    cluster.faults.set { $0.lost = { _ in false } }
    device.setAnswers(true)
    let second = cluster.startNotify("again")
    try cluster.waitUntilOwned(second)
    try cluster.simulation.run(within: .seconds(2)) {
      device.bitmaps.reduce(0) { $0 | ($1.first ?? 0) } == 0b11
    }
    #expect(cluster.now < LeaseTiming().duration, "nobody waits for the leases of the dead to expire")
  }

  @Test("killed and started again: serves everything within a second") func startedAgain() throws {
    let cluster = try Cluster()
    let first = cluster.startNotify()
    try cluster.waitUntilOwned(first)
    try cluster.simulation.run(for: .seconds(100))
    first.crash()
    let second = cluster.startNotify("again")
    try cluster.simulation.run(within: LeaseTiming().eager * 3) { second.service.partitions.count == 64 }
  }

  @Test("an orderly stop hands over at once, and the next owner begins where this one ended") func handOver() throws {
    let cluster = try Cluster()
    let first = cluster.startNotify()
    try cluster.waitUntilOwned(first)
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0)])
    try cluster.write(zone("a"), rows: 5)
    try cluster.simulation.run(for: .milliseconds(100))
    first.service.shutDown()
    try cluster.simulation.run(within: .seconds(1)) { first.task.result != nil }
    let heard = device.notifications.count
    let second = cluster.startNotify("second")
    try cluster.simulation.run(within: .milliseconds(500)) { second.service.partitions.count == 64 }
    // No attach: the sweep offers everything once, within its time; nothing is replayed from the log.
    try cluster.simulation.run(for: .milliseconds(100))
    #expect(second.count("caravan_notify_changes_total") == 0)
    try cluster.simulation.run(for: .seconds(35))
    #expect(device.notifications.count == heard + 1)
  }

  @Test("two instances share the partitions, never act for one together, and one alone takes all when the other dies")
  func twoInstances() throws {
    let cluster = try Cluster(seed: 3)
    let (one, two) = (cluster.startNotify("one"), cluster.startNotify("two"))
    func checkApart() {
      #expect(Set(one.service.partitions).isDisjoint(with: two.service.partitions))
    }
    try cluster.simulation.run(within: .seconds(20)) {
      checkApart()
      return one.service.partitions.count == 32 && two.service.partitions.count == 32
    }
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0)])
    let home = Partition(of: zone("a").database)
    let (owner, other) = one.service.partitions.contains(home) ? (one, two) : (two, one)
    owner.crash()
    try cluster.write(zone("a"))
    let bound = LeaseTiming().renewal + LeaseTiming().eager * 3
    try cluster.simulation.run(within: bound) { other.service.partitions.count == 64 }
    try cluster.simulation.run(within: .seconds(2)) { !device.notifications.isEmpty }
  }

  @Test("an instance that has lost its connection is replaced at once, and gets its share when it is back")
  func disconnected() throws {
    let cluster = try Cluster(seed: 4)
    let (one, two) = (cluster.startNotify("one"), cluster.startNotify("two"))
    try cluster.simulation.run(within: .seconds(20)) {
      one.service.partitions.count == 32 && two.service.partitions.count == 32
    }
    cluster.hub.disconnect("two")
    try cluster.simulation.run(within: .seconds(4)) { one.service.partitions.count == 64 }
    cluster.hub.reconnect("two")
    try cluster.simulation.run(within: .milliseconds(20)) { two.service.partitions.isEmpty }
    try cluster.simulation.run(within: .seconds(5)) {
      #expect(Set(one.service.partitions).isDisjoint(with: two.service.partitions))
      return one.service.partitions.count == 32 && two.service.partitions.count == 32
    }
  }

  @Test("an instance cut off from storage stops before another begins") func cutOff() throws {
    let cluster = try Cluster(seed: 5)
    let one = cluster.startNotify("one")
    try cluster.waitUntilOwned(one)
    let two = cluster.startNotify("two")
    cluster.faults.set { $0.lost = { $0.sender == "one" || $0.receiver == "one" } }
    try cluster.simulation.run(within: .seconds(10)) {
      #expect(Set(one.service.partitions).isDisjoint(with: two.service.partitions))
      return two.service.partitions.count == 64
    }
    #expect(one.service.partitions.isEmpty)
    cluster.faults.set { $0.lost = { _ in false } }
    try cluster.simulation.run(within: .seconds(20)) {
      #expect(Set(one.service.partitions).isDisjoint(with: two.service.partitions))
      return one.service.partitions.count == 32
    }
  }

  @Test("garbage on the subjects: refused, and the service lives on") func garbage() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let home = Partition(of: .system(alice))
    try cluster.simulation.run {
      let subject = Subject.partitioned(.notify, home, method: "attach")
      let error = await #expect(throws: CaravanError.self) {
        try await cluster.bus.request(Message([0xff, 0x07, 0x99]), to: subject, deadline: .seconds(1))
      }
      #expect(error?.code == .invalidData)
      let stranger = EnrolledDevice("bob", "phone")
      for (device, payload) in [(phone, [0xff, 0x07, 0x99]), (stranger, AckNotification(number: 1).encoded())] {
        try await cluster.bus.publish(Message(payload), to: .acks(device, home))
      }
    }
    try cluster.simulation.run {
      try await cluster.bus.publish(Message([1, 2, 3]), to: .changes(home))
      let foreign = AttachRequest(device: "bob/phone/1", generation: 1)
      let error = await #expect(throws: CaravanError.self) {
        let _: AttachReply = try await cluster.bus.call(foreign, to: .partitioned(.notify, home, method: "attach"))
      }
      #expect(error?.code == .invalidData)
    }
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0)])
    try cluster.write(zone("a"))
    try cluster.simulation.run(within: .seconds(1)) { !device.notifications.isEmpty }
  }
}
