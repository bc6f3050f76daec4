import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentStore

/// Goal: nothing is lost beyond what was allowed, and everything that is lost is counted. Method: the ledger by hand,
/// then a real store under random work that is killed in between.
@Suite("Loss tolerance") struct LossTests {
  private typealias Fixture = StoreFixture
  private static let photos = Fixture.photos

  private static func registration(_ period: UInt32 = 0) -> SyncRegistration {
    SyncRegistration(periodMilliseconds: period, delayToleranceMilliseconds: 0, link: .roaming)
  }

  private func tolerate(_ fixture: StoreFixture, _ permille: UInt32, life: UInt32 = 0, onRequest: Bool = false)
    async throws
  {
    try await fixture.store.register(
      Self.photos, .write, Self.registration(),
      loss: LossTolerance(maximumPermille: permille, timeToLiveMilliseconds: life, isOnRequest: onRequest))
  }

  private func ledger(_ fixture: StoreFixture) async throws -> LossLedger {
    try #require(try await fixture.status().loss)
  }

  private func write(_ fixture: StoreFixture, _ name: String, _ intent: WriteIntent = WriteIntent()) async throws {
    try await fixture.store.write(Self.photos, cells: [CellValue("name", .text(name))], intent: intent)
  }

  // MARK: The ledger

  @Test("I11: at no time more than the maximum share of what was accepted may be lost, and all of that")
  func ledgerShare() {
    for permille: UInt32 in [0, 1, 100, 333, 500, 1000] {
      var ledger = LossLedger(LossTolerance(maximumPermille: permille))
      var wrong = 0
      for accepted: UInt64 in 1...2_000 {
        ledger.accept()
        let share = accepted * UInt64(permille) / 1000
        if ledger.mayLose != min(ledger.waiting, share - ledger.lost) { wrong += 1 }
        if accepted % 7 == 0 { ledger.lose(ledger.mayLose, to: accepted % 2 == 0 ? .queue : .server) }
        if accepted % 5 == 0, ledger.waiting > 0 { ledger.settle() }
      }
      ledger.lose(ledger.mayLose, to: .queue)
      #expect(wrong == 0)
      #expect(ledger.lost <= 2_000 * UInt64(permille) / 1000)
      #expect(ledger.accepted == ledger.settled + ledger.lost + ledger.waiting)
    }
  }

  @Test("Numbers that a counter reaches in no life do not overflow")
  func ledgerLarge() {
    let ledger = LossLedger(LossTolerance(maximumPermille: 1000), accepted: .max)
    #expect(ledger.mayLose == .max)
  }

  // MARK: Promises

  @Test("UNI-16: a new row of a tolerant table is accepted, anything else is durable")
  func promises() async throws {
    try await Fixture.with { fixture in
      let store = fixture.store
      #expect(try await store.promise(WriteIntent(), isInsert: true, in: Self.photos) == .durable)
      await #expect(throws: CaravanError.self) {
        try await store.promise(WriteIntent(loss: .tolerated), isInsert: true, in: Self.photos)
      }
      try await tolerate(fixture, 100)
      #expect(try await store.promise(WriteIntent(), isInsert: true, in: Self.photos) == .accepted)
      #expect(try await store.promise(WriteIntent(loss: .none), isInsert: true, in: Self.photos) == .durable)
      #expect(try await store.promise(WriteIntent(), isInsert: false, in: Self.photos) == .durable)
      try await tolerate(fixture, 100, onRequest: true)
      #expect(try await store.promise(WriteIntent(), isInsert: true, in: Self.photos) == .durable)
      #expect(try await store.promise(WriteIntent(loss: .tolerated), isInsert: true, in: Self.photos) == .accepted)
      await #expect(throws: CaravanError.self) {
        try await store.promise(WriteIntent(loss: .tolerated), isInsert: false, in: Self.photos)
      }
      await #expect(throws: CaravanError.self) { try await tolerate(fixture, 1001) }
    }
  }

  // MARK: The queue

  @Test("MOB-05, MOB-06: the oldest are given up, as many as may be; the rest stays, and is counted")
  func discard() async throws {
    try await Fixture.with { fixture in
      try await tolerate(fixture, 300)
      for name in 0..<10 { try await write(fixture, "\(name)") }
      #expect(try await fixture.store.loseTolerated(of: Self.photos, to: .queue) == 7)
      #expect(try await fixture.names() == (3..<10).map { "\($0)" })
      #expect(try await fixture.store.loseTolerated(of: Self.photos, to: .queue) == 7)
      #expect(try await ledger(fixture).lostInQueue == 3)
      let state = try await fixture.store.syncState(of: Self.photos)
      #expect(state.dirtyRows == 0)
      #expect(state.toleratedRows == 7)
    }
  }

  @Test("A row that the app changes or deletes, or that the cloud takes, can no longer be lost")
  func settled() async throws {
    try await Fixture.with { fixture in
      try await fixture.agree()
      try await tolerate(fixture, 1000)
      for name in 0..<4 { try await write(fixture, "\(name)") }
      try await fixture.store.write(
        Self.photos, cells: [CellValue("date", .integer(1))], selection: Selection("name = ?", [.text("0")]))
      try await fixture.store.delete(Self.photos, selection: Selection("name = ?", [.text("1")]))
      #expect(try await fixture.store.syncState(of: Self.photos).dirtyRows == 1)
      let plan = try #require(try await fixture.collect())
      #expect(plan.toleratedRows == 2 && plan.mutations.count == 3)
      // What is on its way is not given up.
      #expect(try await fixture.store.loseTolerated(of: Self.photos, to: .queue) == 2)
      try await fixture.accept(plan, from: 10)
      let end = try await ledger(fixture)
      #expect((end.accepted, end.settled, end.lost, end.waiting) == (4, 4, 0, 0))
      #expect(try await fixture.names() == ["0", "2", "3"])
    }
  }

  @Test("UNI-16: what is too old is never sent, and is not a loss")
  func expiry() async throws {
    let clock = ManualClock()
    try await Fixture.with(clock: clock) { fixture in
      try await fixture.agree()
      try await tolerate(fixture, 0, life: 0)
      #expect(try await fixture.status().loss == nil)
      try await tolerate(fixture, 1, life: 10_000)
      try await write(fixture, "registered")
      try await write(fixture, "long", WriteIntent(timeToLiveMilliseconds: 60_000))
      try await write(fixture, "deadline", WriteIntent(withinMilliseconds: 5_000))
      clock.advance(by: .seconds(6))
      let plan = try #require(try await fixture.collect())
      #expect(plan.mutations.count == 2)
      try await fixture.store.abort(plan.op)
      clock.advance(by: .seconds(10))
      #expect(try await fixture.collect()?.mutations.count == 1)
      let end = try await ledger(fixture)
      #expect((end.accepted, end.expired, end.lost) == (3, 2, 0))
    }
  }

  @Test("A full queue gives up the oldest, and refuses when nothing more may be lost")
  func overflow() async throws {
    var options = LocalStoreOptions()
    options.toleratedRows = 20
    try await Fixture.with(options: options) { fixture in
      try await tolerate(fixture, 100)
      var refusals = 0
      for name in 0..<30 {
        do { try await write(fixture, "\(name)") } catch let error as CaravanError {
          #expect(error.code == .limitExceeded)
          refusals += 1
        }
      }
      let end = try await ledger(fixture)
      // 22 accepted, of which 2 may be lost: then 20 wait, and the queue is full.
      #expect((end.accepted, end.lost, end.waiting) == (22, 2, 20))
      #expect(refusals == 8)
      #expect(try await fixture.names().count == 20)
    }
  }

  @Test("Rows that wait when the tolerance ends are as any other; a new maximum counts anew")
  func unregistered() async throws {
    try await Fixture.with { fixture in
      try await tolerate(fixture, 500)
      for name in 0..<4 { try await write(fixture, "\(name)") }
      try await fixture.store.loseTolerated(of: Self.photos, to: .queue)
      try await tolerate(fixture, 100)
      #expect(try await ledger(fixture).accepted == 2)
      #expect(try await ledger(fixture).mayLose == 0)
      try await fixture.store.unregister(Self.photos, .write)
      #expect(try await fixture.status().loss == nil)
      #expect(try await fixture.store.loseTolerated(of: Self.photos, to: .queue) == 0)
      #expect(try await fixture.store.syncState(of: Self.photos).dirtyRows == 2)
    }
  }

  // MARK: Everything at once

  @Test("I11: random work with crashes: lost never exceeds its share, and the rows that are there are those counted")
  func random() async throws {
    for seed: UInt64 in 1...12 {
      let dice = SeededRandom(seed: seed)
      let clock = ManualClock()
      var options = LocalStoreOptions()
      options.toleratedRows = 40
      try await Fixture.with(options: options, clock: clock) { fixture in
        try await fixture.agree()
        let permille = UInt32(dice.below(1001))
        try await tolerate(fixture, permille, life: dice.below(2) == 0 ? 0 : 20_000)
        var (durable, version) = (Set<String>(), UInt64(1))
        for step in 0..<150 {
          switch dice.below(12) {
          case 0...5:
            let mayBeLost = dice.below(3) > 0
            let intent = WriteIntent(loss: mayBeLost ? .asRegistered : .none)
            do { try await write(fixture, "\(step)", intent) } catch { #expect(mayBeLost) }
            if !mayBeLost || permille == 0 { durable.insert("\(step)") }
          case 6, 7: try await fixture.store.loseTolerated(of: Self.photos, to: dice.below(2) == 0 ? .queue : .server)
          case 8:
            guard let plan = try await fixture.collect() else { break }
            if dice.below(3) == 0 {
              try await fixture.store.abort(plan.op)
            } else {
              try await fixture.accept(plan, from: version)
              version += 1_000
            }
          case 9: clock.advance(by: .seconds(Int64(dice.below(8))))
          case 10 where step % 20 == 0: try await fixture.crash()
          default:
            try await fixture.store.write(
              Self.photos, cells: [CellValue("date", .integer(Int64(step)))],
              selection: Selection("name = ?", [.text("\(dice.below(150))")]))
          }
          guard let now = try await fixture.status().loss else { continue }
          #expect(now.lost <= now.accepted * UInt64(permille) / 1000, "seed \(seed)")
          let state = try await fixture.store.syncState(of: Self.photos)
          #expect(now.waiting == UInt64(state.toleratedRows), "seed \(seed)")
        }
        #expect(durable.isSubset(of: try await fixture.names()), "seed \(seed)")
      }
    }
  }

  @Test("MOB-01: a deadline of one write outlives the agent, and is over when the row has been collected")
  func deadline() async throws {
    try await Fixture.with { fixture in
      try await fixture.agree()
      try await write(fixture, "a", WriteIntent(withinMilliseconds: 9_000))
      try await write(fixture, "b", WriteIntent(withinMilliseconds: 5_000))
      try await fixture.crash()
      let due = try #require(try await fixture.store.syncState(of: Self.photos).deadline)
      #expect(due == ManualClock().wallTime.milliseconds + 5_000)
      _ = try await fixture.collect()
      #expect(try await fixture.store.syncState(of: Self.photos).deadline == nil)
    }
  }
}
