import CaravanBus
import CaravanChangeStream
import CaravanModel
import CaravanNotifyDriver
import CaravanRuntime
import CaravanTestKit
import Testing

/// Goal: a log says that storage is away, and no more than that. Method: a simulated cluster whose storage is deaf for
/// a while, and what one instance logs.
@Suite(.timeLimit(.minutes(1))) struct OutageTests {
  @Test("storage that does not answer is said once, and once when it is back; a start beside it is nothing to say")
  func storageAway() throws {
    let cluster = try Cluster()
    let log = MemoryLogSink()
    let notify = cluster.startNotify(log: log)
    try cluster.waitUntilOwned(notify)
    func told(_ text: String) -> Int { log.records.count { $0.message.contains(text) } }
    #expect(told("lease") == 0)
    cluster.faults.set { $0.lost = { $0.subject.hasPrefix("svc.storage.") } }
    try cluster.simulation.run(for: .seconds(8))
    #expect(told("leases cannot be kept") == 1)
    try cluster.simulation.run(for: .seconds(600))
    #expect(told("leases cannot be kept") == 1 && told("leases are kept again") == 0)
    cluster.faults.set { $0.lost = { _ in false } }
    try cluster.waitUntilOwned(notify)
    #expect(told("leases cannot be kept") == 1 && told("leases are kept again") == 1)
  }

  @Test("changes that cannot be taken in are said once, of however many partitions, and once when all are")
  func changesAway() throws {
    let cluster = try Cluster()
    let log = MemoryLogSink()
    let notify = cluster.startNotify(log: log)
    try cluster.waitUntilOwned(notify)
    func told(_ text: String) -> Int { log.records.count { $0.message.contains(text) } }
    cluster.faults.set { $0.lost = { $0.subject.hasPrefix("changes.") || $0.subject.hasSuffix(".log") } }
    for user in ["ann", "bob", "cleo"] { try cluster.write(zone("x", of: UserID(user))) }
    try cluster.simulation.run(for: .seconds(600))
    #expect(told("changes cannot be taken in") == 1 && told("changes are taken in again") == 0)
    cluster.faults.set { $0.lost = { _ in false } }
    try cluster.simulation.run(for: .seconds(60))
    #expect(told("changes cannot be taken in") == 1 && told("changes are taken in again") == 1)
  }
}
