import CaravanModel
import CaravanSimulation
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: no checker can fall silent. Method: a small sound history, and for each invariant histories that break it.
@Suite struct CheckerTests {
  static let place = Place(user: "ann", app: "album", table: "t0")
  static let row = RowKey(place, "r1")

  static func tag(_ number: Int, _ device: String = "d1") -> ChangeTag { ChangeTag(device: device, number: number) }

  static func write(
    _ tag: ChangeTag, _ kind: LocalWrite.Kind, over parents: [ChangeTag] = [], _ standing: Standing = .acknowledged
  ) -> LocalWrite {
    LocalWrite(
      tag, place, kind, parents: parents, digest: kind == .delete ? nil : UInt64(tag.number),
      number: kind == .delete ? nil : Int64(tag.number), standing: standing)
  }

  static func seen(_ tag: ChangeTag, at seq: UInt64, isClean: Bool = true) -> SeenRow {
    SeenRow(row.row, seq: seq, tag: tag, digest: UInt64(tag.number), isClean: isClean)
  }

  /// d1 creates a row, d2 edits it, d1 edits that.
  static var sound: History {
    var history = History()
    for write in [write(tag(1), .insert), write(tag(2, "d2"), .update, over: [tag(1)])]
      + [write(tag(3), .update, over: [tag(2, "d2")])]
    {
      history.writes[write.tag] = write
      history.acknowledged[write.tag.device, default: []].append(.write(write.tag))
    }
    for (seq, tag) in [(1, tag(1)), (2, tag(2, "d2")), (3, tag(3))] {
      history.commit([Version(row, seq: UInt64(seq), tag: tag, writer: tag.device)])
      history.log.append(
        Logged(
          partition: 7, position: UInt64(seq), zone: "\(place)", low: UInt64(seq) - 1, high: UInt64(seq),
          seqs: [UInt64(seq)]))
    }
    history.readings = [
      Reading(device: "d1", place: place, ownWrites: 1, rows: [seen(tag(1), at: 0, isClean: false)]),
      Reading(device: "d1", place: place, ownWrites: 1, rows: [seen(tag(2, "d2"), at: 2)]),
      Reading(device: "d1", place: place, ownWrites: 2, rows: [seen(tag(3), at: 3)]),
    ]
    history.snapshots = [SeenSnapshot(place, incarnation: 0, seq: 2, rows: [row.row: tag(2, "d2")])]
    history.groups = [
      SeenGroup("g1", size: 4, seen: 4, isCommitted: true), SeenGroup("g2", size: 2, seen: 0, isCommitted: false),
    ]
    history.trees = [SeenTree(["parent": [], "child": ["parent"]])]
    history.batches = [[tag(3), tag(9)]]
    history.seenPairs = [SeenPairs(device: "d1", pairs: ["p1a": 3, "p1b": 3])]
    history.refusals = [SeenRefusal(device: "d1", isVisible: true, isKept: true, isResumed: true)]
    history.promises = [KeptPromise(tag(3), took: 4_000, allowed: 5_000)]
    history.secrets = [HiddenAnswer("pull", ofHidden: [1], ofAbsent: [1])]
    history.samples = [Samples(device: "d1", accepted: 10, unknown: 1, arrived: 8, maximumPermille: 200)]
    history.latecomers = [Latecomer(place, rows: [row.row: tag(3)])]
    history.end.cloud = [place: [seen(tag(3), at: 3)]]
    history.end.devices = ["d1": [place: [seen(tag(3), at: 3)]], "d2": [place: [seen(tag(3), at: 3)]]]
    history.end.queried = [place: [row.row: 3]]
    return history
  }

  /// What breaks which invariant.
  static let broken: [(invariant: String, what: String, breaking: @Sendable (inout History) -> Void)] = [
    (
      "I1", "the newest write is nowhere",
      { history in
        history.end.cloud[place] = [seen(tag(2, "d2"), at: 2)]
        history.versions.removeLast()
      }
    ),
    (
      "I1", "two replaced one, and only one of them is there",
      { history in
        let other = write(tag(4, "d2"), .update, over: [tag(2, "d2")])
        history.writes[other.tag] = other
      }
    ),
    (
      "I1", "what was deleted is still there",
      { history in
        let delete = write(tag(4), .delete, over: [tag(3)])
        history.writes[delete.tag] = delete
      }
    ),
    ("I2", "other bytes", { $0.readings[1].rows[0].digest = 99 }),
    ("I2", "other bytes at the cloud", { $0.end.cloud[place]?[0].digest = 99 }),
    ("I2", "a row that nobody wrote", { $0.writes[tag(3)] = nil }),
    ("TRU-17", "an agent counts other bytes than went", { $0.end.falseFigures = ["d1: 3 bytes up, 4 went"] }),
    ("TRU-01, TRU-05", "a ticket serves another device", { $0.intrusions = ["the ticket of d1 serves d2"] }),
    ("architecture §4", "sync may not ask schema", { $0.denials = ["sync-1: Publish svc.schema.type"] }),
    ("every partition", "two act for one", { $0.end.ownerProblems = ["notify acts for [61, 61]"] }),
    ("I3", "a chunk dangles", { $0.end.chunkProblems = ["chunk 12 is not there"] }),
    ("TRU-10", "a chunk is lost, and nobody says so", { $0.end.damageProblems = ["chunk 12 is lost"] }),
    ("I4", "a device lacks a row", { $0.end.devices["d2"]?[place] = [] }),
    ("I4", "a device has another version", { $0.end.devices["d2"]?[place] = [seen(tag(2, "d2"), at: 2)] }),
    ("I4", "a device has a row too many", { $0.end.cloud[place] = [] }),
    ("I4", "a row is still dirty", { $0.end.devices["d2"]?[place]?[0].isClean = false }),
    ("I5", "back to what another had replaced", { $0.readings.append($0.readings[0]) }),
    (
      "I5", "an older version",
      { history in
        history.readings.append(
          Reading(device: "d1", place: place, ownWrites: 2, rows: [seen(tag(3), at: 2)]))
      }
    ),
    ("I5", "not its own write", { $0.readings[1].ownWrites = 2 }),
    ("I5", "its own row is gone", { $0.readings[2].rows = [] }),
    ("I6", "a position is missing", { $0.log[2].position = 4 }),
    ("I6", "versions overlap", { $0.log[2].low = 1 }),
    ("I6", "versions outside of their commit", { $0.log[2].seqs = [4] }),
    ("I6", "a row's version goes back", { $0.versions[2].seq = 1 }),
    ("I6", "the zone is not what its history says", { $0.end.cloud[place]?[0].seq = 5 }),
    ("I6", "a lost update", { $0.writes[tag(3)]?.parents = [tag(1)] }),
    (
      "I6", "a deletion of what was not seen",
      { history in
        let delete = write(tag(4, "d2"), .delete, over: [tag(2, "d2")])
        history.writes[delete.tag] = delete
        history.versions.append(Version(row, seq: 4, tag: nil, writer: "d2"))
      }
    ),
    (
      "I6 what", "a client reads what is not there any more",
      { history in
        let change = ZoneCall.Change("r", .any, .delete)
        let saved = ZoneCall.Change("r", .absent, .save("v"))
        let (save, delete) = (ZoneCall.Request.commit([saved], isAtomic: true), [change])
        history.calls = [
          ZoneCall("a", invoked: 1, returned: 2, save, .committed([.accepted(version: 1)], seq: 1)),
          ZoneCall(
            "a", invoked: 3, returned: 4, .commit(delete, isAtomic: true),
            .committed([.accepted(version: 2)], seq: 2)),
          ZoneCall("b", invoked: 5, returned: 6, .fetch(["r"]), .fetched([.init("r", 1, .value("v"))])),
        ]
      }
    ),
    ("I7", "applied twice", { $0.versions.append(Version(row, seq: 4, tag: tag(3), writer: "d1")) }),
    (
      "I7", "a conflict with what it had replaced",
      { $0.decisions = [Decision(row, device: "d1", mine: tag(3), theirs: tag(2, "d2"), choice: .theirs)] }
    ),
    ("I9", "back from the dead", { $0.versions[1].tag = nil }),
    ("queries", "a row is not found", { $0.end.queried[place] = [:] }),
    ("queries", "a row is found at an old version", { $0.end.queried[place] = [row.row: 2] }),
    ("I4", "a client of diff sync differs", { $0.end.diffSyncProblems = ["a diary lacks a row"] }),
    (
      "I15", "a snapshot that never was",
      { $0.snapshots.append(SeenSnapshot(place, incarnation: 0, seq: 2, rows: [row.row: tag(1)])) }
    ),
    ("I15", "a snapshot lacks a row", { $0.snapshots[0].rows = [:] }),
    ("CK-53", "a reader comes to no state", { $0.starved = ["30 pages and no state"] }),
    ("UNI-05", "half a group", { $0.groups = [SeenGroup("g", size: 4, seen: 2, isCommitted: false)] }),
    ("UNI-05", "a group is gone", { $0.groups = [SeenGroup("g", size: 4, seen: 0, isCommitted: true)] }),
    ("REC-23", "half of it comes later", { $0.batches.append([tag(1), tag(3)]) }),
    ("UNI-13", "one of two", { $0.seenPairs.append(SeenPairs(device: "d1", pairs: ["p1a": 4, "p1b": 3])) }),
    ("UNI-13", "what never was", { $0.seenPairs.append(SeenPairs(device: "d1", pairs: [:], versions: ["p1a": 5])) }),
    ("UNI-13", "an older state", { $0.seenPairs.append(SeenPairs(device: "d1", pairs: ["p1a": 2, "p1b": 2])) }),
    ("UNI-13", "not the app's own", { $0.seenPairs.append(SeenPairs(device: "d1", pairs: [:], lacksOwn: ["r"])) }),
    ("CK-27", "an owner is gone, and what it owned is not", { $0.trees.append(SeenTree(["child": ["parent"]])) }),
    (
      "CK-102", "nobody says that there is no room",
      { $0.refusals = [SeenRefusal(device: "d1", isVisible: false, isKept: true, isResumed: true)] }
    ),
    (
      "CK-102", "a row is dropped",
      { $0.refusals = [SeenRefusal(device: "d1", isVisible: true, isKept: false, isResumed: true)] }
    ),
    (
      "CK-102", "a row waits for ever",
      { $0.refusals = [SeenRefusal(device: "d1", isVisible: true, isKept: true, isResumed: false)] }
    ),
    ("I12", "too late", { $0.promises = [KeptPromise(tag(3), took: 5_001, allowed: 5_000)] }),
    ("I12", "never", { $0.promises = [KeptPromise(tag(3), took: nil, allowed: 5_000)] }),
    ("I14", "an answer tells", { $0.secrets = [HiddenAnswer("pull", ofHidden: [1], ofAbsent: [])] }),
    (
      "I11", "more is lost than may be",
      { $0.samples = [Samples(device: "d1", accepted: 10, unknown: 0, arrived: 7, maximumPermille: 200)] }
    ),
    ("I17", "a deleted row is kept", { $0.latecomers = [Latecomer(place, rows: [row.row: tag(3), "r2": tag(1)])] }),
    ("I17", "a row is missing", { $0.latecomers = [Latecomer(place, rows: [:])] }),
    ("I13", "a frame without a link", { $0.trespasses = ["d1 sends 40 bytes"] }),
    ("I16", "a device lacks something", { $0.end.stalled = ["d2 lacks a row"] }),
    ("UNI-15", "what was to stay on its device is at the cloud", { $0.strays = ["#d1.1 is at the cloud"] }),
    (
      "UNI-15", "a table shows what it does not keep, and the cloud has",
      { $0.readings[1].share = .numbers(0..<2) }
    ),
  ]

  /// The same, where the cloud forgot the newest edit, and d1 offered it again.
  static var restored: History {
    var history = sound
    let gap = 2 * ArchiveLimits.gap
    history.restores = 1
    history.forget { $0.seq == 3 }
    history.log.removeLast()
    history.commit([Version(row, seq: gap + 1, tag: tag(3), writer: "d1")])
    history.log.append(
      Logged(
        partition: 7, position: gap, zone: "\(place)", low: gap, high: gap + 1, seqs: [gap + 1], life: 1))
    history.readings.append(Reading(device: "d1", place: place, ownWrites: 2, rows: [seen(tag(3), at: gap + 1)]))
    history.end.cloud[place]?[0].seq = gap + 1
    for device in ["d1", "d2"] { history.end.devices[device]?[place]?[0].seq = gap + 1 }
    history.end.queried[place]?[row.row] = gap + 1
    return history
  }

  static let brokenByRestore: [(invariant: String, what: String, breaking: @Sendable (inout History) -> Void)] = [
    (
      "I1", "a deletion of after the restore is undone",
      { history in
        let delete = write(tag(4), .delete, over: [tag(3)])
        history.writes[delete.tag] = delete
      }
    ),
    ("I5", "a device goes back to the backup's copy", { $0.readings.append($0.readings[1]) }),
    (
      "I6 nobody", "an offer goes over what it does not know",
      { history in
        let other = write(tag(4, "d2"), .update, over: [tag(2, "d2")])
        history.writes[other.tag] = other
        history.versions.insert(
          Version(row, seq: history.versions[2].seq - 1, tag: other.tag, writer: "d2"), at: 2)
      }
    ),
    (
      "I7 each", "two devices offer it, and both are taken",
      { $0.versions.append(Version(row, seq: $0.versions[2].seq + 1, tag: tag(3), writer: "d2")) }
    ),
    (
      "I7 no", "the backup's copy is in conflict with what was made from it",
      { $0.decisions = [Decision(row, device: "d1", mine: tag(3), theirs: tag(2, "d2"), choice: .mine)] }
    ),
    (
      "I7 no", "what its author offered again is in conflict with what was made from it since",
      { history in
        let edit = write(tag(4, "d2"), .update, over: [tag(3)])
        history.writes[edit.tag] = edit
        history.decisions = [Decision(row, device: "d2", mine: edit.tag, theirs: tag(3), choice: .theirs)]
      }
    ),
    (
      "I9", "what was deleted since the restore is offered, and taken",
      { history in
        history.versions.insert(
          Version(row, seq: history.versions[2].seq - 1, tag: nil, writer: "d2"), at: 2)
      }
    ),
  ]

  @Test("UNI-18: after a restore the invariants hold as ever, but for what the cloud forgot was deleted")
  func restores() {
    #expect(Self.violations(Self.restored).isEmpty, "\(Self.violations(Self.restored))")
    for (invariant, what, breaking) in Self.brokenByRestore {
      var history = Self.restored
      breaking(&history)
      let found = Self.violations(history)
      #expect(found.contains { $0.invariant.hasPrefix(invariant) }, "\(what): \(found)")
    }
    var forgotten = Self.restored
    let delete = Self.write(Self.tag(4), .delete, over: [Self.tag(3)])
    forgotten.writes[delete.tag] = delete
    forgotten.lost.append(Version(Self.row, seq: 4, tag: nil, writer: "d1"))
    #expect(Self.violations(forgotten).isEmpty, "nobody holds a deletion that was taken back")
  }

  @Test("UNI-17, UNI-18: what the cloud lost may be lost where somebody was writing over it in place, and nowhere else")
  func overwritten() {
    for isOverwritten in [true, false] {
      var history = Self.sound
      history.restores = 1
      history.lost = [history.versions.removeLast()]
      history.log.removeLast()
      if isOverwritten { history.overwritten = [Self.tag(3)] }
      let lost = Self.violations(history).filter { $0.invariant.hasPrefix("I1 ") && $0.explanation.contains("#d1.3") }
      history.end.cloud[Self.place] = [Self.seen(Self.tag(2, "d2"), at: 2)]
      let gone = Self.violations(history).filter { $0.invariant.hasPrefix("I1 ") }
      #expect(lost.isEmpty && gone.isEmpty == isOverwritten, "\(lost) \(gone)")
    }
  }

  @Test("UNI-18: what the cloud cannot tell apart after restores may be a conflict: an edit that it forgot as well")
  func indistinguishable() {
    let edit = Self.write(Self.tag(4, "d2"), .update, over: [Self.tag(3)], .attempted)
    for (lost, life, isSound) in [(edit.tag, UInt64(0), true), (Self.tag(2), 1, true), (Self.tag(2), 0, false)] {
      var history = Self.restored
      history.writes[edit.tag] = edit
      history.lost.append(Version(Self.row, seq: 4, tag: lost, writer: "d2", incarnation: life))
      history.decisions = [Decision(Self.row, device: "d2", mine: edit.tag, theirs: Self.tag(3), choice: .theirs)]
      let found = Self.violations(history).filter { $0.invariant.hasPrefix("I7") }
      #expect(found.isEmpty == isSound, "\(lost) of life \(life): \(found)")
    }
  }

  /// d2's table keeps other rows than d1's.
  static func shared(_ shares: [Share], here rows: [SeenRow], readings: [Reading] = []) -> History {
    var history = sound
    history.shares = ["d2": [place: shares]]
    history.end.devices["d2"]?[place] = rows
    history.readings += readings
    return history
  }

  @Test("UNI-15: in the end a device has its part of the cloud's rows, and nothing else")
  func shares() {
    let newest = Self.seen(Self.tag(3), at: 3)
    for (share, isKept) in [(Share.numbers(3..<9), true), (.numbers(0..<3), false), (.newest(1), true)] {
      #expect(Self.violations(Self.shared([share], here: isKept ? [newest] : [])).isEmpty, "\(share)")
      let other = Self.violations(Self.shared([share], here: isKept ? [] : [newest]))
      #expect(other.contains { $0.invariant.hasPrefix("I4") }, "\(share): \(other)")
    }
    // Of those that are kept by age it can only be said that they are what the cloud has.
    for rows in [[], [newest]] { #expect(Self.violations(Self.shared([.young], here: rows)).isEmpty) }
    let old = Self.seen(Self.tag(2, "d2"), at: 2)
    for share in [Share.young, .all] {
      #expect(Self.violations(Self.shared([share], here: [old])).contains { $0.invariant.hasPrefix("I4") })
    }
    // Nobody fills the place of what was among the newest.
    var deleted = Self.shared([.newest(1)], here: [])
    deleted.versions.insert(Version(RowKey(Self.place, "r0"), seq: 0, tag: nil, writer: "d1"), at: 0)
    #expect(Self.violations(deleted).filter { $0.invariant.hasPrefix("I4") }.isEmpty)
  }

  @Test("UNI-15: an own row may be left to the cloud only once it is there, and is not asked for")
  func ownRows() {
    func found(_ shares: [Share], versions: Int) -> [Violation] {
      let reading = Reading(
        device: "d2", place: Self.place, ownWrites: 1, share: shares.last ?? .all, versions: versions, rows: [])
      let rows = (shares.last ?? .all).shows(3) ? [Self.seen(Self.tag(3), at: 3)] : []
      return Self.violations(Self.shared(shares, here: rows, readings: [reading]))
    }
    #expect(found([.numbers(8..<9)], versions: 2).isEmpty)
    for (shares, versions) in [([Share.numbers(8..<9)], 1), ([.numbers(1..<9)], 3), ([.own, .all], 1)] {
      #expect(found(shares, versions: versions).contains { $0.invariant.hasPrefix("I5") }, "\(shares)")
    }
    // What it was told to keep before may still come.
    #expect(found([.numbers(8..<9), .numbers(1..<9)], versions: 3).isEmpty)
  }

  @Test("UNI-15, UNI-18: what was left to a cloud that forgot it may be undone, what a device keeps may not")
  func undone() {
    func found(_ share: Share, versions: Int) -> [Violation] {
      let own = Reading(
        device: "d2", place: Self.place, ownWrites: 1, share: share, versions: 2,
        rows: [Self.seen(Self.tag(2, "d2"), at: 2)])
      var later = own
      (later.versions, later.rows) = (versions, [Self.seen(Self.tag(1), at: 1)])
      var history = Self.shared([share], here: [], readings: [own, later])
      history.restores = 1
      history.forget { $0.seq > 1 }
      return Self.violations(history).filter { $0.invariant.hasPrefix("I5") }
    }
    #expect(found(.numbers(8..<9), versions: 3).isEmpty)
    #expect(!found(.numbers(8..<9), versions: 1).isEmpty, "the cloud did not have it yet")
    #expect(!found(.numbers(1..<9), versions: 3).isEmpty, "it keeps the row")
  }

  static func violations(_ history: History) -> [Violation] { Checker.all.flatMap { $0.check(history) } }

  @Test("a sound history breaks nothing")
  func soundness() { #expect(Self.violations(Self.sound).isEmpty, "\(Self.violations(Self.sound))") }

  @Test("every invariant can be broken", arguments: broken.indices)
  func breaks(index: Int) {
    let (invariant, what, breaking) = Self.broken[index]
    var history = Self.sound
    breaking(&history)
    let found = Self.violations(history)
    #expect(found.contains { $0.invariant.hasPrefix(invariant) }, "\(what): \(found)")
  }

  @Test("no checker is without a history that breaks it")
  func coverage() {
    let broken = (Self.broken + Self.brokenWatches + Self.brokenPushes).flatMap { _, _, breaking in
      var history = Self.sound
      breaking(&history)
      return Self.violations(history).map(\.invariant)
    }
    for checker in Checker.all { #expect(broken.contains(checker.invariant), "\(checker.invariant)") }
  }

  @Test("a conflict that was decided loses nothing")
  func decisions() {
    var history = Self.sound
    let other = Self.write(Self.tag(4, "d2"), .update, over: [Self.tag(2, "d2")])
    history.writes[other.tag] = other
    history.decisions = [
      Decision(
        Self.row, device: "d2", mine: other.tag, theirs: Self.tag(3), choice: .theirs, standing: .acknowledged)
    ]
    #expect(Self.violations(history).isEmpty, "\(Self.violations(history))")
  }
}
