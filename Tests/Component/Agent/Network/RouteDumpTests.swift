import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Testing

@testable import CaravanAgentNetwork

/// Goal: the link is the one the kernel's routes lead to. Method: dumps made by hand as rtnetlink(7) describes them,
/// the kernel's own, and noise.
@Suite struct RouteDumpTests {
  private static let (up, running): (UInt32, UInt32) = (0x1, 0x40)

  private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
    let padding = [UInt8](repeating: 0, count: -value.count & 3)
    return bytes(UInt16(4 + value.count)) + bytes(type) + value + padding
  }

  private static func message(_ type: UInt16, flags: UInt16 = 2, _ body: [UInt8]) -> [UInt8] {
    bytes(UInt32(16 + body.count)) + bytes(type) + bytes(flags) + bytes(UInt32(1)) + bytes(UInt32(0)) + body
  }

  static func device(
    _ index: Int32, _ name: String, hardware: UInt16 = 1, software: String? = nil, flags: UInt32 = up | running
  ) -> [UInt8] {
    let header = [0, 0] + bytes(hardware) + bytes(index) + bytes(flags) + bytes(UInt32(0))
    let kind = software.map { attribute(18, attribute(1, Array($0.utf8) + [0])) } ?? []
    return message(16, header + attribute(3, Array(name.utf8) + [0]) + kind)
  }

  static func route(_ device: Int32, metric: UInt32? = nil, length: UInt8 = 0, table: UInt8 = 254) -> [UInt8] {
    let header: [UInt8] = [2, length, 0, 0, table, 3, 0, 1] + bytes(UInt32(0))
    return message(
      24,
      header + attribute(15, bytes(UInt32(table))) + (metric.map { attribute(6, bytes($0)) } ?? [])
        + attribute(4, bytes(device)))
  }

  /// Network is unreachable.
  static let refusal = message(2, bytes(Int32(-101)))
  /// An address of this machine itself.
  static func local(_ device: Int32) -> [UInt8] {
    message(24, [2, 32, 0, 0, 255, 2, 254, 2] + bytes(UInt32(0)) + attribute(4, bytes(device)))
  }

  private static let end = message(3, bytes(UInt32(0)))

  private static func link(_ messages: [[UInt8]]) -> LinkClass? {
    var dump = RouteDump()
    for message in messages { #expect(dump.add(message) == .more) }
    #expect(dump.add(end) == .done)
    let sighting = dump.link { device in
      RouteDump.kind(
        of: device,
        InterfaceFacts(uevent: device.name.hasPrefix("wl") ? "DEVTYPE=wlan\nINTERFACE=\(device.name)\n" : ""))
    }
    if case .link(let link) = sighting { return link }
    #expect(sighting == .nothing)
    return nil
  }

  @Test("MOB-44: the way out of least metric that has a carrier is the link")
  func leastMetric() {
    let (wired, wifi) = (Self.device(2, "eth0"), Self.device(3, "wlan0"))
    let routes = [Self.route(2, metric: 100), Self.route(3, metric: 600)]
    #expect(Self.link([wired, wifi] + routes) == .wired)
    #expect(Self.link([wired, wifi, Self.route(3)] + routes) == .wifi)
    let pulled = Self.device(2, "eth0", flags: Self.up)
    #expect(Self.link([pulled, wifi] + routes) == .wifi)
    #expect(Self.link([pulled, wifi, routes[0]]) == nil)
    #expect(Self.link([wired + wifi + routes[0] + routes[1]]) == .wired)
  }

  @Test("Only default routes of the main table lead out")
  func otherRoutes() {
    let wired = Self.device(2, "eth0")
    #expect(Self.link([wired]) == nil)
    #expect(Self.link([wired, Self.route(2, length: 24)]) == nil)
    #expect(Self.link([wired, Self.route(2, table: 255)]) == nil)
    #expect(Self.link([Self.device(1, "lo", hardware: 772), Self.route(1)]) == nil)
    #expect(Self.link([Self.route(7)]) == nil)
  }

  @Test("Modems are cellular; a tunnel is as dear as what it may go over; several next hops count each")
  func kinds() {
    #expect(Self.link([Self.device(4, "ppp0", hardware: 512), Self.route(4)]) == .cellular)
    #expect(Self.link([Self.device(4, "wwan0", hardware: 519), Self.route(4)]) == .cellular)
    let tunnel = [Self.device(9, "wg0", hardware: 0xFFFE), Self.route(9)]
    #expect(Self.link(tunnel + [Self.device(2, "eth0"), Self.device(3, "wlan0")]) == .wifi)
    #expect(Self.link(tunnel) == nil)
    let bridged = [Self.device(9, "tap0", software: "tun"), Self.route(9)]
    #expect(Self.link(bridged + [Self.device(3, "wlan0")]) == .wifi)
    #expect(Self.link([Self.device(9, "veth0", software: "veth"), Self.route(9)]) == .wired)
    #expect(
      RouteDump.kind(of: .init(name: "x", hardware: 1, isRunning: true), InterfaceFacts(uevent: "DEVTYPE=wwan"))
        == .link(.cellular))
    let hops = ([3, 2] as [Int32]).flatMap { index -> [UInt8] in
      Self.bytes(UInt16(8)) + [0, 0] + Self.bytes(index)
    }
    let header: [UInt8] = [2, 0, 0, 0, 254, 3, 0, 1] + Self.bytes(UInt32(0))
    let multipath = Self.message(24, header + Self.attribute(9, hops))
    #expect(Self.link([Self.device(3, "wlan0"), multipath]) == .wifi)
  }

  @Test("A dump that something changed under is asked for again; a refusal is one")
  func answers() {
    var dump = RouteDump()
    #expect(dump.add(Self.message(16, flags: 0x12, [])) == .interrupted)
    #expect(dump.add(Self.message(2, Self.bytes(Int32(-13)))) == .refused(error: 13))
  }

  @Test("Noise of any length is survived")
  func noise() {
    let dice = SeededRandom(seed: 7)
    let good = Self.device(2, "eth0") + Self.route(2) + Self.end
    for _ in 0..<5_000 {
      var bytes = Array(good.prefix(Int(dice.below(UInt64(good.count + 1)))))
      for _ in 0..<dice.below(4) where !bytes.isEmpty {
        bytes[Int(dice.below(UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: dice.next())
      }
      var dump = RouteDump()
      _ = dump.add(bytes)
      dump.addRoute(toBroker: bytes)
      _ = dump.link { RouteDump.kind(of: $0, InterfaceFacts()) }
    }
  }

  @Test("The kernel itself is understood", .enabled(if: (try? RouteSocket.dump()) != nil))
  func kernel() throws {
    let dump = try RouteSocket.dump()
    let loopback = try #require(dump.devices.values.first { $0.name == "lo" })
    #expect(RouteDump.kind(of: loopback, nil) == .loopback)
  }
}
