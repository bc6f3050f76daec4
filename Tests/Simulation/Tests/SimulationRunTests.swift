import CaravanSimulation
import Foundation
import Testing

/// Goal: the simulation finds what is broken, and shows the same twice. Method: the executable itself, in processes of
/// its own, for the order of hashed collections is fixed when a process starts.
@Suite(.serialized) struct SimulationRunTests {
  private struct Result {
    let status: Int32
    let lines: [String]
  }

  /// What CARAVAN_SIMULATION names, an optimised one say; or what lies beside the test bundle.
  private static let executable: URL = {
    if let path = ProcessInfo.processInfo.environment["CARAVAN_SIMULATION"] { return URL(fileURLWithPath: path) }
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.path + "/caravan-simulation") {
      folder.deleteLastPathComponent()
    }
    return folder.appendingPathComponent("caravan-simulation")
  }()

  private func simulate(_ arguments: [String], environment: [String: String] = [:]) throws -> Result {
    let process = Process()
    process.executableURL = Self.executable
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus,
      lines: String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init))
  }

  private func hashes(from first: Int, count: Int) throws -> [String] {
    let result = try simulate(["--from", "\(first)", "--seeds", "\(count)", "--trace"])
    #expect(result.status == 0, "\(result.lines.suffix(3))")
    return result.lines.filter { $0.contains("trace hash") }
  }

  @Test("the same seed gives the same trace, in another process")
  func determinism() throws {
    let first = try hashes(from: 1, count: 3)
    #expect(first.count == 3)
    #expect(Set(first).count == 3)
    #expect(try hashes(from: 1, count: 3) == first)
    // Whatever came before in the same process changes nothing.
    #expect(try hashes(from: 3, count: 1) == Array(first.suffix(1)))
  }

  @Test("SIM_SEED plays one seed, as --seed does")
  func replay() throws {
    let one = try simulate(["--trace"], environment: ["SIM_SEED": "7"])
    #expect(one.lines.last?.hasPrefix("1 seeds, 0 failed") == true, "\(one.lines.suffix(1))")
    let hash = one.lines.filter { $0.contains("trace hash") }
    #expect(try simulate(["--seed", "7", "--trace"]).lines.filter { $0.contains("trace hash") } == hash)
  }

  @Test("a store that forgets its ops is found within 200 seeds")
  func brokenOps() throws {
    let result = try simulate(["--seeds", "200", "--stop", "--break", "op-ids"])
    #expect(result.status == 1)
    #expect(result.lines.contains { $0.hasPrefix("seed ") && $0.contains(": I") }, "\(result.lines)")
  }

  @Test(
    "TRU-21: a planted fault that only one kind of checker sees is found",
    arguments: [Breakage.ticketWithoutDevice, .leaseNotAsked, .foreignLink, .uncountedBytes])
  func planted(_ breakage: Breakage) throws {
    let result = try simulate(["--seeds", "3", "--stop", "--break", breakage.rawValue])
    #expect(result.status == 1, "\(result.lines.suffix(3))")
  }

  @Test(
    "TRU-13: permissions that are too wide or too narrow are found, and a revocation that the broker never heard",
    arguments: [Breakage.wideInbox, .wideEdge, .narrowSync, .revocationUntold])
  func permissions(_ breakage: Breakage) throws {
    let result = try simulate(["--seeds", "10", "--stop", "--break", breakage.rawValue])
    #expect(result.status == 1, "\(result.lines.suffix(3))")
    let checker = breakage == .narrowSync ? "architecture §4" : "TRU-01, TRU-05"
    #expect(result.lines.contains { $0.contains(": \(checker)") }, "\(result.lines.suffix(3))")
  }

  @Test(
    "TRU-13: an app that is taken for the owner is found, and a storage that syncs nothing when the power fails",
    arguments: [Breakage.hostileOwner, .storageUnsynced])
  func harm(_ breakage: Breakage) throws {
    let result = try simulate(["--seeds", "10", "--stop", "--break", breakage.rawValue])
    #expect(result.status == 1, "\(result.lines.suffix(3))")
    #expect(result.lines.contains { $0.contains(": TRU-01, TRU-05") } == (breakage == .hostileOwner), "\(result.lines)")
  }

  /// In the last, devices of both users send at one moment, and the secret says whether a frame of its user is packed.
  @Test(
    "TRU-01: devices of others get the same, whatever one user writes",
    arguments: [["--seeds", "3"], ["--seed", "427"]])
  func twice(_ seeds: [String]) throws {
    let result = try simulate(["--twice"] + seeds)
    #expect(result.status == 0, "\(result.lines.suffix(3))")
  }

  @Test(
    "TRU-01: what others get that depends on what one user writes is found by a second run",
    arguments: [Breakage.nosyPages, .nosyNotify])
  func nosy(_ breakage: Breakage) throws {
    let result = try simulate(["--twice", "--seeds", "30", "--stop", "--break", breakage.rawValue])
    #expect(result.status == 1, "\(result.lines.suffix(3))")
    #expect(result.lines.contains { $0.contains(": TRU-01 what a user writes") }, "\(result.lines.suffix(3))")
  }

  @Test("TRU-21: the help names every fault that can be planted, a dozen at least")
  func names() throws {
    let help = try simulate(["--help"]).lines.joined(separator: " ")
    for breakage in Breakage.allCases { #expect(help.contains(breakage.rawValue)) }
    #expect(Breakage.allCases.count >= 12)
  }

  @Test("what cannot be broken is said so")
  func usage() throws { #expect(try simulate(["--break", "gravity"]).status == 2) }
}
