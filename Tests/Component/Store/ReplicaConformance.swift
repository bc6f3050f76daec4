import CaravanModel
import CaravanRuntime
import CaravanStore
import CaravanTestKit
import CaravanWire
import Testing

/// Goal: replicas that pull from anywhere, in pages of any size, end equal to the store (I4, I6, I9). Method: seeded
/// random commits beside a plain dictionary, and devices that pull now and then.
@Suite(.timeLimit(.minutes(2))) struct ReplicaConformance {
  /// What a device holds, by name.
  private struct Replica {
    var rows: [String: [UInt8]] = [:]
    var position: CaravanModel.ChangePosition?

    mutating func apply(_ page: ChangePage, _ entries: [CaravanWire.Entry]) {
      for entry in entries { rows[entry.name] = entry.deleted ? nil : entry.body }
      position = page.next
    }
  }

  private struct Truth {
    var rows: [String: (version: Seq, body: [UInt8])] = [:]
    var bodies: [String: [UInt8]] { rows.mapValues(\.body) }

    /// What the store answered must follow from what was there.
    mutating func apply(_ mutations: [CaravanModel.Mutation], _ outcomes: [CaravanModel.Outcome]) throws {
      #expect(mutations.count == outcomes.count)
      for (mutation, outcome) in zip(mutations, outcomes) {
        let held = rows[mutation.name]
        switch outcome {
        case .accepted(let version):
          if case .absent = mutation.base { #expect(held == nil) }
          if case .version(let base) = mutation.base, let held { #expect(held.version == base) }
          switch mutation.change {
          case .save(_, let body, _): rows[mutation.name] = (version, body)
          case .delete: rows[mutation.name] = nil
          case .read: break
          }
        case .conflict(let server):
          #expect(server?.isDeleted ?? true == (held == nil) && (held == nil || server?.version == held?.version))
        case .aborted, .merged, .read, .refused: break
        }
      }
    }
  }

  @Test(
    "I4, I6, I9: random writes, random pulls, equal ends", arguments: StoreKind.allCases, 1...6 as ClosedRange<UInt64>)
  func converge(kind: StoreKind, seed: UInt64) async throws {
    try await StoreBench.with(kind) { bench in
      let zone = try Sample.zone()
      var random = SplitMix64(seed: seed)
      var truth = Truth()
      var replicas = [Replica](repeating: Replica(), count: 4)
      for step in 0..<150 {
        let names = Set((0...Int.random(in: 0..<6, using: &random)).map { _ in Int.random(in: 0..<25, using: &random) })
        let mutations = names.sorted().map { Self.mutation("r\($0)", truth, &random) }
        let isAtomic = Bool.random(using: &random)
        let outcomes = try await bench.outcomes(zone, mutations, atomic: isAtomic)
        if !isAtomic || !outcomes.contains(.aborted) { try truth.apply(mutations, outcomes) }
        if step.isMultiple(of: 3) {
          let device = Int.random(in: 0..<3, using: &random)
          let size = Int.random(in: 1..<12, using: &random)
          try await Self.pull(bench, zone, &replicas[device], size)
        }
      }
      for device in replicas.indices {
        while try await Self.pull(bench, zone, &replicas[device], 7) {}
        #expect(replicas[device].rows == truth.bodies, "device \(device), seed \(seed)")
      }
      #expect(try await bench.store.status().records == UInt64(truth.rows.count))
    }
  }

  private static func mutation(_ name: String, _ truth: Truth, _ random: inout SplitMix64) -> CaravanModel.Mutation {
    let base: Base =
      switch Int.random(in: 0..<4, using: &random) {
      case 0: .any
      case 1: .absent
      case 2: .version(truth.rows[name]?.version ?? 1)
      default: .version(truth.rows[name].map { $0.version - 1 } ?? 2)
      }
    if Int.random(in: 0..<3, using: &random) == 0 { return Sample.delete(name, base: base) }
    return Sample.save(name, base: base, body: [UInt8.random(in: 0...255, using: &random), 1])
  }

  @discardableResult
  private static func pull(
    _ bench: StoreBench, _ zone: ZoneID, _ replica: inout Replica, _ size: Int
  ) async throws -> Bool {
    let (page, entries) = try await bench.page(
      ChangeQuery(zone: zone, position: replica.position, maxRecords: size))
    replica.apply(page, entries)
    return page.more
  }
}
