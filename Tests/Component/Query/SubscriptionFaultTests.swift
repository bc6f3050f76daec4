import CaravanBus
import CaravanModel
import CaravanQueryCore
import CaravanQueryDriver
import CaravanRuntime
import CaravanStorageClient
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: whoever reads the log of their notifications knows what is in the answer, or that they are to ask anew, also
/// where several instances write it, and where it takes nothing for a while. Method: the service on a simulated bus
/// with real storage; the log is read as storage has it, and written as another instance would.
@Suite(.timeLimit(.minutes(2))) struct SubscriptionFaultTests {
  private static var log: ZoneID { get throws { try zone(NotificationLog.name) } }
  private static let source = Partition(of: album).number + 1

  /// - Parameter engine: `.sqlite` where each instance is to have an index of its own.
  private static func started(_ engine: IndexEngine = IndexRoom.usual) throws -> (
    Cluster, Cluster.Instance, CaravanModel.RecordType
  ) {
    let cluster = try Cluster(seed: 12, engine)
    let instance = try cluster.startQuery()
    let type = try cluster.define(photos)
    try cluster.waitUntilServed()
    try cluster.subscribe(.records("five", "date = 5"))
    return (cluster, instance, type)
  }

  private static func fields(_ number: Int64) -> RecordFields { RecordFields([2: .integer(number)]) }

  private static func stop(_ instance: Cluster.Instance, _ cluster: Cluster) throws {
    instance.service.shutDown()
    try cluster.simulation.run(within: .seconds(5)) { instance.task.result != nil }
  }

  /// Nothing of the query service reaches the log.
  private static func mute(_ cluster: Cluster) {
    cluster.faults.set { rules in
      rules.lost = { $0.sender == "query" && ($0.subject.hasSuffix(".commit") || $0.subject.hasSuffix(".commits")) }
    }
  }

  @Test("CK-82, CK-83: what others may have told, and not all of it, is told as missed by who comes back after them")
  func returned() throws {
    let (cluster, first, type) = try Self.started(.sqlite)
    try cluster.subscribe(CaravanModel.StandingQuery(id: "zones", .zones))
    try cluster.save([("x", Self.fields(5))], type: type, to: zone("photos"))
    #expect(try cluster.log(atLeast: 2).map(\.reason) == [.zoneMade, .enters])
    try Self.stop(first, cluster)
    let other = try cluster.startQuery("other")
    _ = try cluster.log(atLeast: 4)
    try cluster.save([("y", Self.fields(5))], type: type, to: zone("photos"))
    #expect(try cluster.log(atLeast: 5).map(\.reason).suffix(3) == [.missed, .missed, .enters])
    try Self.stop(other, cluster)
    // It leaves the answer while nobody listens: of that the first instance, which never had it, would not say a word.
    try cluster.save([("y", Self.fields(6))], type: type, to: zone("photos"))
    try cluster.drop(zone("elsewhere"))
    let again = try cluster.startQuery()
    let told = try cluster.log(atLeast: 6)
    #expect(told.last?.reason == .missed && told.last?.zone == "photos" && told.last?.subscription == "five")
    try Self.stop(again, cluster)
    // Nobody else served meanwhile: it knows what it told.
    try cluster.save([("x", Self.fields(7))], type: type, to: zone("photos"))
    _ = try cluster.startQuery()
    let last = try cluster.log(atLeast: 7)
    #expect(last.last?.reason == .leaves && last.last?.record == "x")
    #expect(last.map(\.number) == Array(1...7))
  }

  @Test("CK-83: what an instance could not tell before others served is not told as news when it comes back")
  func late() throws {
    let (cluster, first, type) = try Self.started(.sqlite)
    Self.mute(cluster)
    try cluster.save([("x", Self.fields(5))], type: type, to: zone("photos"))
    try cluster.settle()
    try Self.stop(first, cluster)
    cluster.faults.set { $0.lost = { _ in false } }
    let other = try cluster.startQuery("other")
    #expect(try cluster.log(atLeast: 1).map(\.reason) == [.missed])
    try Self.stop(other, cluster)
    _ = try cluster.startQuery()
    #expect(try cluster.log(atLeast: 2).map(\.reason) == [.missed, .missed])
  }

  @Test("CK-86: what another instance has written to the log is not written over, and what it told is not told again")
  func twoWriters() throws {
    let (cluster, _, type) = try Self.started()
    try cluster.save([("x", Self.fields(5))], type: type, to: zone("photos"))
    #expect(try cluster.log(atLeast: 1).map(\.number) == [1])
    typealias Field = NotificationLog.Field
    let theirs = RecordFields([
      Field.subscription.rawValue: .text("five"), Field.reason.rawValue: .text("enters"),
      Field.source.rawValue: .integer(Int64(Self.source)), Field.number.rawValue: .integer(2),
      Field.zone.rawValue: .text("photos"), Field.record.rawValue: .text("theirs"), Field.version.rawValue: .integer(9),
    ])
    try cluster.save([("\(Self.source)-2", theirs)], type: NotificationLog.type, to: try Self.log)
    try cluster.save([("y", Self.fields(5))], type: type, to: zone("photos"))
    let told = try cluster.log(atLeast: 3)
    #expect(told.map(\.record) == ["x", "theirs", "y"])
    #expect(told.map(\.number) == [1, 2, 3])
  }

  @Test("CK-83: of a subscription that is another now, nothing is told that its former query found")
  func replaced() throws {
    let (cluster, _, type) = try Self.started()
    try cluster.save([("x", Self.fields(1))], type: type, to: zone("photos"))
    // The log has no room, and what is written over takes none.
    try cluster.haveRoom(0)
    try cluster.save([("x", Self.fields(5))], type: type, to: zone("photos"))
    try cluster.settle()
    try cluster.subscribe(.records("five", "date = 6"))
    try cluster.haveRoom(1_000)
    try cluster.save([("y", Self.fields(6))], type: type, to: zone("photos"))
    #expect(try cluster.log(atLeast: 1).map(\.record) == ["y"])
  }

  @Test("CK-86: numbers go on after all that had one have expired, so that nobody takes a new one for an old one")
  func expired() throws {
    let (cluster, first, type) = try Self.started()
    try cluster.save([("x", Self.fields(5)), ("y", Self.fields(5))], type: type, to: zone("photos"))
    #expect(try cluster.log(atLeast: 2).map(\.number) == [1, 2])
    try Self.stop(first, cluster)
    try cluster.delete(["\(Self.source)-1", "\(Self.source)-2"], from: try Self.log)
    _ = try cluster.startQuery()
    try cluster.save([("z", Self.fields(5))], type: type, to: zone("photos"))
    try cluster.simulation.run(for: .seconds(5))
    let told = try cluster.toldNow()
    #expect(told.map(\.record) == ["z"] && told.allSatisfy { $0.number > 2 })
    // Whoever reads it knows that nothing is missing below.
    #expect(told.map { $0.log[NotificationLog.Field.since.rawValue] } == told.map { .integer($0.number) })
  }

  @Test("CK-86: a log that takes nothing for long is told that something was missed, in place of more than it keeps")
  func overflow() throws {
    let (cluster, instance, type) = try Self.started()
    Self.mute(cluster)
    for start in stride(from: 0, to: Int(NotificationLog.kept) + 200, by: 200) {
      let rows = (start..<start + 200).map { ("r\($0)", Self.fields(5)) }
      try cluster.save(rows, type: type, to: zone("photos"))
    }
    try cluster.settle()
    try cluster.simulation.run(for: .seconds(30))
    cluster.faults.set { $0.lost = { _ in false } }
    let told = try cluster.log(atLeast: 1)
    #expect(told.map(\.reason) == [.missed] && told.map(\.zone) == [""])
    #expect(instance.count("caravan_query_notifications_lost_total") == NotificationLog.kept + 200)
    try cluster.save([("r0", Self.fields(6))], type: type, to: zone("photos"))
    #expect(try cluster.log(atLeast: 2).map(\.reason) == [.missed, .leaves])
  }
}

extension Cluster {
  /// The user has room for so many records more.
  fileprivate func haveRoom(_ records: UInt64) throws {
    let account = Account.user(alice, .development)
    try simulation.run { () async throws in
      let used = try await self.storage.quota(QuotaRequest(), of: account).used
      let quota = CaravanWire.Quota(
        maxRecords: UInt64(clamping: used.records) + records, maxBytes: UInt64(clamping: used.bytes) + records * 1_000)
      _ = try await self.storage.quota(QuotaRequest(set: quota), of: account)
    }
  }

  fileprivate func toldNow() throws -> [Told] {
    let zone = try zone(NotificationLog.name, in: album)
    return try simulation.run {
      let request = ReadChangesRequest(zone: ZoneRef(zone), maxRecords: 1_000, maxBytes: 1 << 20)
      let entries = try await EntryPage.decode(self.storage.changes(of: zone, request).page).entries
      return try entries.filter { !$0.deleted }.map(Told.init)
    }
  }
}
