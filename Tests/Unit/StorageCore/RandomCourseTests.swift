import CaravanModel
import CaravanStorageCore
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: what storage decides holds whatever comes in which order. Method: random courses beside a model of each value;
/// the values stop the test where an invariant of their own is broken.
@Suite struct RandomCourseTests {
  private static let seeds: Range<UInt64> = 1..<101

  @Test("every commit is announced once, and those of a partition in their order")
  func hints() throws {
    let zone = try ZoneID(
      DatabaseID(container: ContainerID("album"), environment: .development, owner: UserID("ada")), "photos")
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      var positions: [UInt32: UInt64] = [:]
      let changes = try (0..<Int.random(in: 0...600, using: &chance)).map { _ in
        let number = UInt32.random(in: 0..<3, using: &chance)
        let gap: UInt64 = Int.random(in: 0..<20, using: &chance) == 0 ? 2 : 1
        positions[number, default: 0] += gap
        let size = [0, 10, 4_000, 9_000].randomElement(using: &chance) ?? 0
        let log = LoggedCommit(
          position: positions[number] ?? 0, zone: zone, low: 0, high: 1, incarnation: 1, writer: "phone")
        let entry = Entry(
          name: "r", version: 1, created: 1, body: [UInt8](repeating: 0, count: size), writer: "phone")
        return CommittedChange(partition: try Partition(number), log: log, entries: [entry])
      }
      let hints = ChangeEvent.plan(changes)
      for number in 0..<3 as Range<UInt32> {
        let announced = hints.filter { $0.partition.number == number }.flatMap { $0.changes.map(\.log.position) }
        #expect(announced == changes.filter { $0.partition.number == number }.map(\.log.position), "seed \(seed)")
      }
    }
  }

  @Test("no ticket brings more than it allows while it is remembered, and no more tickets are than there is room for")
  func tickets() throws {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      let capacity = Int.random(in: 1...8, using: &chance)
      var ledger = TicketLedger(capacity: capacity)
      var used: [UInt8: UInt64] = [:]
      var now: Int64 = 0
      for _ in 0..<300 {
        now += Int64.random(in: 0...3, using: &chance)
        // As many tickets as there is room for are never forgotten before their end.
        let mac = UInt8.random(in: 0..<UInt8(capacity), using: &chance)
        let bytes = Int.random(in: 0...40, using: &chance)
        let isAllowed = used[mac, default: 0] + UInt64(bytes) <= 100
        do {
          try ledger.use(bytes, of: [mac], allowing: 100, expires: .max, now: now)
          #expect(isAllowed, "seed \(seed)")
          used[mac, default: 0] += UInt64(bytes)
        } catch {
          #expect(!isAllowed, "seed \(seed)")
        }
        #expect(ledger.count == used.count)
      }
      for number in UInt8(100)...200 { try ledger.use(1, of: [number], allowing: 1, expires: now + 1, now: now) }
      #expect(ledger.count <= capacity)
    }
  }

  @Test(
    "CK-100: whatever is asked and fails, a user's data are in the store that is the truth, and nowhere else at last")
  func moves() throws {
    let stores = ["main", "b", "c"]
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      var placement = Placement()
      var filled: Set<String> = [Placement.main]
      for _ in 0..<100 {
        switch (placement.next, Int.random(in: 0..<4, using: &chance)) {
        case (_, 0):
          let target = stores[Int.random(in: stores.indices, using: &chance)]
          placement = (try? placement.moving(to: target)) ?? placement
        case (.rest, _): break
        case (.clear(let store), _):
          filled.remove(store)
          placement = placement.cleared
        case (.copy(let target), let luck):
          // An attempt before may have left a part.
          filled.insert(target)
          placement = luck == 1 ? placement.givenUp : placement.arrived
        }
        #expect(filled.contains(placement.store), "seed \(seed): the truth was emptied")
        #expect(filled.isSubset(of: placement.stores), "seed \(seed): nobody knows of what was left behind")
        #expect(try Placement(placement.fields) == placement)
      }
    }
  }

  @Test("CK-100: a placement that would have the truth emptied is refused as it is read")
  func placements() {
    for field in [2, 3] as [UInt32] {
      let fields = RecordFields([1: .text("b"), field: .text("b")])
      #expect(throws: CaravanError.self) { try Placement(fields) }
    }
  }

  @Test("UNI-06: after a plan is carried out the object store has what the record has")
  func objects() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      func some() -> [PlacedObject] {
        "abcdef".compactMap { path in
          guard Bool.random(using: &chance) else { return nil }
          return PlacedObject(path: String(path), fingerprint: "\(Int.random(in: 0..<2, using: &chance))")
        }
      }
      let (wanted, there) = (some(), some())
      let plan = ObjectPlan(wanted: wanted, there: there)
      var store = Dictionary(uniqueKeysWithValues: there.map { ($0.path, $0) })
      for object in plan.puts { store[object.path] = object }
      for object in plan.removals { store[object.path] = nil }
      #expect(Set(store.values) == Set(wanted), "seed \(seed)")
      #expect(plan.kept.count + plan.puts.count == wanted.count)
    }
  }

  @Test("however the clock goes, no more is read at once than a step, and over a period no more than there is")
  func scrubbing() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      var pace = ScrubPace()
      let kept = UInt64.random(in: 1...(1 << 32), using: &chance)
      var (now, read) = (UInt64(0), UInt64(0))
      for _ in 0..<2_000 {
        now += UInt64.random(in: 0...(StorageLimits.scrubPeriodNanoseconds / 2_000), using: &chance)
        guard let bytes = pace.portion(of: kept, at: now) else { continue }
        #expect((1...StorageLimits.scrubStepBytes).contains(bytes))
        pace.read(bytes: bytes)
        read += UInt64(bytes)
      }
      #expect(read <= kept, "seed \(seed): in less than a period")
    }
  }
}
