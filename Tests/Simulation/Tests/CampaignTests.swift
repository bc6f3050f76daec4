import CaravanModel
import CaravanTestKit
import Foundation
import Testing

@testable import CaravanSimulation

/// Goal: a campaign goes where nobody was, forgets nothing, and makes a failure small. Method: values, and files in a
/// directory of the test's own.
@Suite struct CampaignTests {
  @Test("coverage counts what is new, once")
  func coverage() {
    var coverage = Coverage()
    #expect(coverage.add([1, 2, 64, 2]) == 3 && coverage.count == 3)
    #expect(coverage.add([2, 3]) == 1 && coverage.features == [1, 2, 3, 64])
    #expect(coverage.contains(64) && !coverage.contains(65))
    #expect(Coverage(coverage.features) == coverage)
    #expect(Coverage.feature("a > b") != Coverage.feature("b > a"))
  }

  @Test("an event's kind is without who, which row and how many")
  func kinds() {
    #expect(Signature.kind("0.130s #d3.5 insert in ann/notes/t2") == "insert in ann")
    #expect(Signature.kind("12.000s sync-2 starts") == Signature.kind("13.000s sync-1 starts"))
    let (one, other) = (Signature(), Signature())
    for event in ["storage dies", "storage starts"] { one.note(event) }
    for event in ["storage starts", "storage dies"] { other.note(event) }
    #expect(one.features.count == 2 && one.features != other.features)
  }

  @Test("what showed something new is varied, new seeds go on, and the same course is taken again")
  func choice() {
    func plays(_ campaign: inout Campaign, _ count: Int) -> [Play] {
      (0..<count).map { _ in
        let play = campaign.next()
        campaign.take(play, features: play == Play(3) ? Array(0..<500) : [1], failures: [])
        return play
      }
    }
    var (campaign, twin) = (Campaign(), Campaign())
    let played = plays(&campaign, 400)
    #expect(played == plays(&twin, 400))
    let fresh = played.filter { $0.variation == Variation() }.map(\.seed)
    #expect(fresh == Array(1...UInt64(fresh.count)) && (150..<250).contains(fresh.count))
    // Of what was varied nearly all is of the cluster that showed much, and each is another cluster.
    let varied = played.filter { $0.variation != Variation() }
    #expect(varied.count { $0.seed == 3 } > varied.count * 9 / 10)
    #expect(Set(varied).count > varied.count / 2)
    #expect(campaign.kept.map(\.play) == [Play(1), Play(3)] && campaign.played == 400)
  }

  @Test("a cluster that had many turns makes room for others")
  func turns() {
    var campaign = Campaign()
    for seed in 1...2 { campaign.take(Play(UInt64(seed)), features: [seed * 2, seed * 2 + 1], failures: []) }
    for _ in 0..<400 { _ = campaign.next() }
    let varied = campaign.kept.map(\.varied)
    #expect(varied.allSatisfy { $0 > 50 }, "\(varied)")
  }

  @Test("a variation says in a line what it is, and is read from it")
  func text() throws {
    #expect(Variation("") == Variation() && Variation().text.isEmpty)
    for text in ["fault-seed=7", "time=250,devices=-1,faults=3,without=moves+rot"] {
      #expect(try #require(Variation(text)).text == text)
    }
    for text in ["time=0", "devices=9", "faults=-1", "without=gravity", "speed=1", "time"] {
      #expect(Variation(text) == nil, "\(text)")
    }
  }

  @Test("a varied cluster differs in that alone")
  func shapes() throws {
    for seed in 1...200 as ClosedRange<UInt64> {
      let own = Scale(seed: seed)
      var scale = own
      try #require(Variation("time=50,devices=2,without=query")).shape(&scale)
      #expect(scale.faultTime == own.faultTime / 2 && !scale.isQueried && scale.hasMoves == own.hasMoves)
      #expect(scale.devices.count == own.devices.count + 2)
      #expect(scale.shares.isEmpty || scale.shares.count == scale.devices.count)
      var small = own
      try #require(Variation("devices=-2")).shape(&small)
      // Each user keeps a device, and the first of two keeps both.
      #expect(small.devices.count == 1 + own.users.count && Set(small.devices.map(\.user)) == Set(own.users))
    }
  }

  // MARK: The file

  private func campaign() -> Campaign {
    var campaign = Campaign(from: 100)
    for _ in 0..<20 {
      let play = campaign.next()
      campaign.take(
        play, features: [Int(play.seed), 7 * campaign.played], failures: play.seed == 103 ? ["I1 lost: a row"] : [])
    }
    campaign.seconds = 4_321.5
    return campaign
  }

  @Test("what a campaign knows is read as it was written, and it goes on as if nobody had stopped it")
  func roundTrip() throws {
    var campaign = campaign()
    var read = try CampaignFile.campaign(CampaignFile.text(campaign))
    #expect(read == campaign && Set(read.failures.map(\.kind)) == ["I1 lost"])
    #expect((0..<20).map { _ in read.next() } == (0..<20).map { _ in campaign.next() })
    #expect(campaign.line.hasPrefix("1.2 hours, 20 seeds, "))
  }

  @Test("every damage of the text is noticed")
  func damage() throws {
    let text = try CampaignFile.text(campaign())
    for index in stride(from: 0, to: text.utf8.count, by: 7) {
      var bytes = Array(text.utf8)
      bytes[index] ^= 1
      #expect(throws: CaravanError.self) { try CampaignFile.campaign(String(decoding: bytes, as: UTF8.self)) }
      #expect(throws: CaravanError.self) { try CampaignFile.campaign(String(text.prefix(index))) }
    }
  }

  @Test("of a damaged file the one before it stands; if both are, nothing is overwritten")
  func files() throws {
    let directory = try TemporaryDirectory()
    let file = CampaignFile(directory: directory.path)
    #expect(try file.read().campaign == nil)
    var campaign = campaign()
    try file.write(campaign)
    let earlier = campaign
    campaign.take(Play(7), features: [77], failures: [])
    try file.write(campaign)
    #expect(try file.read().campaign == campaign && file.read().complaint == nil)
    // A write that was cut off is not looked at.
    try Data("caravan".utf8).write(to: URL(fileURLWithPath: file.path + ".new"))
    #expect(try file.read().campaign == campaign)
    try Data("caravan".utf8).write(to: URL(fileURLWithPath: file.path))
    #expect(try file.read().campaign == earlier && file.read().complaint?.contains("damaged") == true)
    try Data().write(to: URL(fileURLWithPath: file.former))
    #expect(throws: CaravanError.self) { try file.read() }
  }

  // MARK: Failures

  /// The smallest cluster, where one fails that `fails`.
  private func smallest(_ play: Play, rare: [Variation.Rare], fails: (Variation) -> Bool) -> Play {
    var shrinking = Shrinking(play, rare: rare)
    while let next = shrinking.next() { shrinking.took(hasFailed: fails(next.variation)) }
    #expect(shrinking.plays <= Shrinking.playsAtMost)
    return shrinking.smallest
  }

  @Test("of a failing cluster all is taken away that the failure does not need")
  func shrinking() throws {
    let small = smallest(Play(9), rare: [.moves, .rot, .pairs]) { variation in
      !variation.without.contains(.rot) && variation.faults ?? .max >= 5 && variation.time >= 40
        && variation.devices >= -1
    }
    #expect(small.variation.without == [.moves, .pairs] && small.variation.faults == 5)
    #expect(small.variation.devices == -1 && (40..<54).contains(small.variation.time))
    #expect(smallest(Play(9), rare: [.rot]) { _ in false } == Play(9))
    let least = smallest(Play(9), rare: []) { _ in true }
    #expect(
      least.variation.faults == 0 && least.variation.time == 10 && least.command.contains("--vary devices=-2") == false)
  }
}
