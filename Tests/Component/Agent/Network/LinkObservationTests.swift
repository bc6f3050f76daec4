import CaravanAgentCore
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Glibc
import Testing

@testable import CaravanAgentNetwork
@testable import CaravanAgentStore
@testable import CaravanAgentSync

/// Goal: the link is what the device of the route to the broker is, by the system's word; nobody's word makes it
/// cheaper, and what nobody knows is not taken for cheap. Method: routes as the kernel lists them, and trees of files
/// in the place of /sys/class/net.
@Suite struct LinkObservationTests {
  private typealias Kernel = RouteDumpTests

  /// - Parameter tree: files and, with a slash at the end, directories.
  private static func with<R>(_ tree: [String: String], _ body: (LinkWatch.Configuration) throws -> R) throws -> R {
    let root = try TemporaryDirectory()
    defer { root.remove() }
    for (path, text) in tree.sorted(by: { $0.key < $1.key }) {
      if path.hasSuffix("/") {
        try Directories.make("\(root.path)/\(path)")
      } else {
        try Directories.make("\(root.path)/\(path.prefix { $0 != "/" })")
        try TextFile.writeSecret(text, to: "\(root.path)/\(path)")
      }
    }
    return try body(LinkWatch.Configuration(devices: root.path))
  }

  private static func routes(_ devices: [[UInt8]], ways: [[UInt8]] = []) -> RouteDump {
    var dump = RouteDump()
    for message in devices { #expect(dump.add(message) == .more) }
    for way in ways { dump.addRoute(toBroker: way) }
    return dump
  }

  @Test("TRU-05: wireless is wifi, wwan is cellular, and else the device is wired; a bridge is what is in it")
  func classes() throws {
    let tree = [
      "a/uevent": "INTERFACE=a\n", "b/wireless/": "", "c/phy80211/": "", "d/uevent": "DEVTYPE=wwan\nINTERFACE=d\n",
      "e/lower_a/": "", "e/lower_d/": "", "f/lower_a/": "", "g/lower_gone/": "", "h/lower_h/": "",
    ]
    try Self.with(tree) { watch in
      for (name, link) in [
        ("a", .wired), ("b", .wifi), ("c", .wifi), ("d", .cellular), ("e", .cellular), ("f", .wired),
        ("g", .unknown()), ("h", .unknown()),
      ] as [(String, Link)] {
        let names = ["a", "b", "c", "d", "e", "f", "h"]
        let devices = names.enumerated().map { Kernel.device(Int32($0.offset + 1), $0.element) }
        let index = Int32(names.firstIndex(of: name) ?? 9) + 1
        let own = names.contains(name) ? [] : [Kernel.device(index, name)]
        #expect(watch.link(Self.routes(devices + own + [Kernel.route(index)]), saysMetered: nil) == link, "\(name)")
      }
    }
  }

  @Test("TRU-05: a device of which the system says nothing is no wire")
  func unreadable() throws {
    let dump = Self.routes([Kernel.device(2, "eth0"), Kernel.route(2)])
    try Self.with([:]) { watch in
      #expect(watch.link(dump, saysMetered: nil) == .unknown())
      var named = watch
      named.classes = ["eth0": .wired]
      #expect(named.link(dump, saysMetered: nil) == .wired)
    }
    let speaking = Self.routes([Kernel.device(2, "ppp0", hardware: 512), Kernel.route(2)])
    try Self.with([:]) { #expect($0.link(speaking, saysMetered: nil) == .cellular) }
  }

  @Test("TRU-05: NetworkManager and settings make a link dearer, never cheaper")
  func dearer() throws {
    try Self.with(["wlan0/wireless/": ""]) { watch in
      let dump = Self.routes([Kernel.device(3, "wlan0"), Kernel.route(3)])
      var watch = watch
      watch.classes = ["wlan0": .wired]
      #expect(watch.link(dump, saysMetered: false) == .wifi)
      watch.classes = ["wlan0": .roaming]
      #expect(watch.link(dump, saysMetered: nil) == .roaming)
      watch.classes = [:]
      #expect(watch.link(dump, saysMetered: true)?.cost == .cellular)
      watch.isMetered = true
      #expect(watch.link(dump, saysMetered: false)?.cost == .cellular)
    }
  }

  @Test("TRU-05: what counts is the route to the broker, not the default route; of several, the dearest")
  func broker() throws {
    let devices = [Kernel.device(2, "eth0"), Kernel.device(3, "wwan0", hardware: 519), Kernel.route(2)]
    try Self.with(["eth0/": ""]) { watch in
      let over = { Kernel.route($0, length: 32) }
      for (ways, link) in [
        ([], .wired), ([over(3)], .cellular), ([over(2)], .wired), ([over(2), over(3)], .cellular),
        ([Kernel.refusal], nil), ([Kernel.refusal, over(2)], .wired), ([Kernel.local(1)], .wired),
      ] as [([[UInt8]], Link?)] {
        #expect(watch.link(Self.routes(devices, ways: ways), saysMetered: nil) == link, "\(ways)")
      }
      // Over a device without a carrier nothing goes; the default route may lead elsewhere.
      let dead = [Kernel.device(2, "eth0"), Kernel.device(4, "eth1", flags: 1), Kernel.route(2)]
      #expect(watch.link(Self.routes(dead, ways: [over(4)]), saysMetered: nil) == .wired)
      var noise = Self.routes(devices)
      noise.addRoute(toBroker: [1, 2, 3])
      #expect(watch.link(noise, saysMetered: nil) == .wired)
    }
  }

  @Test("TRU-05: the kernel itself says how an address is reached", .enabled(if: (try? RouteSocket.dump()) != nil))
  func kernel() throws {
    let dump = try RouteSocket.dump(brokers: ["127.0.0.1", "::1", "broker.example"])
    // A broker on this machine has something that carries on what comes: the default route counts, if there is one.
    #expect(dump.link { _ in .link(.roaming) } == (try RouteSocket.dump()).link { _ in .link(.roaming) })
  }

  @Test("TRU-05: a link that nobody knows counts as the dearest that a table names, and says so")
  func assumed() {
    #expect(Link.unknown().assumed(among: [.wifi, .cellular, .wired]).cost == .cellular)
    #expect(Link.unknown().assumed(among: []).cost == .roaming)
    #expect(Link.wifi.assumed(among: [.roaming]) == .wifi)
    #expect(Link.unknown().assumed(among: [.wifi]).description.contains("unknown"))
  }

  @Test("TRU-05: over a link that nobody knows goes what names the dearest link; a cheaper table waits")
  func engine() throws {
    let attic = TableID(app: EngineBench.album.app, name: "attic")
    try EngineBench.run(prepare: { bench in
      for (table, link) in [(EngineBench.album, CaravanModel.LinkClass.cellular), (attic, .wifi)] {
        bench.store.add(table)
        bench.store.register(table, .write, link: link)
      }
    }) { bench in
      await bench.engine.linkChanged(to: .unknown())
      bench.write("a", "text")
      try await bench.until("what may cost most has gone") { bench.store.isClean(EngineBench.album) }
      let status = await bench.engine.status()
      #expect(status.link?.cost == .cellular && status.link?.isKnown == false)
      // The dearest that is left is wifi.
      bench.store.state.withLock { $0.registrations.removeAll { $0.table == EngineBench.album } }
      await bench.engine.registrationsChanged(of: EngineBench.album)
      try await bench.until("the registrations are read") { await bench.engine.status().link?.cost == .wifi }
    }
  }
}
