import CaravanModel
import Testing

@Suite struct DefaultZoneTests {
  @Test("CK-10: where a record lies never changes, and records spread evenly")
  func shards() {
    #expect(["a", "record-1", ""].map { DefaultZone.shard(of: $0, among: 16) } == [2, 7, 1])
    for count in [2, 16, 64] as [UInt32] {
      var records = [Int](repeating: 0, count: Int(count))
      for number in 0..<6_400 { records[Int(DefaultZone.shard(of: "row\(number)", among: count))] += 1 }
      let mean = 6_400 / Int(count)
      #expect(records.allSatisfy { $0 > mean / 2 && $0 < mean * 2 }, "\(count): \(records)")
    }
    #expect(DefaultZone.shard(of: "anything", among: 1) == 0)
  }

  @Test("CK-10: shards of a database lie in partitions apart; the first is where the database is")
  func partitions() {
    let database = DatabaseID(container: ContainerID(unchecked: "album"), environment: .development, owner: nil)
    let shards = (0..<ContainerSettings.mostShards).map { Partition(of: database.shard($0)) }
    #expect(shards[0] == Partition(of: database) && Set(shards).count == Int(ContainerSettings.mostShards))
  }

  @Test("Owner and shard are one word in tables, and are read back")
  func ownerText() throws {
    let container = ContainerID(unchecked: "album")
    for (owner, shard, text) in [(nil, 0, ""), (nil, 3, "#3"), ("ann", 0, "ann"), ("ann", 63, "ann#63")]
      as [(String?, UInt32, String)]
    {
      let database = DatabaseID(
        container: container, environment: .development, owner: owner.map { UserID(unchecked: $0) }, shard: shard)
      #expect(database.ownerText == text)
      #expect(try DatabaseID(container: container, environment: .development, ownerText: text) == database)
    }
    for text in ["#", "#64", "#x", "ann#", "ann#1#2", "Ann", "a b#1"] {
      #expect(throws: CaravanError.self) {
        try DatabaseID(container: container, environment: .development, ownerText: text)
      }
    }
  }

  @Test("CK-10: a number of shards that cannot be is refused")
  func settings() throws {
    try ContainerSettings().check()
    for count in [0, 65] as [UInt32] {
      #expect(throws: CaravanError.self) { try ContainerSettings(publicShards: count).check() }
      #expect(throws: CaravanError.self) { try ContainerSettings(privateShards: count).check() }
    }
  }
}
