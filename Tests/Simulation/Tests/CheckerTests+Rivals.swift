import CaravanSimulation
import CaravanTestKit
import Testing

/// What a restore does to conflicts and to what was decided in them.
extension CheckerTests {
  @Test(
    "UNI-18: what was in conflict with a change that the cloud forgot may be so with the backup's copy",
    arguments: [true, false])
  func forgottenRival(_ isRival: Bool) {
    var history = Self.sound
    history.restores = 1
    history.forget { $0.seq == 3 }
    let edit = Self.write(Self.tag(4, "d2"), .update, over: [isRival ? Self.tag(2, "d2") : Self.tag(3)], .attempted)
    history.writes[edit.tag] = edit
    history.decisions = [
      Decision(Self.row, device: "d2", mine: edit.tag, theirs: Self.tag(2, "d2"), choice: .theirs)
    ]
    let found = Self.violations(history).filter { $0.invariant.hasPrefix("I7") }
    #expect(found.isEmpty == isRival, "\(found)")
  }

  @Test("UNI-15, UNI-18: who gave way to what the cloud forgot may see what was before it", arguments: [true, false])
  func gaveWay(_ isForgotten: Bool) {
    var history = Self.sound
    let edit = Self.write(Self.tag(4, "d2"), .update, over: [Self.tag(2, "d2")])
    history.writes[edit.tag] = edit
    history.decisions = [
      Decision(
        Self.row, device: "d2", mine: edit.tag, theirs: Self.tag(3), choice: .theirs, standing: .acknowledged)
    ]
    history.acknowledged["d2", default: []] += [.write(edit.tag), .decision(0)]
    history.shares = ["d2": [Self.place: [.numbers(8..<9)]]]
    history.readings += [
      Reading(
        device: "d2", place: Self.place, ownWrites: 2, versions: 3, rows: [Self.seen(edit.tag, at: 2, isClean: false)]),
      Reading(
        device: "d2", place: Self.place, ownWrites: 3, versions: 3, rows: [Self.seen(Self.tag(2, "d2"), at: 2)]),
    ]
    if isForgotten {
      history.restores = 1
      history.forget { $0.seq == 3 }
    }
    let found = Self.violations(history).filter { $0.invariant.hasPrefix("I5") }
    #expect(found.isEmpty == isForgotten, "\(found)")
  }
}
