import CaravanModel
import CaravanStore
import CaravanTestKit
import Testing

/// Goal: CK-22 and CK-23 hold on every engine, for clients that meet at the store. Method: many clients, few records,
/// everything written down and given to the checker of histories.
@Suite(.timeLimit(.minutes(2))) struct StoreHistoryTests {
  @Test(
    "CK-22, CK-23, UNI-13: what clients of a store see is linearizable and serialisable", arguments: StoreKind.allCases)
  func concurrency(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let recorder = CallRecorder()
      let zone = try Sample.zone()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for client in 0..<8 {
          group.addTask {
            var client = StoreClient(client, bench, zone, recorder)
            for _ in 0..<50 { try await client.act() }
          }
        }
        try await group.waitForAll()
      }
      let findings = ZoneHistory(recorder.calls).findings(isSerialisable: true)
      #expect(findings.isEmpty, "\(findings.prefix(3))")
      #expect(recorder.calls.count == 400)
    }
  }

  @Test(
    "CK-23, UNI-07: a batch that is asked for again does not show records as later commits left them",
    arguments: StoreKind.allCases)
  func replay(kind: StoreKind) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      try await bench.commit(zone, [Sample.save("x"), Sample.save("z")])
      let op = bench.op()
      let batch = [Sample.read("x"), Sample.read("z"), Sample.read("none"), Sample.save("y")]
      let first = try await bench.outcomes(zone, batch, op: op, atomic: true)
      #expect(first.map(\.shown) == [1, 2, 0, nil] && first.last == .accepted(version: 3))
      #expect(try await bench.outcomes(zone, batch, op: op, atomic: true) == first)
      try await bench.commit(zone, [Sample.save("x"), Sample.save("none")])
      let again = try await bench.outcomes(zone, batch, op: op, atomic: true)
      #expect(again.map(\.shown) == [nil, 2, nil, nil] && again.last == .accepted(version: 3))
      #expect(again[0] == .aborted && again[2] == .aborted, "what was read is not there any more: read again")
    }
  }
}

extension Outcome {
  /// Version that a read shows; 0: nothing.
  fileprivate var shown: Seq? {
    if case .read(let entry) = self { entry?.version ?? 0 } else { nil }
  }
}

/// One client that writes down what it does.
private struct StoreClient {
  private let name: String
  private let bench: StoreBench
  private let zone: ZoneID
  private let recorder: CallRecorder
  private var chance: SplitMix64
  private var known: [String: Seq] = [:]
  private var values = 0

  init(_ number: Int, _ bench: StoreBench, _ zone: ZoneID, _ recorder: CallRecorder) {
    name = "c\(number)"
    self.bench = bench
    self.zone = zone
    self.recorder = recorder
    chance = SplitMix64(seed: UInt64(number))
  }

  private mutating func below(_ bound: Int) -> Int { Int(chance.next() % UInt64(bound)) }

  mutating func act() async throws {
    let names = Array((0..<5).map { "r\($0)" }.shuffled(using: &chance).prefix(1 + below(3)))
    switch below(10) {
    case 0...1:
      let call = recorder.begin(name, .fetch(names))
      recorder.end(call, ZoneCall.Answer(fetched: try await bench.store.fetch(names, in: zone)))
    case 2...3: try await pull()
    default: try await commit(names)
    }
  }

  private func pull() async throws {
    let call = recorder.begin(name, .pull(after: 0))
    let page = try await bench.store.changes(ChangeQuery(zone: zone))
    recorder.end(
      call, .pulled(try ZoneCall.Page(page: page.page, last: page.next?.seq ?? 0, head: page.head, more: page.more)))
  }

  private mutating func commit(_ names: [String]) async throws {
    let mutations = names.map { mutation($0) }
    let commit = Commit(zone: zone, op: bench.op(name), isAtomic: below(2) == 0, mutations: mutations)
    let call = recorder.begin(name, ZoneCall.Request(commit))
    let answer = ZoneCall.Answer(try await bench.store.commit(commit))
    recorder.end(call, answer)
    guard case .committed(let verdicts, _) = answer else { return }
    for (name, verdict) in zip(names, verdicts) {
      switch verdict {
      case .accepted(let version): known[name] = version
      case .conflict(let observation), .read(let observation): known[name] = observation?.version ?? 0
      case .aborted, .refused: continue
      }
    }
  }

  private mutating func mutation(_ record: String) -> Mutation {
    let version = known[record] ?? 0
    let base: Base = below(4) == 0 ? .any : version == 0 ? .absent : .version(version)
    values += 1
    switch below(8) {
    case 0: return Sample.delete(record, base: base)
    case 1...2: return Sample.read(record, base: below(2) == 0 ? .any : base)
    default:
      let body = ZoneCall.body("\(name).\(values)")
      return Mutation(name: record, base: base, change: .save(type: 1, body: body, chunks: []))
    }
  }
}
