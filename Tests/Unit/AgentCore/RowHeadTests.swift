import CaravanAgentCore
import CaravanModel
import Testing

@Suite("What happens to a row")
struct RowHeadTests {
  private let cells = RowChange(cells: true, objects: false)

  @Test("UNI-08: write, collect, accept: clean at the new version")
  func pushed() {
    var head = RowHead()
    #expect(head.write(RowChange(cells: true, objects: true)) == .none)
    let armed = head.collect()
    #expect(armed == RowChange(cells: true, objects: true))
    #expect(head.flags == RowFlags(syncPending: true))
    #expect(head.settle(.accepted(7, asDelete: false), armed: armed) == .clean)
    #expect(head == RowHead(version: 7))
  }

  @Test("the first change of a synced row keeps its ancestor, later ones do not")
  func ancestor() {
    var head = RowHead(version: 3)
    #expect(head.write(cells) == .keepAncestor)
    #expect(head.write(cells) == .none)
    let armed = head.collect()
    #expect(head.write(cells) == .none)
    #expect(head.settle(.accepted(4, asDelete: false), armed: armed) == .editedSince)
    #expect(head == RowHead(flags: RowFlags(tableDirty: true), version: 4))
  }

  @Test("SIM-64: an edit in flight arms the row again and is not lost by the result")
  func editInFlight() {
    var head = RowHead(flags: RowFlags(tableDirty: true), version: 0)
    let armed = head.collect()
    _ = head.write(RowChange(cells: false, objects: true))
    #expect(!head.flags.isCollectable, "SIM-65: not while the first push is out")
    #expect(head.settle(.accepted(9, asDelete: false), armed: armed) == .editedSince)
    #expect(head.flags == RowFlags(objectDirty: true) && head.base == .version(9))
  }

  @Test("E1: what was not applied is dirty again, with its objects")
  func rearmed() {
    for armed in [RowChange(cells: true, objects: false), RowChange(cells: true, objects: true)] {
      var head = RowHead(flags: RowFlags(syncPending: true), version: 2)
      #expect(head.settle(.notApplied, armed: armed) == .rearmed)
      #expect(head.flags == RowFlags(tableDirty: true, objectDirty: armed.objects))
    }
  }

  @Test("UNI-17: a row is open as long as one of its objects is, and no longer")
  func open() {
    var head = RowHead()
    head.open(2)
    head.close(1)
    #expect(head.flags.openObjects == 1)
    head.close(5)
    #expect(head.flags.openObjects == 0)
  }

  @Test("a write in place makes a row that was lost a changed one, and leaves any other what it was")
  func overwritten() {
    for (presence, after) in [(RowHead.Presence.live, RowHead.Presence.live), (.lost, .changedLost)] {
      var head = RowHead(version: 3, presence: presence)
      #expect(head.overwrite(1) == .keepAncestor)
      #expect(head.presence == after && head.flags.objectDirty && head.flags.openObjects == 1)
    }
  }

  @Test("SIM-16: a row never synced goes at once, a synced one leaves a tombstone until the cloud knows")
  func delete() {
    var new = RowHead(flags: RowFlags(tableDirty: true))
    #expect(new.delete() == .purge)
    var synced = RowHead(version: 5)
    #expect(synced.delete() == .keepAncestor)
    #expect(synced.presence == .deleted && synced.flags.isCollectable)
    let armed = synced.collect()
    #expect(synced.settle(.accepted(6, asDelete: true), armed: armed) == .remove)
  }

  @Test("a row written again while its deletion is in flight is a creation next")
  func recreated() {
    var head = RowHead(flags: RowFlags(syncPending: true), version: 5, presence: .deleted)
    _ = head.write(cells)
    #expect(head.settle(.accepted(6, asDelete: true), armed: cells) == .editedSince)
    #expect(head.base == .absent && head.presence == .live && head.flags.isCollectable)
  }

  @Test("an insert deleted while it is in flight is deleted at the cloud next")
  func deletedInFlight() {
    var head = RowHead(flags: RowFlags(syncPending: true))
    #expect(head.delete() == .none)
    #expect(head.settle(.accepted(8, asDelete: false), armed: cells) == .editedSince)
    #expect(head.base == .version(8) && head.presence == .deleted && head.flags.isCollectable)
  }

  @Test("SIM-68, UNI-09: a conflict stays until it is resolved; agreement is none")
  func conflicts() {
    var head = RowHead(flags: RowFlags(syncPending: true), version: 1)
    #expect(head.settle(.conflict(.init(version: 4, content: .different)), armed: cells) == .conflict)
    #expect(head.flags == RowFlags(tableDirty: true, inConflict: true) && !head.flags.isCollectable)
    var same = RowHead(flags: RowFlags(syncPending: true), version: 1)
    #expect(same.settle(.conflict(.init(version: 4, content: .same)), armed: cells) == .clean)
    #expect(same == RowHead(version: 4))
    var gone = RowHead(flags: RowFlags(syncPending: true), version: 1, presence: .deleted)
    #expect(gone.settle(.conflict(.init(version: 4, content: .deleted)), armed: cells) == .remove)
    var lost = RowHead(flags: RowFlags(syncPending: true), version: 1)
    #expect(lost.settle(.conflict(.init(version: 0, content: .deleted)), armed: cells) == .conflict)
  }

  @Test("SIM-27: mine, theirs and new")
  func resolution() {
    let conflicted = RowHead(flags: RowFlags(tableDirty: true, inConflict: true), version: 1)
    var head = conflicted
    #expect(head.resolve(.mine, server: 4, serverDeleted: false) == .keepLocal)
    #expect(head.base == .version(4) && head.flags == RowFlags(tableDirty: true, objectDirty: true))
    head = conflicted
    #expect(head.resolve(.theirs, server: 4, serverDeleted: false) == .takeServer)
    #expect(head == RowHead(version: 4))
    head = conflicted
    #expect(head.resolve(.theirs, server: 4, serverDeleted: true) == .remove)
    head = conflicted
    #expect(head.resolve(.new, server: 4, serverDeleted: true) == .keepLocal)
    #expect(head.base == .absent)
    head = conflicted
    head.presence = .deleted
    #expect(head.resolve(.mine, server: 4, serverDeleted: false) == .keepLocal)
    #expect(head.presence == .deleted && head.base == .version(4) && head.flags == RowFlags(tableDirty: true))
  }

  struct Case: Sendable {
    let name: String
    let head: RowHead?
    let arrival: Arrival
    var isBusy = false
    let decision: ArrivalDecision
  }

  @Test("UNI-18: what a restore of the cloud took back is offered again, what it kept waits to be named")
  func restored() {
    let lost = [LostRange(after: 5, through: 100)]
    var kept = RowHead(version: 5)
    kept.reset(lost: lost)
    #expect(kept == RowHead(version: 5, presence: .unconfirmed) && kept.confirmed == 0)
    var taken = RowHead(version: 6)
    taken.reset(lost: lost)
    #expect(taken == RowHead(flags: Self.dirty, version: 6, presence: .lost))
    taken.reset()
    #expect(taken.presence == .lost, "also when it starts over once more")
    var edited = RowHead(flags: RowFlags(tableDirty: true, inConflict: true), version: 100)
    edited.reset(lost: lost)
    #expect(edited == RowHead(flags: Self.dirty, version: 100, presence: .changedLost))
    var deleted = RowHead(flags: Self.dirty, version: 7, presence: .deleted)
    deleted.reset(lost: lost)
    #expect(deleted == RowHead(flags: Self.dirty, version: 7, presence: .deletedLost))
    var later = RowHead(version: 101)
    later.reset(lost: lost)
    #expect(later.presence == .unconfirmed)
    var twice = [RowHead(version: 6), RowHead(flags: Self.dirty, version: 6, presence: .deleted)]
    for index in twice.indices {
      twice[index].reset()
      twice[index].reset(lost: lost)
    }
    #expect(twice == [taken, deleted].map { RowHead(flags: $0.flags, version: 6, presence: $0.presence) })
    var partial = RowHead(version: 6)
    partial.reset(lost: lost, isWhole: false)
    #expect(partial == RowHead(version: 0, presence: .torn), "what is not whole is not offered")
    for arrival in [Arrival(version: 4), Arrival(version: 4, isDeleted: true), Arrival(version: 4, origin: .own)] {
      #expect(ArrivalDecision.of(arrival, at: taken, isBusy: false) == .ignore, "it was made from that")
    }
    #expect(ArrivalDecision.of(Arrival(version: 101), at: taken, isBusy: false) == .hold, "the cloud must say")
    #expect(ArrivalDecision.of(Arrival(version: 101, isDeleted: true), at: taken, isBusy: false) == .hold)
    #expect(ArrivalDecision.of(Arrival(version: 101, likeness: .local), at: taken, isBusy: false) == .apply)
    #expect(ArrivalDecision.of(Arrival(version: 101, likeness: .local), at: deleted, isBusy: false) == .hold)
    #expect(taken.endResync() == .stay && deleted.endResync() == .stay)
  }

  @Test("UNI-18: what is offered is the cloud's, or an app's change since, once the cloud has answered")
  func offered() {
    let offer = RowHead(flags: Self.dirty, version: 6, presence: .lost)
    var taken = offer
    let armed = taken.collect()
    #expect(taken.base == .version(6))
    #expect(taken.settle(.accepted(104, asDelete: false), armed: armed) == .clean && taken == RowHead(version: 104))
    var edited = offer
    #expect(edited.write(armed) == .keepAncestor && edited.presence == .changedLost && edited.write(armed) == .none)
    let change = edited.collect()
    #expect(edited.settle(.conflict(.init(version: 101, content: .different)), armed: change) == .conflict)
    #expect(edited == RowHead(flags: RowFlags(tableDirty: true, inConflict: true), version: 6))
    var deleted = offer
    #expect(deleted.delete() == .keepAncestor && deleted.presence == .deletedLost)
    let deletion = deleted.collect()
    #expect(deleted.write(armed) == .none && deleted.presence == .changedLost, "it is written again meanwhile")
    #expect(deleted.settle(.accepted(0, asDelete: true), armed: deletion) == .editedSince)
    #expect(deleted == RowHead(flags: Self.dirty, version: 0))
  }

  static let dirty = RowFlags(tableDirty: true)
  static let cases: [Case] = [
    Case(name: "new row", head: nil, arrival: Arrival(version: 3), decision: .insert),
    Case(name: "unknown tombstone", head: nil, arrival: Arrival(version: 3, isDeleted: true), decision: .ignore),
    Case(name: "echo of nothing", head: nil, arrival: Arrival(version: 3, origin: .own), decision: .unexplained),
    Case(name: "clean, newer", head: RowHead(version: 2), arrival: Arrival(version: 3), decision: .apply),
    Case(name: "SIM-04 clean, older", head: RowHead(version: 4), arrival: Arrival(version: 3), decision: .ignore),
    Case(name: "own, known", head: RowHead(version: 3), arrival: Arrival(version: 3, origin: .own), decision: .ignore),
    Case(
      name: "clean, deleted", head: RowHead(version: 2), arrival: Arrival(version: 3, isDeleted: true),
      decision: .remove),
    Case(name: "3(c) TD", head: RowHead(flags: dirty, version: 2), arrival: Arrival(version: 3), decision: .conflict),
    Case(
      name: "E2 OD alone", head: RowHead(flags: RowFlags(objectDirty: true), version: 2), arrival: Arrival(version: 3),
      decision: .conflict),
    Case(
      name: "same on both sides", head: RowHead(flags: dirty, version: 2),
      arrival: Arrival(version: 3, likeness: .local),
      decision: .apply),
    Case(
      name: "deleted here, changed there", head: RowHead(flags: dirty, version: 2, presence: .deleted),
      arrival: Arrival(version: 3), decision: .conflict),
    Case(
      name: "deleted on both sides", head: RowHead(flags: dirty, version: 2, presence: .deleted),
      arrival: Arrival(version: 3, isDeleted: true), decision: .remove),
    Case(
      name: "changed here, deleted there", head: RowHead(flags: dirty, version: 2),
      arrival: Arrival(version: 3, isDeleted: true), decision: .conflict),
    Case(
      name: "in flight, foreign", head: RowHead(flags: RowFlags(syncPending: true), version: 2),
      arrival: Arrival(version: 3), decision: .hold),
    Case(
      name: "in flight, own", head: RowHead(flags: RowFlags(syncPending: true), version: 2),
      arrival: Arrival(version: 3, origin: .own), decision: .ignore),
    Case(name: "open", head: RowHead(version: 2), arrival: Arrival(version: 3), isBusy: true, decision: .hold),
    Case(
      name: "in conflict, newer", head: RowHead(flags: RowFlags(tableDirty: true, inConflict: true), version: 2),
      arrival: Arrival(version: 5), decision: .conflict),
    Case(
      name: "echo of a deletion, written again since", head: RowHead(flags: dirty),
      arrival: Arrival(version: 5, isDeleted: true, origin: .own), decision: .ignore),
    Case(
      name: "echo after a reset", head: RowHead(presence: .unconfirmed), arrival: Arrival(version: 5, origin: .own),
      decision: .adopt),
    Case(
      name: "torn, any copy", head: RowHead(presence: .torn), arrival: Arrival(version: 5), decision: .apply),
  ]

  @Test("SIM-67, SIM-68, SIM-72: what an entry does to its row", arguments: cases.indices)
  func arrival(index: Int) {
    let line = Self.cases[index]
    #expect(ArrivalDecision.of(line.arrival, at: line.head, isBusy: line.isBusy) == line.decision, "\(line.name)")
  }

  @Test("UNI-02: where the cloud decides, what would be a conflict waits, unless the row cannot be sent")
  func cloudDecides() {
    for line in Self.cases {
      let decision = ArrivalDecision.of(line.arrival, at: line.head, isBusy: line.isBusy, cloudDecides: true)
      let isContested = line.decision == .conflict && line.head?.flags.inConflict == false
      #expect(decision == (isContested ? .hold : line.decision), "\(line.name)")
    }
    let torn = RowHead(flags: Self.dirty, version: 2, presence: .torn)
    #expect(ArrivalDecision.of(Arrival(version: 3), at: torn, isBusy: false, cloudDecides: true) == .conflict)
  }
}
