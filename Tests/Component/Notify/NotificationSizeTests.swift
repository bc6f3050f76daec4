import CaravanModel
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: one notification says for any number of tables which of them changed, and stays small (MOB-41, BEN-12).
@Suite struct NotificationSizeTests {
  /// As an agent counts its lists: Unix milliseconds, about.
  private static let generation: UInt64 = 1_764_000_000_123

  @Test("BEN-12 all of 1, 100 and 1,000 tables changed: a bit each, 160 bytes at most", arguments: [1, 100, 1_000])
  func size(tables: Int) throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let device = try cluster.connect(phone)
    let zones = (0..<tables).map { zone("table\($0)") }
    try cluster.subscribe(phone, generation: Self.generation, zones.map { ($0, 60_000) })
    for zone in zones { try cluster.write(zone) }
    try cluster.simulation.run(within: .seconds(120)) { !device.notifications.isEmpty }
    var notification = try #require(device.notifications.first)
    // Rows that travel with it would be fetched otherwise.
    notification.pages = []
    #expect(device.notifications.count == 1)
    #expect(notification.bitmap.reduce(0) { $0 + $1.nonzeroBitCount } == tables)
    let bytes = notification.encoded().count
    #expect(bytes <= tables / 8 + 32 && bytes <= 160, "\(bytes) bytes")
    let names = zones.reduce(0) { $0 + $1.name.utf8.count + 2 }
    #expect(tables == 1 || bytes * 3 < names, "a list of their names is \(names) bytes")
  }
}
