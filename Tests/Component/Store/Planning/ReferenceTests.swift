import CaravanModel
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: no reference ever dangles, owners take along what they own, and nothing else goes (I3). Method: small families
/// on the planner alone, then random ones against a plain graph.
@Suite struct ReferenceTests {
  private static func owning(_ target: String) -> CaravanModel.Reference { CaravanModel.Reference(to: target, .owning) }
  private static func validating(_ target: String) -> CaravanModel.Reference {
    CaravanModel.Reference(to: target, .validating)
  }

  private func refusal(_ verdict: ZoneCommit.Verdict?) -> ErrorCode? {
    if case .refused(let error)? = verdict { error.code } else { nil }
  }

  @Test("CK-27: an owner's deletion takes along its own, and theirs, each once; seqs are contiguous")
  func cascade() {
    var zone = PlannedZone()
    zone.commit([Sample.save("list"), Sample.save("other")])
    zone.commit([Sample.link("a", to: [Self.owning("list")]), Sample.link("b", to: [Self.owning("list")])])
    zone.commit([
      Sample.link("a1", to: [Self.owning("a")]), Sample.link("x", to: [Self.owning("other")]),
      Sample.link("plain", to: [CaravanModel.Reference(to: "list")]),
    ])
    let before = zone.seq
    #expect(zone.commit(Sample.delete("list")) == .accepted(version: before + 1))
    #expect(zone.live == ["other", "plain", "x"] && zone.seq == before + 4)
    let tombstones = ["list", "a", "b", "a1"].compactMap { zone.entries[$0]?.version }
    #expect(tombstones == (before + 1...before + 4).map { $0 })
    // Who deleted the list did not ask for the rest: it must hear of it.
    #expect(zone.flags["list"]?.contains(.unseen) == false && zone.flags["a1"]?.contains(.unseen) == true)
    #expect(zone.rounds == 4, "heads, who refers to the list, to its own, to theirs")
  }

  @Test("CK-27: the first owner's deletion suffices; circles end")
  func owners() {
    var zone = PlannedZone()
    zone.commit([Sample.save("p"), Sample.save("q"), Sample.save("self")])
    zone.commit([Sample.link("child", to: [Self.owning("p"), Self.owning("q")])])
    zone.commit([Sample.link("self", to: [Self.owning("self")])])
    zone.commit([Sample.save("c1")])
    zone.commit([Sample.link("c2", to: [Self.owning("c1")])])
    zone.commit([Sample.link("c1", to: [Self.owning("c2")])])
    zone.commit(Sample.delete("q"))
    #expect(zone.live == ["c1", "c2", "p", "self"])
    zone.commit(Sample.delete("c2"))
    zone.commit(Sample.delete("self"))
    #expect(zone.live == ["p"])
  }

  @Test("CK-28: what is referred to stays, until the reference is gone; to refer, it must be there")
  func validating() {
    var zone = PlannedZone()
    #expect(refusal(zone.commit(Sample.link("bill", to: [Self.validating("person")]))) == .referenceViolation)
    #expect(refusal(zone.commit(Sample.link("bill", to: [Self.owning("person")]))) == .referenceViolation)
    zone.commit(Sample.save("person"))
    zone.commit(Sample.link("bill", to: [Self.validating("person")]))
    let before = zone.seq
    #expect(refusal(zone.commit(Sample.delete("person"))) == .referenceViolation && zone.seq == before)
    zone.commit(Sample.link("bill", to: []))
    #expect(zone.commit(Sample.delete("person")) == .accepted(version: before + 2))
    #expect(refusal(zone.commit(Sample.link("bill", to: [Self.validating("person")]))) == .referenceViolation)
  }

  @Test("CK-28: a validating reference inside what goes holds nothing back; one from outside holds all of it")
  func mixed() {
    var zone = PlannedZone()
    zone.commit(Sample.save("root"))
    zone.commit(Sample.link("a", to: [Self.owning("root")]))
    zone.commit(Sample.link("b", to: [Self.owning("root"), Self.validating("a")]))
    zone.commit(Sample.link("outside", to: [Self.validating("b")]))
    #expect(refusal(zone.commit(Sample.delete("root"))) == .referenceViolation)
    #expect(zone.live == ["a", "b", "outside", "root"])
    zone.commit(Sample.delete("outside"))
    zone.commit(Sample.delete("root"))
    #expect(zone.live == [])
  }

  @Test("CK-28: mutations that stand alone see those before them; an atomic batch is judged at its end")
  func batches() {
    let pair = [Sample.link("bill", to: [Self.validating("person")]), Sample.save("person")]
    var zone = PlannedZone()
    let alone = zone.commit(pair)
    #expect(refusal(alone[0]) == .referenceViolation && alone[1] == .accepted(version: 1))
    zone = PlannedZone()
    #expect(zone.commit(pair, atomic: true) == [.accepted(version: 1), .accepted(version: 2)])
    #expect(refusal(zone.commit([Sample.delete("person"), Sample.delete("bill")])[0]) == .referenceViolation)
    zone = PlannedZone()
    zone.commit(pair, atomic: true)
    #expect(zone.commit([Sample.delete("person"), Sample.delete("bill")], atomic: true).count == 2)
    #expect(zone.live == [])
    let broken = zone.commit([Sample.save("n"), Sample.link("bill", to: [Self.validating("person")])], atomic: true)
    #expect(broken[0] == .aborted && refusal(broken[1]) == .referenceViolation && zone.live == [])
  }

  @Test("CK-27: what a commit itself gives an owner, or takes from one, counts in the same commit")
  func sameCommit() {
    var zone = PlannedZone()
    zone.commit([Sample.save("list"), Sample.save("free")])
    zone.commit(Sample.link("was", to: [Self.owning("list")]))
    zone.commit(Sample.link("grandchild", to: [Self.owning("free")]))
    // `free` gets the list as its owner and goes with it, and its own child too; `was` is set free before.
    zone.commit([
      Sample.link("free", to: [Self.owning("list")]), Sample.link("was", to: []), Sample.delete("list"),
    ])
    #expect(zone.live == ["was"])
  }

  @Test("CK-27: a commit deletes so many and no more, and says so; within the bound, chains of any depth")
  func limits() {
    var zone = PlannedZone()
    zone.commit(Sample.save("root"))
    for start in stride(from: 0, through: Limits.cascadedRecords, by: 400) {
      let names = start..<min(start + 400, Limits.cascadedRecords + 1)
      zone.commit(names.map { Sample.link("c\($0)", to: [Self.owning("root")]) })
    }
    #expect(zone.live.count == Limits.cascadedRecords + 2)
    #expect(refusal(zone.commit(Sample.delete("root"))) == .limitExceeded)
    zone.commit(Sample.delete("c0"))
    zone.commit(Sample.delete("root"))
    #expect(zone.live == [])

    zone = PlannedZone()
    zone.commit(Sample.save("0"))
    for depth in 1...300 { zone.commit(Sample.link("\(depth)", to: [Self.owning("\(depth - 1)")])) }
    zone.commit(Sample.delete("0"))
    #expect(zone.live == [] && zone.rounds == 302)
  }

  @Test("CK-27: of two deletes that together are too many, none is half done")
  func halves() {
    var zone = PlannedZone()
    zone.commit([Sample.save("x"), Sample.save("y"), Sample.save("keeper")])
    for start in stride(from: 0, to: 3_000, by: 400) {
      let names = start..<min(start + 400, 3_000)
      zone.commit(names.map { Sample.link("x\($0)", to: [Self.owning("x")]) })
      zone.commit(names.map { Sample.link("y\($0)", to: [Self.owning("y")]) })
    }
    zone.commit(Sample.link("keeper", to: [Self.validating("x7")]))
    let verdicts = zone.commit([Sample.delete("x"), Sample.delete("y")])
    #expect(verdicts.map { refusal($0) } == [.limitExceeded, .limitExceeded] && zone.live.count == 6_003)
    #expect(refusal(zone.commit(Sample.delete("x"))) == .referenceViolation)
    #expect(zone.commit(Sample.delete("y")) == .accepted(version: zone.seq - 3_000) && zone.live.count == 3_002)
  }

  @Test(
    "I3: random families: nothing dangles, and only what had an owner went", arguments: 1...20 as ClosedRange<UInt64>)
  func random(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var zone = PlannedZone()
    for _ in 0..<120 {
      let names = Set(
        (0...Int.random(in: 0..<4, using: &random)).map { _ in "r\(Int.random(in: 0..<12, using: &random))" })
      let mutations = names.sorted().map { name in
        if Int.random(in: 0..<3, using: &random) == 0 { return Sample.delete(name) }
        let references = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
          CaravanModel.Reference(
            to: "r\(Int.random(in: 0..<12, using: &random))", Bool.random(using: &random) ? .owning : .validating)
        }
        return Sample.link(name, to: references)
      }
      let before = zone
      let verdicts = zone.commit(mutations, atomic: Bool.random(using: &random))
      for name in zone.live {
        for reference in zone.references[name] ?? [] {
          #expect(zone[reference.target] != nil, "\(name) → \(reference.target), seed \(seed)")
        }
      }
      let asked = Set(zip(mutations, verdicts).filter { $0.0.change == .delete && $0.1.isAccepted }.map(\.0.name))
      for name in before.live where zone[name] == nil && !asked.contains(name) {
        let owners = ((before.references[name] ?? []) + (mutations.first { $0.name == name }?.terms?.references ?? []))
          .filter { $0.kind == .owning }
        #expect(owners.contains { zone[$0.target] == nil || $0.target == name }, "\(name) went alone, seed \(seed)")
      }
    }
  }
}

extension ZoneCommit.Verdict {
  fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
