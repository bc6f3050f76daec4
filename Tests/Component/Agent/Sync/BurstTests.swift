import CaravanAgentCore
import CaravanBus
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: two devices that share rows with objects are silent most of the time (Simba, figure 3). Method: the whole
/// suite with a link of 2 MB/s, and everything that passes over it.
@Suite("Bursts", .timeLimit(.minutes(4)))
struct BurstTests {
  /// A link that has a latency and a width, and notes when something passes over it.
  private final class Ear: FaultPolicy {
    struct Sound {
      let device: String
      let second: Double
      let bytes: Int
      let isDown: Bool
    }

    private let heard = Mutex<[Sound]>([])
    private let clock = Mutex<(any CaravanRuntime.Clock)?>(nil)
    var sounds: [Sound] { heard.withLock { $0 } }

    func listen(by clock: any CaravanRuntime.Clock) { self.clock.withLock { $0 = clock } }

    func copies(of passage: Passage, random: any RandomSource) -> [Duration] {
      let devices = ["writer", "reader"]
      guard let device = devices.first(where: { $0 == passage.sender || $0 == passage.receiver }) else {
        return [.zero]
      }
      if let now = clock.withLock({ $0 })?.now {
        let sound = Sound(
          device: device, second: Double(now.nanoseconds) / 1e9, bytes: passage.bytes,
          isDown: device == passage.receiver)
        heard.withLock { $0.append(sound) }
      }
      return [.milliseconds(20) + .microseconds(passage.bytes / 2)]
    }
  }

  private struct Burst: CustomStringConvertible {
    var begin: Double
    var end: Double
    var bytes = 0
    var description: String { "\(begin)…\(end): \(bytes)" }
  }

  /// What passes with less than 3 s between is one.
  private static func bursts(_ sounds: [Ear.Sound]) -> [Burst] {
    var bursts: [Burst] = []
    for sound in sounds {
      if bursts.isEmpty || sound.second - bursts[bursts.count - 1].end > 3 {
        bursts.append(Burst(begin: sound.second, end: sound.second))
      }
      bursts[bursts.count - 1].end = sound.second
      bursts[bursts.count - 1].bytes += sound.bytes
    }
    return bursts
  }

  /// 1 MB, half of which says nothing.
  private static func photo(_ number: Int) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(number))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1_000_000)
    while bytes.count < 1_000_000 {
      for _ in 0..<64 { withUnsafeBytes(of: random.next().littleEndian) { bytes += $0 } }
      bytes += [UInt8](repeating: 0, count: 512)
    }
    return Array(bytes.prefix(1_000_000))
  }

  @Test("BEN-01: a row with an object every ten seconds, once a minute: short bursts, long silence")
  func bursts() throws {
    let ear = Ear()
    let suite = try SuiteCluster(seed: 1, policy: ear)
    ear.listen(by: suite.cluster.host("ear").host.clock)
    try suite.cluster.run(deadline: .seconds(20_000)) {
      let (writer, reader) = (try await suite.start("writer"), try await suite.start("reader"))
      let once = SyncRegistration(periodMilliseconds: 60_000, delayToleranceMilliseconds: 0, link: .wired)
      try await writer.createTable()
      try await writer.store.register(RunningDevice.table, .write, once)
      await writer.agent.engine.registrationsChanged(of: RunningDevice.table)
      let begin = writer.clock.now
      for number in 0..<20 {
        if number == 9 {
          // It comes 90 s late, and gets what it has missed.
          try await reader.createTable()
          try await reader.store.register(RunningDevice.table, .read, once)
          await reader.agent.engine.registrationsChanged(of: RunningDevice.table)
        }
        try await writer.writePhoto("photo \(number)", Self.photo(number))
        try await writer.clock.sleep(until: begin + .seconds(10 * (number + 1)))
      }
      try await writer.clock.sleep(for: .seconds(90))
      let bursts = ["writer", "reader"].map { name in Self.bursts(ear.sounds.filter { $0.device == name }) }
      for (name, bursts) in zip(["writer", "reader"], bursts) {
        #expect(bursts.count == 5, "\(name): \(bursts)")
        #expect(bursts.allSatisfy { $0.end - $0.begin < 2 }, "\(name): \(bursts)")
        #expect(bursts.reduce(0) { $0 + $1.end - $1.begin } < 0.05 * 300, "\(name): \(bursts)")
        // Nothing is sent twice, and not a hundredth is said about it.
        #expect((20_000_000..<20_200_000).contains(bursts.reduce(0) { $0 + $1.bytes }), "\(name): \(bursts)")
      }
      #expect(bursts[0].dropFirst(1).map { Int($0.begin.rounded()) } == [40, 100, 160, 220])
      #expect(Int(bursts[1][1].begin.rounded()) == 90 && bursts[1][1].bytes > 5_000_000, "it gets what it missed")
      #expect(try await reader.rows().count == 20)
    }
  }
}
