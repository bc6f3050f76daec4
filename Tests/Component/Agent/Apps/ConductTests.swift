import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Glibc
import Testing

@testable import CaravanAgentApps

/// Goal: what apps do that they should not is counted, by app (SIM-45). Method: peers that say whatever they like, at
/// an agent's socket, or at one end of a pair with bounds of its own.
@Suite("Conduct of apps", .timeLimit(.minutes(1)))
struct ConductTests {
  private static func count(_ metrics: MetricsRegistry, _ app: String, _ kind: AppConduct.Kind) -> UInt64 {
    let labels: MetricLabels = [.container: app, .kind: kind.rawValue]
    guard case .counter(let count) = metrics.snapshot()[CounterName.misconduct.text, labels] else { return 0 }
    return count
  }

  @Test("SIM-45: garbage, too much in one message, and false names are counted, by app as far as that is known")
  func kinds() async throws {
    try await AppFixture.with { f in
      let garbage = Frame.head(message: 4) + [0xff, 0xff, 0xff, 0xff]
      let huge = [UInt8](repeating: 0xff, count: 64)
      let falseHello = AppRequest(id: 1, kind: .hello(AppHello(app: "other", token: String(repeating: "0", count: 64))))
      for (bytes, kind) in [(garbage, AppConduct.Kind.garbage), (huge, .excess)] {
        for app in ["other", AppConduct.unknown] {
          let before = Self.count(f.host.metrics, app, kind)
          let peer = app == "other" ? try await f.raw(app) : try RawPeer(f.socket)
          await peer.send(bytes)
          while try await peer.receive() != nil {}
          #expect(Self.count(f.host.metrics, app, kind) == before + 1)
        }
      }
      let stranger = try RawPeer(f.socket)
      await stranger.send(falseHello)
      while try await stranger.receive() != nil {}
      #expect(Self.count(f.host.metrics, AppConduct.unknown, .unauthenticated) == 1)
      #expect(Self.count(f.host.metrics, "other", .unauthenticated) == 0)
    }
  }

  @Test(
    "SIM-45: who reads nothing, or stops in the middle of a message, is cut off and counted", arguments: [false, true])
  func standstill(readsNothing: Bool) async throws {
    try await AppFixture.with { f in
      try await f.app("slow") { _ in }
      let hello = f.hello("slow")
      var ends: [Int32] = [-1, -1]
      let made = socketpair(AF_UNIX, FrameSocket.streamType, 0, &ends)
      #expect(made == 0)
      let bounds = FrameSocket.Bounds(
        messageBytes: 1_000, backlogBytes: 1 << 20, maximumBacklogBytes: 8 << 20,
        stall: readsNothing ? nil : .milliseconds(20))
      let (socket, peer, peers) = (try FrameSocket(ends[0], bounds), RawPeer(ends[1]), AppPeers())
      let (owner, metrics) = (try peers.add(socket), MetricsRegistry())
      let places = AppPeer.Places(
        store: f.store, sync: f.sync, register: AppRegister(.init(), store: f.store, log: f.host.log),
        tokens: try TokenDirectory(of: f.socket, user: geteuid()), conduct: AppConduct(metrics))
      let app = AppPeer(socket, owner: owner, places)
      async let served: Void = app.run(peers)
      await peer.send(hello)
      _ = try await peer.receive()
      if readsNothing {
        for _ in 0..<10 { socket.post([UInt8](repeating: 1, count: 1 << 20)) }
      } else {
        await peer.send(Frame.head(message: 9))
      }
      await served
      #expect(Self.count(metrics, "slow", .standstill) == 1)
    }
  }

  @Test("SIM-45: so many apps have counters of their own, and no more")
  func bounded() {
    let metrics = MetricsRegistry()
    let conduct = AppConduct(metrics)
    for number in 0..<AppLimits.countedApps + 3 { conduct.note(.garbage, of: ContainerID(unchecked: "app\(number)")) }
    #expect(Self.count(metrics, "app0", .garbage) == 1)
    #expect(Self.count(metrics, AppConduct.others, .garbage) == 3)
    conduct.note(CaravanError(.storageFull, "no room"), of: nil)
    #expect(AppConduct.Kind.allCases.allSatisfy { Self.count(metrics, AppConduct.unknown, $0) == 0 })
  }
}
