import CaravanBus
import CaravanModel
import CaravanNotifyCore
import CaravanNotifyDriver
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: who hears of what, where a user has devices in both environments. Method: one simulated cluster, virtual time.
@Suite(.timeLimit(.minutes(2))) struct EnvironmentTests {
  @Test("TRU-04: devices of one user and name hear of their environment's zones, over a restart of notify as well")
  func environments() throws {
    let cluster = try Cluster()
    let first = cluster.startNotify()
    try cluster.waitUntilOwned(first)
    let used = EnrolledDevice(phone.user, phone.device, in: .production)
    let database = DatabaseID(container: zone("a").database.container, environment: .production, owner: phone.user)
    let places = [(phone, zone("a")), (used, try ZoneID(database, "a"))]
    let listeners = try places.map { try cluster.connect($0.0) }
    for (device, zone) in places { try cluster.subscribe(device, [(zone, 0)]) }
    try cluster.write(places[1].1)
    try cluster.simulation.run(for: .seconds(5))
    #expect(listeners.map(\.notifications.count) == [0, 1])
    // Whoever takes over reads both lists, and offers everything once.
    first.crash()
    let second = cluster.startNotify("notify-2")
    try cluster.waitUntilOwned(second)
    try cluster.simulation.run(for: .milliseconds(NotifyLimits.sweepMilliseconds) + .seconds(5))
    for (index, place) in places.enumerated() {
      let before = listeners.map(\.notifications.count)
      try cluster.write(place.1)
      try cluster.simulation.run(for: .seconds(5))
      let more = zip(listeners, before).map { $0.notifications.count - $1 }
      #expect(more == (index == 0 ? [1, 0] : [0, 1]))
    }
  }
}
