import CaravanModel
import Foundation
import Testing

@testable import CaravanDiffSync

/// Goal: replicas converge, to the state of a sequential oracle. Method: random histories of a few devices over a model
/// server, with lost questions and answers, dead clients, expired turns, purged tombstones and edits during a sync.
/// `DIFF_SEEDS` plays more of them.
@Suite struct HistoryTests {
  private static let seeds = ProcessInfo.processInfo.environment["DIFF_SEEDS"].flatMap(UInt64.init) ?? 500

  @Test("DIF-29: random histories converge to the oracle's state: deletes win, of each field the latest value stays")
  func converge() throws {
    let faults = try Self.run(hasRestores: false)
    #expect(["lost", "vanished", "busy", "finished"].allSatisfy { faults[$0, default: 0] > 50 }, "\(faults)")
  }

  @Test(
    "DIF-15, DIF-29, UNI-18: the server's restores from backups included, replicas give back what it lost and converge"
  )
  func restores() throws {
    let faults = try Self.run(hasRestores: true)
    #expect(["lost", "restored", "finished"].allSatisfy { faults[$0, default: 0] > 50 }, "\(faults)")
  }

  private static func run(hasRestores: Bool) throws -> [String: Int] {
    var faults: [String: Int] = [:]
    for seed in 1...seeds {
      var history = RandomHistory(seed: seed, isSkewed: false, hasRestores: hasRestores)
      try history.run(steps: hasRestores ? 36 : 24)
      try history.quiesce()
      for (index, device) in history.devices.enumerated() {
        let state = device.objects.mapValues(\.fields)
        guard state == history.oracle.state, device.log.isEmpty, state == history.server.state else {
          Issue.record(
            "seed \(seed), device \(index): \(state), server \(history.server.state), \(history.oracle.state)")
          return faults
        }
      }
      faults.merge(history.faults, uniquingKeysWith: +)
    }
    return faults
  }

  @Test("DIF-29, DIF-31: with clocks that disagree replicas converge all the same, and deletes win")
  func skewedClocks() throws {
    for seed in 1...(Self.seeds / 4) {
      var history = RandomHistory(seed: seed, isSkewed: true)
      try history.run(steps: 24)
      try history.quiesce()
      for (index, device) in history.devices.enumerated() {
        let state = device.objects.mapValues(\.fields)
        guard state == history.server.state, Set(state.keys) == history.oracle.live, device.log.isEmpty else {
          Issue.record("seed \(seed), device \(index): \(state), server \(history.server.state)")
          return
        }
      }
    }
  }
}
