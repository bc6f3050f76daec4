import CaravanModel
import CaravanNotifyCore
import CaravanTestKit
import Testing

/// Goal: what a device had subscribed to ends with its enrolment. Method: the service over a real store, under virtual
/// time.
@Suite struct RevocationTests {
  @Test("TRU-01: whoever has a revoked device's name hears nothing of what it had subscribed to")
  func revokedName() throws {
    let cluster = try Cluster()
    try cluster.waitUntilOwned(cluster.startNotify())
    let next = EnrolledDevice(user: phone.user, device: phone.device, enrolment: 2, environment: .development)
    let listeners = try [phone, next, EnrolledDevice("bob", "phone")].map { try cluster.connect($0) }
    try cluster.subscribe(phone, [(zone("a"), 0)])
    try cluster.write(zone("a"))
    try cluster.simulation.run(for: .seconds(60))
    #expect(listeners.map(\.notifications.count) == [1, 0, 0])
    listeners[0].setAnswers(false)
    try cluster.write(zone("a"))
    try cluster.unsubscribe(phone)
    try cluster.write(zone("a"))
    try cluster.simulation.run(for: .seconds(600))
    #expect(listeners[0].notifications.count <= 2, "its list is gone, and with it what waited to be sent again")
    #expect(listeners[1].notifications.isEmpty && listeners[2].notifications.isEmpty)
  }
}
