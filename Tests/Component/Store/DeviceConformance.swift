import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: devices that write, conflict, lose replies, stay away and are reset end equal to the store, whatever was
/// elided and purged meanwhile (I4, I9), and an active one is never reset (I17). Method: seeded random lives beside a
/// plain dictionary, with time in the test's hands.
@Suite(.timeLimit(.minutes(2))) struct DeviceConformance {
  private static let rule: TombstoneRule = {
    var rule = TombstoneRule()
    (rule.activity, rule.grace) = (.seconds(48 * 3_600), .seconds(3_600))
    return rule
  }()

  @Test(
    "I4, I9, I17: devices of every kind end equal; active ones go on", arguments: StoreKind.allCases,
    1...8 as ClosedRange<UInt64>)
  func lives(kind: StoreKind, seed: UInt64) async throws {
    try await StoreBench.with(kind, tombstones: Self.rule) { bench in
      var cluster = try Cluster(bench, seed: seed)
      for _ in 0..<400 { try await cluster.step() }
      try await cluster.rest()
    }
  }

  private struct Cluster {
    let bench: StoreBench
    let zone: ZoneID
    var random: SplitMix64
    var devices: [DeviceModel]
    var purged = 0

    init(_ bench: StoreBench, seed: UInt64) throws {
      self.bench = bench
      zone = try Sample.zone()
      random = SplitMix64(seed: seed)
      devices = ["phone", "tablet", "watch", "sensor"].map { DeviceModel(name: $0) }
    }

    mutating func step() async throws {
      let index = Int.random(in: 0..<devices.count, using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<9: try await devices[index].push(to: zone, bench, &random)
      // The sensor seldom pulls, and some devices stay away for days.
      case 9..<16: if index < 3 || Int.random(in: 0..<20, using: &random) == 0 { try await pull(index) }
      case 16: bench.clock.advance(by: .seconds(Int.random(in: 0..<40_000, using: &random)))
      case 17: while try await bench.store.collect() {}
      default: bench.clock.advance(by: .seconds(Int.random(in: 0..<4_000, using: &random)))
      }
    }

    private mutating func pull(_ index: Int) async throws {
      for _ in 0..<Int.random(in: 1..<4, using: &random) {
        let size = Int.random(in: 1..<9, using: &random)
        if devices[index].position == nil { devices[index].mode = Bool.random(using: &random) ? .forward : .reverse }
        let (wasReset, more) = try await devices[index].pull(zone, bench, atMost: size)
        let away = devices[index].lastPull.map { bench.clock.now - $0 }
        if wasReset, let away {
          let activity = DeviceConformance.rule.activity
          #expect(away >= activity - activity / 24, "\(devices[index].name) was reset after \(away)")
        }
        devices[index].lastPull = bench.clock.now
        if !more { return }
      }
    }

    /// Everybody comes back, and says and hears all.
    mutating func rest() async throws {
      for index in devices.indices { try await devices[index].replay(to: zone, bench) }
      let truth = try await bench.pull(zone).filter { !$0.deleted }
      for index in devices.indices {
        while try await devices[index].pull(zone, bench, atMost: 5).more {}
        let rows = devices[index].rows.mapValues(\.version)
        #expect(rows == Dictionary(uniqueKeysWithValues: truth.map { ($0.name, $0.version) }), "\(devices[index].name)")
        #expect(
          devices[index].rows.mapValues(\.body) == Dictionary(uniqueKeysWithValues: truth.map { ($0.name, $0.body) }))
      }
    }
  }
}

/// A device as far as the store can tell: what it holds, where it is, and the op it has no answer to.
private struct DeviceModel {
  let name: String
  var rows: [String: (version: Seq, body: [UInt8])] = [:]
  var position: CaravanModel.ChangePosition?
  /// How the zone is listed.
  var mode = ChangeQuery.Mode.forward
  var lastPull: Instant?
  /// Held, and not named since the reset.
  private var unconfirmed: Set<String>?
  private var open: (op: OpID, mutations: [CaravanModel.Mutation])?
  /// What pages said of rows in the open op.
  private var waiting: [String: CaravanWire.Entry] = [:]

  init(name: String) { self.name = name }

  // MARK: Up

  mutating func push(to zone: ZoneID, _ bench: StoreBench, _ random: inout SplitMix64) async throws {
    try await replay(to: zone, bench)
    let names = Set((0...Int.random(in: 0..<4, using: &random)).map { _ in Int.random(in: 0..<15, using: &random) })
    let mutations = names.sorted().map { mutation("r\($0)", &random) }
    open = (bench.op(name), mutations)
    guard let open else { return }
    let result = try await bench.commit(zone, open.mutations, op: open.op)
    if Int.random(in: 0..<4, using: &random) > 0 { try takeIn(result) }
  }

  /// The reply was lost: the same op again.
  mutating func replay(to zone: ZoneID, _ bench: StoreBench) async throws {
    guard let open else { return }
    try takeIn(try await bench.commit(zone, open.mutations, op: open.op))
  }

  private func mutation(_ name: String, _ random: inout SplitMix64) -> CaravanModel.Mutation {
    let base: Base = rows[name].map { .version($0.version) } ?? .absent
    if rows[name] != nil, Int.random(in: 0..<5, using: &random) < 2 { return Sample.delete(name, base: base) }
    return Sample.save(name, base: base, body: [UInt8.random(in: 0...255, using: &random), 1])
  }

  private mutating func takeIn(_ result: CommitResult) throws {
    guard let open, case .applied(let outcomes, _, _, _) = result else { throw Unexpected(result) }
    self.open = nil
    for (mutation, outcome) in zip(open.mutations, outcomes) {
      switch (outcome, mutation.change) {
      case (.accepted(let version), .save(_, let body, _)): hold(mutation.name, version, body)
      case (.accepted, .delete): rows[mutation.name] = nil
      // Theirs.
      case (.conflict(let server?), _) where !server.isDeleted: hold(server.name, server.version, server.body)
      case (.conflict, _): rows[mutation.name] = nil
      case (.accepted, _), (.aborted, _), (.merged, _), (.read, _), (.refused, _): throw Unexpected(outcome)
      }
    }
    for entry in waiting.values { apply(entry) }
    waiting = [:]
  }

  private mutating func hold(_ name: String, _ version: Seq, _ body: [UInt8]) {
    rows[name] = (version, body)
    unconfirmed?.remove(name)
  }

  // MARK: Down

  mutating func pull(_ zone: ZoneID, _ bench: StoreBench, atMost size: Int) async throws -> (wasReset: Bool, more: Bool)
  {
    let query = ChangeQuery(
      zone: zone, position: position, mode: mode, maxRecords: size, reader: .init(writer: name, epoch: 1),
      isFresh: unconfirmed != nil)
    let (page, entries) = try await bench.page(query)
    if page.resetRequired {
      #expect(position != nil || unconfirmed == nil, "a fresh listing is never reset")
      position = nil
      unconfirmed = Set(rows.keys)
      return (true, true)
    }
    for entry in entries {
      if open?.mutations.contains(where: { $0.name == entry.name }) == true {
        waiting[entry.name] = entry
      } else {
        apply(entry)
      }
    }
    position = page.next
    if !page.more { endListing() }
    return (false, page.more)
  }

  private mutating func apply(_ entry: CaravanWire.Entry) {
    unconfirmed?.remove(entry.name)
    if let row = rows[entry.name], row.version >= entry.version { return }
    if entry.deleted {
      rows[entry.name] = nil
    } else if !entry.own {
      rows[entry.name] = (entry.version, entry.body)
    } else if let row = rows[entry.name] {
      rows[entry.name] = (entry.version, row.body)
    }
  }

  private mutating func endListing() {
    let inOpenOp = Set(open?.mutations.map(\.name) ?? [])
    for name in unconfirmed ?? [] where !inOpenOp.contains(name) { rows[name] = nil }
    unconfirmed = nil
  }
}
