import CaravanModel
import Testing

@testable import CaravanDiffSync

/// Goal: every branch of the merge's steps does what requirements part 3.2 says. Method: the steps alone, on a few
/// diffs.
@Suite struct MergeStepTests {
  // MARK: Step 1

  @Test("DIF-20: a remote delete takes the object, all that is pending on it and the server's other diffs with it")
  func remoteDelete() {
    let merge = Merge.of(
      ["a": object(["n": 1]), "b": object()], log: [update("a", "n", 2, at: 9), update("b", "n", 3, at: 9)],
      server: [update("a", "n", 5, at: 10, height: 4), delete("a", height: 5)]
    ).after { $0.mergeDeletes() }
    #expect(merge.objects.bare == ["b": object(["n": 3])])
    #expect(merge.log == [update("b", "n", 3, at: 9)] && merge.server.isEmpty && merge.upstream.isEmpty)
  }

  @Test("DIF-20: a local delete drops what else is pending on the object and the server's diffs on it, and goes up")
  func localDelete() {
    let merge = Merge.of(
      ["a": object(["n": 1])], log: [update("a", "n", 2, at: 8), delete("a", at: 9)],
      server: [update("a", "n", 5, at: 10, height: 4), update("b", "n", 1, at: 1, height: 5)]
    ).after { $0.mergeDeletes() }
    #expect(merge.objects.isEmpty && merge.log.isEmpty)
    #expect(merge.server == [update("b", "n", 1, at: 1, height: 5)] && merge.upstream == [delete("a", at: 9)])
  }

  @Test("DIF-20: what was created and deleted here between two syncs never goes up")
  func neverKnown() {
    let merge = Merge.of(log: [create("a", at: 1), update("a", "n", 2, at: 2), delete("a", at: 3)]).run()
    #expect(merge.upstream.isEmpty && merge.objects.isEmpty)
  }

  @Test("DIF-20: a create that returns because its answer was lost is known: its delete goes up")
  func knownAfterAll() {
    let merge = Merge.of(
      log: [create("a", ["n": 1], at: 1), delete("a", at: 3)], server: [create("a", ["n": 1], at: 1, height: 7)]
    ).run(after: 7)
    #expect(merge.upstream == [delete("a", at: 3, height: 8, created: 7)] && merge.objects.isEmpty)
  }

  @Test("DIF-20, UNI-18: the delete goes up of what was to be given back after a restore, for others may have it")
  func deletedInsteadOfGivenBack() {
    var back = create("a", ["n": 1], at: 1)
    back.created = 5
    for isLast in [true, false] {
      let merge = Merge(
        objects: [:], log: [back, delete("a", at: 3)], server: [], serverTime: HybridStamp(rawValue: .max),
        isLast: isLast
      ).run(after: 7)
      #expect(merge.upstream.last == delete("a", at: 3, height: isLast ? 8 : 9, created: isLast ? 5 : nil))
      #expect(merge.upstream.count == (isLast ? 1 : 2) && merge.objects.isEmpty)
    }
  }

  @Test("DIF-20: deleted on both sides, nothing goes up")
  func deletedTwice() {
    let merge = Merge.of(["a": object()], log: [delete("a", at: 3)], server: [delete("a", height: 7)]).run(after: 7)
    #expect(merge.upstream.isEmpty && merge.objects.isEmpty)
  }

  // MARK: Steps 2 and 3

  @Test("DIF-21: of the local updates of a field the latest remains, of equal times the one logged last")
  func lastUpdates() {
    let merge = Merge.of(
      ["a": object()],
      log: [
        update("a", "n", 1, at: 5), update("a", "m", 1, at: 5), update("a", "n", 2, at: 4), update("a", "m", 3, at: 5),
      ]
    ).after { $0.keepLastUpdates() }
    #expect(merge.log == [update("a", "n", 1, at: 5), update("a", "m", 3, at: 5)])
  }

  @Test("DIF-22: updates of what is created here become part of the create, with their own times")
  func fold() {
    let merge = Merge.of(
      ["b": object()],
      log: [
        create("a", ["n": 1, "gone": 1], at: 1), update("b", "n", 9, at: 2), update("a", "n", 2, at: 3),
        update("a", "gone", nil, at: 4),
      ]
    ).after { $0.foldUpdatesIntoCreates() }
    let stamped = Stamped(.integer(2), at: HybridStamp(rawValue: 3))
    let emptied = Stamped(.null, at: HybridStamp(rawValue: 4))
    #expect(merge.log.first?.change == .create(["n": stamped, "gone": emptied]))
    #expect(merge.log.dropFirst() == [update("b", "n", 9, at: 2)])
  }

  @Test("DIF-21, DIF-24: a field that was emptied stays so when the object's own create comes back from the server")
  func emptiedCreateReturns() {
    let merge = Merge.of(
      ["a": object(["n": 1])], log: [create("a", ["n": 1, "gone": 1], at: 1), update("a", "gone", nil, at: 4)],
      server: [create("a", ["n": 1, "gone": 1], at: 1, height: 7)]
    ).run(after: 7)
    #expect(merge.upstream.map(\.change) == [.update(field: "gone", .null)])
    #expect(merge.objects.bare == ["a": object(["n": 1])])
  }

  // MARK: Steps 4 and 5

  @Test("DIF-23: what was created elsewhere is taken over, updates of greater heights folded over it, lower ones not")
  func serverCreate() {
    let merge = Merge.of(
      server: [
        update("a", "n", 0, at: 1, height: 3), create("a", ["n": 1, "m": 1], at: 1, height: 4),
        update("a", "n", 3, at: 9, height: 6), update("a", "n", 2, at: 5, height: 5),
      ]
    ).after { $0.applyServerCreates() }
    #expect(merge.objects.bare == ["a": object(["n": 3, "m": 1])] && merge.server.isEmpty)
  }

  @Test("DIF-23: our own create that returns with the same content is no change, and does not go up again")
  func ownCreateReturns() {
    let merge = Merge.of(
      log: [create("a", ["n": 1], at: 1)], server: [create("a", ["n": 1], at: 1, height: 4)]
    ).run(after: 4)
    #expect(merge.objects.bare == ["a": object(["n": 1])] && merge.upstream.isEmpty && merge.conflicts.isEmpty)
  }

  @Test("DIF-23: an object created on both sides with different content is a conflict, settled field by field")
  func createdTwice() {
    let merge = Merge.of(
      log: [create("a", ["n": 1, "m": 1, "mine": 1], at: 5)],
      server: [create("a", ["n": 2, "m": 2, "theirs": 2], at: 3, height: 4), update("a", "m", 7, at: 9, height: 5)]
    ).run(after: 5)
    #expect(merge.conflicts == ["a"])
    #expect(merge.objects.bare == ["a": object(["n": 1, "m": 7, "mine": 1, "theirs": 2])])
    #expect(merge.upstream == [update("a", "mine", 1, at: 5, height: 6), update("a", "n", 1, at: 5, height: 7)])
  }

  @Test("DIF-23: a create of what is here says what it is now: other fields go, unless an update of ours is pending")
  func createOfPresent() {
    let merge = Merge.of(
      ["a": object(["n": 1, "old": 1])], log: [update("a", "mine", 4, at: 2), update("a", "n", 4, at: 2)],
      server: [create("a", ["n": 2, "new": 2], at: 3, height: 4)]
    ).run(after: 4)
    #expect(merge.objects.bare == ["a": object(["n": 2, "new": 2, "mine": 4])])
    #expect(merge.upstream == [update("a", "mine", 4, at: 2, height: 5)])
  }

  @Test("DIF-23, DIF-25: a create tells of fields that were emptied, and when: an older update of ours does not return")
  func emptiedInCreate() {
    var theirs = create("a", ["n": 2], at: 3, height: 4)
    let times: [(String, UInt64)] = [("late", 9), ("early", 1)]
    var fields = ["n": Stamped(.integer(2), at: HybridStamp(rawValue: 3))]
    for (field, time) in times { fields[field] = Stamped(.null, at: HybridStamp(rawValue: time)) }
    theirs.change = .create(fields)
    let merge = Merge.of(
      ["a": object()], log: [update("a", "late", 4, at: 5), update("a", "early", 4, at: 5)], server: [theirs]
    ).run(after: 4)
    #expect(merge.objects.bare == ["a": object(["n": 2, "early": 4])])
    #expect(merge.upstream == [update("a", "early", 4, at: 5, height: 5)])
    #expect(Merge.of(server: [theirs]).run(after: 4).objects.bare == ["a": object(["n": 2])])
  }

  @Test("DIF-24: local creates go up in the order they were logged")
  func localCreates() {
    let merge = Merge.of(log: [create("b", at: 2), create("a", at: 1)]).after { $0.sendCreates() }
    #expect(merge.upstream.map(\.uuid) == ["b", "a"] && merge.log.isEmpty)
  }

  // MARK: Step 6

  @Test("DIF-25: the later update of a field wins; a tie is the server's; other fields and objects are left alone")
  func compare() {
    let objects = ["a": object(["n": 0, "m": 0, "t": 0, "x": 0, "y": 0])]
    let merge = Merge.of(
      objects,
      log: [
        update("a", "n", 1, at: 5), update("a", "m", 1, at: 5), update("a", "t", 1, at: 5), update("a", "x", 1, at: 5),
      ],
      server: [
        update("a", "n", 2, at: 6, height: 1), update("a", "m", 2, at: 4, height: 2),
        update("a", "t", 2, at: 5, height: 3), update("a", "y", 2, at: 1, height: 4),
      ]
    ).after { $0.compareUpdates() }
    #expect(merge.objects.bare == ["a": object(["n": 2, "m": 1, "t": 2, "x": 1, "y": 2])])
    #expect(merge.log == [update("a", "m", 1, at: 5), update("a", "x", 1, at: 5)])
  }

  @Test("DIF-25: of the server's updates of a field only the one of the greatest height counts, whatever its time")
  func greatestHeight() {
    let merge = Merge.of(
      ["a": object(["n": 0])], log: [update("a", "n", 1, at: 5)],
      server: [update("a", "n", 3, at: 4, height: 8), update("a", "n", 2, at: 9, height: 7)]
    ).run(after: 8)
    #expect(merge.objects.bare == ["a": object(["n": 1])])
    #expect(merge.upstream == [update("a", "n", 1, at: 5, height: 9)])
  }

  @Test("DIF-25: an update that empties a field is an update")
  func emptied() {
    let merge = Merge.of(
      ["a": object(["n": 1, "m": 1])], log: [update("a", "m", nil, at: 5)],
      server: [update("a", "n", nil, at: 2, height: 1)]
    ).run(after: 1)
    #expect(merge.objects.bare == ["a": object()] && merge.upstream == [update("a", "m", nil, at: 5, height: 2)])
  }

  @Test("DIF-31: a clock that is ahead counts as far as the server's: what came later beats it")
  func fastClock() {
    let log = [update("a", "n", 1, at: 900)]
    let merge = Merge(
      objects: ["a": object(["n": 1])], log: log, server: [update("a", "n", 2, at: 100, height: 1)],
      serverTime: HybridStamp(rawValue: 100)
    ).run(after: 1)
    #expect(merge.objects.bare == ["a": object(["n": 2])] && merge.upstream.isEmpty)
  }

  // MARK: Steps 7 and 8

  @Test("DIF-26: remaining updates go up, those of one object together, and none of what is gone")
  func localUpdates() {
    let log = [update("a", "n", 1, at: 1), update("gone", "n", 1, at: 1), update("b", "n", 1, at: 2)]
    var merge = Merge.of(["a": object(), "b": object()], log: log + [update("a", "m", 1, at: 3)])
    merge.sendUpdates()
    #expect(merge.upstream.map(\.uuid) == ["a", "a", "b"])
  }

  @Test("DIF-27: heights follow the current one: deletes, then creates, then updates")
  func heights() {
    let merge = Merge.of(
      ["a": object(), "d": object()], log: [update("a", "n", 1, at: 1), create("c", at: 2), delete("d", at: 3)]
    ).run(after: 40)
    #expect(
      merge.upstream == [
        delete("d", at: 3, height: 41), create("c", at: 2, height: 42), update("a", "n", 1, at: 1, height: 43),
      ])
  }

  // MARK: Idempotence

  @Test("DIF-30: the same S once more gives the same D and the same U")
  func idempotent() {
    let server = [
      create("new", ["n": 1], at: 3, height: 2), update("a", "n", 2, at: 6, height: 3),
      update("a", "m", 2, at: 4, height: 4), delete("gone", height: 5),
    ]
    let first = Merge.of(
      ["a": object(["n": 0, "m": 0]), "gone": object()],
      log: [update("a", "n", 1, at: 5), update("a", "m", 1, at: 5), create("c", ["n": 1], at: 5)], server: server
    ).run(after: 5)
    let second = Merge(
      objects: first.objects, log: first.upstream.map(\.pending), server: server,
      serverTime: HybridStamp(rawValue: .max)
    ).run(after: 5)
    #expect(second.objects == first.objects && second.upstream == first.upstream)
  }
}
