import CaravanModel
import CaravanRuntime
import CaravanStorageClient
import CaravanWire
import Testing

@testable import CaravanChangeStream

/// Goal: leases are shared fairly and never trusted too long. Method: the pure machine.
@Suite struct OwnershipTests {
  private func ownership(_ member: String) -> Ownership {
    Ownership(service: "notify", member: member, timing: LeaseTiming())
  }

  private func grant(_ name: String, by holder: String, token: UInt64 = 1, granted: Bool = true) -> LeaseGrant {
    LeaseGrant(name: name, granted: granted, token: token, holder: holder)
  }

  private let start = Instant(nanoseconds: 1_000_000_000)

  @Test("shares add up to all partitions and differ by one at most", arguments: [1, 2, 3, 5, 7, 64, 100])
  func shares(members: Int) {
    let machine = ownership("a")
    let shares = (0..<members).map { machine.share(of: $0, among: members) }
    #expect(shares.reduce(0, +) == 64)
    #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1)
    #expect(Set(machine.preference(of: members - 1, among: members)).count == 64)
  }

  @Test("alone: takes everything; with another: takes what is free up to its share") func plan() {
    let machine = ownership("a")
    #expect(machine.plan([]).acquire.count == 64)
    let others = (0..<40).map { grant("notify/\($0)", by: "b") } + [grant("notify/member/b", by: "b")]
    let plan = machine.plan(others)
    #expect(plan.acquire.map(\.number) == Array(40..<64))
    #expect(plan.release.isEmpty)
  }

  @Test("too much is given up when another comes") func release() {
    var machine = ownership("a")
    let names = Partition.all.map(machine.lease)
    _ = machine.answered(names.map { grant($0, by: "a") }, sent: start)
    let plan = machine.plan(names.map { grant($0, by: "a") } + [grant("notify/member/b", by: "b")])
    #expect(plan.release.count == 32)
    #expect(plan.acquire.isEmpty)
  }

  @Test("a lease counts from when it was asked for, less the margin; another token means it was somebody else's")
  func expiry() {
    var machine = ownership("a")
    let timing = LeaseTiming()
    let partition = Partition.all[3]
    #expect(machine.answered([grant("notify/3", by: "a", token: 5)], sent: start).gained == [partition])
    #expect(machine.held[partition]?.until == start + (timing.duration - timing.margin))
    let later = start + .seconds(1)
    #expect(machine.answered([grant("notify/3", by: "a", token: 5)], sent: later).lost.isEmpty)
    #expect(machine.held[partition]?.until == later + (timing.duration - timing.margin))
    #expect(machine.answered([grant("notify/3", by: "a", token: 7)], sent: later).lost == [partition])
    #expect(machine.held[partition] == nil)
  }

  @Test("who is silent twice in a row is gone; whoever is heard of in between is not") func dead() {
    var machine = ownership("a")
    let listed = [grant("notify/1", by: "b"), grant("notify/2", by: "c"), grant("notify/3", by: "a")]
    #expect(machine.others(listed) == ["b", "c"])
    #expect(machine.dead(unreachable: ["b"]).isEmpty)
    #expect(machine.suspects == ["b"])
    #expect(machine.dead(unreachable: ["c"]).isEmpty)
    #expect(machine.dead(unreachable: ["b", "c"]) == ["c"])
    #expect(machine.dead(unreachable: []).isEmpty)
    #expect(machine.suspects.isEmpty)
  }

  @Test("what the store refuses is lost at once") func refused() {
    var machine = ownership("a")
    _ = machine.answered([grant("notify/3", by: "a")], sent: start)
    let answer = machine.answered([grant("notify/3", by: "b", token: 2, granted: false)], sent: start)
    #expect(answer.lost == [Partition.all[3]])
    #expect(machine.answered([grant("notify/4", by: "b", granted: false)], sent: start).gained.isEmpty)
  }
}

/// Goal: no change is skipped and none taken twice. Method: table.
@Suite struct LogPositionTests {
  @Test(
    "what a hint means at position 5",
    arguments: [
      (5, [6], LogPosition.Verdict.take(from: 0)), (5, [6, 7], .take(from: 0)), (4, [5, 6], .take(from: 1)),
      (3, [4, 5], .known), (5, [], .known), (6, [7], .gap), (9, [10, 11], .gap),
      (6, [], .gap), (4, [], .known),
    ] as [(UInt64, [UInt64], LogPosition.Verdict)])
  func verdicts(row: (previous: UInt64, positions: [UInt64], verdict: LogPosition.Verdict)) {
    #expect(LogPosition(5).judge(previous: row.previous, positions: row.positions) == row.verdict)
  }
}
