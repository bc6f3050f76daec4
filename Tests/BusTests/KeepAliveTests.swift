import Bus
import BusNATS
import Launch
import Model
import Runtime
import Testing

@Suite("Signs of life", .timeLimit(.minutes(2)))
struct KeepAliveTests {
  @Test("The kernel asks whether the broker is there, also after a reconnection: no thread wakes for it (MOB-32)")
  func kernelAsks() async throws {
    let world = try await NATSWorld()
    let bus = try await world.connect("a")
    do {
      try await waitUntilAsked(on: world.configuration.port)
      try await world.killBroker()
      try await world.startBroker()
      try await waitUntilAsked(on: world.configuration.port)
    } catch {
      await world.close()
      throw error
    }
    await bus.drain(deadline: .seconds(1))
    await world.close()
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
