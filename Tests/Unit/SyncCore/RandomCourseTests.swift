import CaravanModel
import CaravanSyncCore
import CaravanTestKit
import Testing

/// Goal: no frame's answer is too large, and its operations run in order, whatever devices ask for. Method: random
/// frames beside a plain count.
@Suite struct RandomCourseTests {
  private static let seeds: Range<UInt64> = 1..<501

  @Test("what is granted to the operations of a frame fits its answer, in whatever order they end")
  func budgets() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      let pulls = Int.random(in: 0...40, using: &chance)
      let operations = pulls + Int.random(in: 0...40, using: &chance)
      // Devices say how large what they push is: more, at times, than an answer holds.
      let setAside = Int.random(in: 0...(3 << 20), using: &chance)
      let room = Limits.frameBytes - operations * SyncLimits.replyBytesPerOperation - setAside
      var budget = ReplyBudget(operations: operations, pulls: pulls, setAside: setAside)
      var (promised, sent, left, returned) = ([Int](), 0, pulls, setAside)
      while left > 0 || !promised.isEmpty || returned > 0 {
        switch Int.random(in: 0..<3, using: &chance) {
        case 0 where left > 0:
          left -= 1
          let wanted = Int.random(in: 1...Limits.pageBytes, using: &chance)
          guard let granted = budget.take(wanted) else { continue }
          #expect(granted <= wanted)
          promised.append(granted)
        case 1 where !promised.isEmpty:
          let taken = promised.removeLast()
          let needed = Int.random(in: 0...(taken + 2_000), using: &chance)
          sent += budget.settle(taken: taken, needed: needed, least: needed / 2) ?? 0
        case 2 where returned > 0:
          let part = min(returned, Int.random(in: 1...(1 << 20), using: &chance))
          returned -= part
          sent += budget.settle(taken: part, needed: part / 2, least: 0) ?? 0
        default: continue
        }
        #expect(sent + promised.reduce(0, +) <= max(0, room) + setAside, "seed \(seed)")
      }
    }
  }

  @Test("every operation of a frame runs once, and those of one scope in their order")
  func lanes() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      let scopes = (0..<Int.random(in: 0...50, using: &chance)).map { _ in
        let name = "\(Int.random(in: 0..<4, using: &chance))"
        let all: [OperationScope] = [
          .session, .zone(container: "a", zone: name), .zones(container: name), .types(container: name),
          .lock(container: name),
        ]
        return all.randomElement(using: &chance) ?? .session
      }
      let lanes = Lanes.plan(scopes)
      #expect(lanes.flatMap(\.self).sorted() == Array(scopes.indices))
      for lane in lanes { #expect(lane == scopes.indices.filter { scopes[$0] == scopes[lane[0]] }, "seed \(seed)") }
    }
  }

  @Test("MOB-08, I12: nobody is put off for longer than its app can wait, however hard the times")
  func admission() {
    for seed in Self.seeds {
      var chance = SplitMix64(seed: seed)
      let slack = UInt32.random(in: 0...UInt32.max >> UInt32.random(in: 0..<32, using: &chance), using: &chance)
      let intent = Admission.Intent(slackMilliseconds: slack, toleratedRows: UInt32.random(in: 0...1, using: &chance))
      let load = Load.allCases.randomElement(using: &chance) ?? .quiet
      switch Admission.decide(intent, under: load, random: chance.next()) {
      case .admit: #expect(load != .overloaded || intent.toleratedRows == 0)
      case .postpone(let wait): #expect(wait <= slack && load != .quiet)
      case .shed: #expect(intent.toleratedRows > 0 && load == .overloaded)
      }
    }
  }

  @Test("UNI-07: no two rows, attempts or pushes settle under one number, and none under one that is forgotten")
  func settlements() {
    var seen: Set<UInt64> = []
    var chance = SplitMix64(seed: 1)
    let last: UInt64 = 1 << 28 - 1
    let ops: [UInt64] = [0, last] + (0..<50).map { _ in UInt64.random(in: 0...last, using: &chance) }
    for op in ops {
      guard !seen.contains(op << 12) else { continue }
      for row in [0, 1, Limits.recordsPerCommit - 1] {
        guard let ops = SettlementOps(op: op, floor: op / 2, row: row) else {
          Issue.record("op \(op) has no numbers")
          continue
        }
        for attempt in 0..<8 {
          let number = ops.number(attempt)
          let isNew = seen.insert(number).inserted
          #expect(isNew && number >= ops.floor && number < 1 << 40)
        }
      }
    }
    #expect(SettlementOps(op: last + 1, floor: 0, row: 0) == nil)
  }
}
