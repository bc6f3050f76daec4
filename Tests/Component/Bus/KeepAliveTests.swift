import CaravanBus
import CaravanBusNATS
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Glibc
import Testing

@Suite("Signs of life", .timeLimit(.minutes(2)))
struct KeepAliveTests {
  @Test("The kernel asks whether the broker is there, also after a reconnection: no thread wakes for it")
  func kernelAsks() async throws {
    let cluster = try await NATSCluster()
    let bus = try await cluster.connect("a")
    do {
      try await waitUntilAsked(on: cluster.configuration.port)
      try await cluster.killBroker()
      try await cluster.startBroker()
      try await waitUntilAsked(on: cluster.configuration.port)
    } catch {
      await cluster.close()
      throw error
    }
    await bus.drain(deadline: .seconds(1))
    await cluster.close()
  }

  @Test("A broker that hangs is given up within ten seconds by what serves, and taken again when it goes on")
  func hangingBroker() async throws {
    let cluster = try await NATSCluster()
    let bus = try await cluster.connect("a", pinging: LaunchLimits.brokerPings)
    await cluster.signalBroker(SIGSTOP)
    do {
      try await eventually("it is noticed", within: .seconds(10)) { !bus.isConnected }
      let refusal = await failure { try await bus.publish(Message(), to: .echo) }
      #expect(refusal?.code == .unavailable && refusal?.message.contains("not connected") == true)
      #expect(refusal?.message.contains("127.0.0.1") == false, "whoever asks may be anybody")
      await cluster.signalBroker(SIGCONT)
      try await eventually("it is taken again", within: .seconds(20)) { bus.isConnected }
    } catch {
      await cluster.signalBroker(SIGCONT)
      await cluster.close()
      throw error
    }
    await bus.drain(deadline: .seconds(1))
    await cluster.close()
  }

  @Test("A process that stops in order says that its bus is closed, and warns of nothing")
  func orderlyStop() async throws {
    let cluster = try await NATSCluster()
    let lines = MemoryLogSink()
    let host = Host.quiet.with(log: Log(level: .info, clock: Host.quiet.clock, sink: lines))
    let lifetime = BusLifetime(try await cluster.connect("a"), host: host)
    lifetime.shutDown()
    try await lifetime.run()
    await cluster.close()
    #expect(lines.records.map(\.message) == ["the bus is closed"])
  }

  /// The kernel's table of connections (proc(5), /proc/net/tcp) says which timer each has: 2 is the one that asks.
  private func waitUntilAsked(on port: UInt16) async throws {
    let expiry = Host.quiet.clock.now + .seconds(20)
    while true {
      let connections = try TextFile.read("/proc/net/tcp").split(separator: "\n").dropFirst()
        .map { $0.split(separator: " ") }
        .filter { $0.count > 5 && Self.port(in: $0[2]) == port && $0[3] == "01" }
      if let connection = connections.first, connection[5].hasPrefix("02:") { return }
      guard Host.quiet.clock.now < expiry else { throw Unexpected("connections \(connections)") }
      try await Host.quiet.clock.sleep(for: .milliseconds(10))
    }
  }

  private static func port(in address: Substring) -> UInt16? {
    address.split(separator: ":").last.flatMap { UInt16($0, radix: 16) }
  }
}
