import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: the service coalesces what it sends to devices by their tolerances. Method: the service, storage and a device
/// in virtual time.
@Suite(.timeLimit(.minutes(1))) struct ToleratedNotificationTests {
  @Test("MOB-57 what tolerates a delay comes with what does not, rows and all; alone it comes when its time is over")
  func tolerated() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let device = try cluster.connect(phone)
    try cluster.subscribe(phone, [(zone("a"), 0), (zone("b"), 0)], tolerances: [zone("a"): 30_000])
    try cluster.write(zone("a"))
    try cluster.simulation.run(for: .seconds(5))
    #expect(device.notifications.isEmpty)
    try cluster.write(zone("b"))
    try cluster.simulation.run(within: .seconds(2)) { device.notifications.count == 1 }
    #expect(device.bitmaps == [[0b11]] && device.notifications[0].pages.count == 2)
    #expect((5_000...7_000).contains(device.notifications[0].waitedMilliseconds))
    try cluster.write(zone("a"))
    try cluster.simulation.run(for: .seconds(29))
    #expect(device.notifications.count == 1)
    try cluster.simulation.run(within: .seconds(3)) { device.notifications.count == 2 }
    #expect((30_000...31_000).contains(device.notifications[1].waitedMilliseconds))
  }
}
