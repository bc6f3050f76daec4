import CaravanAgentCore
import CaravanModel
import CaravanTestKit
import Testing

/// Goal: what the device decides holds whatever apps, links and clocks do. Method: random courses beside a plain count;
/// the values stop the test where an invariant of their own is broken.
@Suite struct RandomCourseTests {
  private static let seeds: Range<UInt64> = 1..<101

  private struct Sitter {
    let user: UInt32
    var app: ContainerID?
    var waiting = 0
  }

  @Test("SIM-43: every slot is somebody's, nobody goes unnoticed, and shares hold, whoever comes and goes")
  func slots() throws {
    let shares = AppSlots.Shares(
      connections: AppShare(app: 3, user: 5, all: 8), waiting: AppShare(app: 2, user: 3, all: 4),
      bytes: AppShare(app: 10, user: 15, all: 20), nameless: 2, namelessOfAll: 4)
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      var slots = AppSlots(shares)
      var sitters: [UInt64: Sitter] = [:]
      for _ in 0..<300 {
        let id = sitters.keys.sorted().randomElement(using: &chance) ?? 0
        switch Int.random(in: 0..<7, using: &chance) {
        case 0...2:
          let user = UInt32.random(in: 1...4, using: &chance)
          guard let (slot, displaced) = try? slots.admit(user: user) else { break }
          if let displaced {
            let gone = sitters.removeValue(forKey: displaced)
            #expect(gone != nil && gone?.app == nil, "seed \(seed): somebody went who had said who they are")
          }
          sitters[slot] = Sitter(user: user)
        case 3:
          guard let sitter = sitters[id], sitter.app == nil else { break }
          let app = ContainerID(unchecked: "app\(Int.random(in: 0..<3, using: &chance))")
          if (try? slots.identify(id, as: app)) != nil { sitters[id]?.app = app }
        case 4:
          guard sitters[id]?.app != nil, (try? slots.beginWaiting(id)) != nil else { break }
          sitters[id]?.waiting += 1
        case 5:
          slots.holds(Int.random(in: 0...9, using: &chance), id)
          guard sitters[id]?.waiting ?? 0 > 0 else { break }
          slots.endWaiting(id)
          sitters[id]?.waiting -= 1
        default:
          slots.leave(id)
          sitters[id] = nil
        }
        #expect(slots.count == sitters.count, "seed \(seed): a slot was lost, or kept")
        #expect(Dictionary(grouping: sitters.values, by: \.user).values.allSatisfy { $0.count <= 5 })
        #expect(sitters.values.reduce(0) { $0 + $1.waiting } <= 4)
      }
    }
  }

  @Test("SIM-43, TRU-02: nobody has to go for somebody who is turned away")
  func nobodyGoesInVain() throws {
    var slots = AppSlots(
      AppSlots.Shares(
        connections: AppShare(app: 2, user: 2, all: 8), waiting: AppShare(app: 2, user: 3, all: 4),
        bytes: AppShare(app: 10, user: 15, all: 20), nameless: 2, namelessOfAll: 2))
    for _ in 0..<2 { try slots.identify(try slots.admit(user: 1).slot, as: ContainerID(unchecked: "a")) }
    let others = try (0..<2).map { _ in try slots.admit(user: 2).slot }
    // User 1 has its share, and those who have not said who they are have theirs.
    #expect(throws: CaravanError.self) { try slots.admit(user: 1) }
    #expect(slots.count == 4)
    for slot in others { try slots.identify(slot, as: ContainerID(unchecked: "b")) }
  }

  @Test("MOB-23: messages are never smaller than a fragment or larger than the largest, and grow again")
  func fragments() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      var size = FragmentSize()
      for _ in 0..<300 {
        let bound = size.bytes
        let bytes = Int.random(in: 0...bound, using: &chance)
        if Int.random(in: 0..<8, using: &chance) == 0 {
          size.lost(bytes, sentUnder: bound)
          #expect(size.bytes <= bound)
        } else {
          size.passed(bytes)
          #expect(size.bytes >= bound)
        }
        #expect((EngineLimits.fragmentBytes...EngineLimits.largestMessage).contains(size.bytes))
        #expect(size.whole >= size.bytes)
      }
      for _ in 0..<200 { size.passed(size.bytes) }
      #expect(size.isUnbroken, "seed \(seed)")
    }
  }

  @Test("SIM-82: events are numbered upwards whatever the clock says, and who was told is not told less")
  func events() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      var log = EventLog(from: 1_000)
      var (numbers, told) = ([UInt64](), UInt64(1_000))
      for _ in 0..<200 {
        switch Int.random(in: 0..<4, using: &chance) {
        case 0...1: numbers.append(log.next(UInt64.random(in: 500...3_000, using: &chance)))
        case 2:
          log.tell(upTo: UInt64.random(in: 0...4_000, using: &chance))
          #expect(log.told >= told && log.told <= log.last)
          told = log.told
        default:
          guard let floor = numbers.randomElement(using: &chance), floor > log.lowWatermark else { continue }
          (log.lowWatermark, log.count) = (floor, numbers.count { $0 > floor })
        }
        #expect(log.count == numbers.count { $0 > log.lowWatermark }, "seed \(seed)")
        #expect(log.isWhole(after: log.lowWatermark) && log.isWhole(after: log.last))
        #expect(!log.isWhole(after: log.last + 1))
      }
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy(<))
    }
  }

  @Test("I11: at no time is more lost than may be, and every row that was accepted is somewhere")
  func losses() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      let permille = UInt32.random(in: 1...1_000, using: &chance)
      var ledger = LossLedger(LossTolerance(maximumPermille: permille))
      for _ in 0..<500 {
        switch Int.random(in: 0..<5, using: &chance) {
        case 0...1: ledger.accept()
        case 2: ledger.settle(UInt64.random(in: 0...min(2, ledger.waiting), using: &chance))
        case 3: ledger.expire(UInt64.random(in: 0...min(1, ledger.waiting), using: &chance))
        default:
          let place = LossPlace.allCases.randomElement(using: &chance) ?? .queue
          ledger.lose(UInt64.random(in: 0...ledger.mayLose, using: &chance), to: place)
        }
        #expect(ledger.lost * 1_000 <= ledger.accepted * UInt64(permille), "seed \(seed)")
        #expect(ledger.waiting + ledger.settled + ledger.expired + ledger.lost == ledger.accepted)
      }
    }
  }

  @Test("noise from the kernel or the system's bus ends nothing")
  func noise() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      var dump = RouteDump()
      var dialogue = MeteringDialogue()
      _ = try? dialogue.receive(Array("OK 1\r\n".utf8))
      for _ in 0..<100 {
        var bytes = (0..<Int.random(in: 0...80, using: &chance)).map { _ in UInt8.random(in: 0...40, using: &chance) }
        if bytes.count > 6 {
          (bytes[1], bytes[2], bytes[3]) = (0, 0, 0)
          bytes[4] = [16, 24, 2, 3].randomElement(using: &chance) ?? 16
        }
        _ = dump.add(bytes)
        dump.addRoute(toBroker: bytes)
        if bytes.count > 3 { (bytes[0], bytes[3]) = (UInt8(ascii: "l"), 1) }
        if (try? dialogue.receive(bytes)) == nil {
          dialogue = MeteringDialogue()
          _ = try? dialogue.receive(Array("OK 1\r\n".utf8))
        }
      }
      _ = dump.link { _ in .tunnel }
    }
  }
}
