public import CaravanModel

/// The kernel's devices and default routes, as it lists them (rtnetlink(7)), and what class of link they make.
public struct RouteDump: Sendable, Hashable {
  public struct Device: Sendable, Hashable {
    public var name: String
    /// ARPHRD_… of <linux/if_arp.h>.
    public var hardware: UInt16
    /// What kind of software plays it, `tun` for instance; empty where none does.
    public var software: String
    /// It is up and has a carrier.
    public var isRunning: Bool

    public init(name: String, hardware: UInt16, software: String = "", isRunning: Bool) {
      self.name = name
      self.hardware = hardware
      self.software = software
      self.isRunning = isRunning
    }
  }

  public enum Kind: Sendable, Hashable {
    case link(LinkClass)
    /// Its packets go over another device.
    case tunnel
    /// Its packets go over these devices: of a bridge, a bond, a VLAN.
    case over([String])
    /// Leads nowhere.
    case loopback
    /// Nobody says.
    case unknown
  }

  /// What the machine is connected by.
  public enum Sighting: Sendable, Hashable {
    case nothing
    case link(LinkClass)
    /// Something that nobody knows.
    case unknown
  }

  public enum Answer: Sendable, Hashable {
    case more
    case done
    /// Something changed meanwhile: ask again.
    case interrupted
    case refused(error: Int32)
  }

  /// How a broker is reached.
  private enum Way: Sendable, Hashable {
    case device(Int32)
    /// As the rest of the world: its address is a name, or this machine's own, where something carries on what comes.
    case anyWay
    case none
  }

  private struct DefaultRoute: Sendable, Hashable {
    var device: Int32
    var metric: UInt32
  }

  public private(set) var devices: [Int32: Device] = [:]
  private var defaults: [DefaultRoute] = []
  private var ways: [Way] = []
  private static let nestedDevices = 8

  public init() {}

  // MARK: Decisions

  /// What the brokers are reached by: the devices of the routes to their addresses; of one without an address of its
  /// own, the device of the default route. Of several devices the dearest counts, and of a tunnel the dearest that it
  /// may go over.
  public func link(_ kind: (Device) -> Kind) -> Sighting {
    var out: Set<Int32> = []
    for way in ways.isEmpty ? [.anyWay] : ways {
      switch way {
      case .device(let index) where devices[index]?.isRunning ?? false: out.insert(index)
      // A route over a device without a carrier leads nowhere; another may.
      case .anyWay, .device: if let index = defaultDevice { out.insert(index) }
      case .none: break
      }
    }
    return Self.dearest(out.map { sighting(of: devices[$0], kind, depth: 0) })
  }

  /// Of several ways out the one of least metric counts.
  private var defaultDevice: Int32? {
    defaults.filter { devices[$0.device]?.isRunning ?? false }
      .min { ($0.metric, $0.device) < ($1.metric, $1.device) }?.device
  }

  private func sighting(of device: Device?, _ kind: (Device) -> Kind, depth: Int) -> Sighting {
    assert((0...Self.nestedDevices).contains(depth), "devices are looked through without an end")
    guard let device, depth < Self.nestedDevices else { return .unknown }
    switch kind(device) {
    case .link(let link): return .link(link)
    case .loopback: return .nothing
    case .unknown: return .unknown
    case .over(let names):
      return Self.dearest(
        names.map { name in
          sighting(of: devices.values.first { $0.name == name }, kind, depth: depth + 1)
        })
    case .tunnel:
      let under = devices.values.filter(\.isRunning).map { device -> Sighting in
        switch kind(device) {
        case .link(let link): .link(link)
        case .unknown: .unknown
        case .tunnel, .over, .loopback: .nothing
        }
      }
      return Self.dearest(under)
    }
  }

  /// What nobody knows may be dearer than all else.
  private static func dearest(_ sightings: [Sighting]) -> Sighting {
    if sightings.contains(.unknown) { return .unknown }
    let links = sightings.compactMap { if case .link(let link) = $0 { link } else { nil } }
    return links.max().map(Sighting.link) ?? .nothing
  }

  /// What a device is.
  /// - Parameters:
  ///   - facts: what /sys/class/net says of it; nil: nothing.
  ///   - named: what the machine's owner says it is, which makes it dearer than the system says, and never cheaper.
  public static func kind(of device: Device, _ facts: InterfaceFacts?, named: LinkClass? = nil) -> Kind {
    let kind = kind(of: device, facts)
    guard let named else { return kind }
    if case .link(let link) = kind { return .link(max(link, named)) }
    return .link(named)
  }

  private static func kind(of device: Device, _ facts: InterfaceFacts?) -> Kind {
    switch device.hardware {
    case 772: return .loopback
    case 512, 519, 530: return .link(.cellular)  // PPP, raw IP of a modem, pure IP of a modem
    case 801...803: return .link(.wifi)  // IEEE 802.11
    default: break
    }
    if let link = facts?.link { return .link(link) }
    // They look like Ethernet, and like tunnels of IP alone they carry it over what else there is: TAP, VXLAN, …
    if ["tun", "vxlan", "geneve", "gretap", "ip6gretap", "l2tpeth"].contains(device.software) { return .tunnel }
    // IP in IP, SIT, GRE, none at all: tun, WireGuard
    if [768, 769, 776, 778, 823, 0xFFFE].contains(device.hardware) { return .tunnel }
    guard let facts else { return .unknown }
    return facts.lower.isEmpty ? .link(.wired) : .over(facts.lower)
  }

  // MARK: Messages

  public static let dumpDevices = request(type: 18, bodyBytes: 16)
  public static let dumpRoutes = request(type: 26, bodyBytes: 12)

  /// RTM_GETROUTE of one address: how the kernel would reach it now, by all of its tables and rules.
  /// - Parameter address: 4 bytes or 16.
  public static func routeRequest(to address: [UInt8]) -> [UInt8] {
    assert([4, 16].contains(address.count), "an address of \(address.count) bytes is none of IP")
    let header: [UInt8] = [address.count == 4 ? 2 : 10, UInt8(8 * address.count)] + [UInt8](repeating: 0, count: 10)
    let body = header + bytes(UInt16(4 + address.count)) + bytes(UInt16(1)) + address  // RTA_DST
    assert(body.count.isMultiple(of: 4), "a message of netlink ends on a multiple of 4")
    return bytes(UInt32(16 + body.count)) + bytes(UInt16(26)) + bytes(UInt16(1)) + bytes(UInt32(1)) + bytes(UInt32(0))
      + body
  }

  /// RTM_GETLINK or RTM_GETROUTE of everything there is.
  private static func request(type: UInt16, bodyBytes: Int) -> [UInt8] {
    assert(bodyBytes > 0 && bodyBytes.isMultiple(of: 4), "a message of netlink ends on a multiple of 4")
    let flags: UInt16 = 0x001 | 0x300  // NLM_F_REQUEST, NLM_F_DUMP
    return bytes(UInt32(16 + bodyBytes)) + bytes(type) + bytes(flags) + bytes(UInt32(1)) + bytes(UInt32(0))
      + [UInt8](repeating: 0, count: bodyBytes)
  }

  private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// Takes one datagram of the kernel's in. It is in the machine's byte order, which is little-endian wherever Caravan
  /// runs.
  public mutating func add(_ datagram: [UInt8]) -> Answer {
    var rest = NetlinkBytes(datagram)
    while let length = rest.uint32(at: 0), let type = rest.uint16(at: 4), let flags = rest.uint16(at: 6),
      length >= 16, let message = rest.take(Int(length))
    {
      if flags & 0x10 != 0 { return .interrupted }  // NLM_F_DUMP_INTR
      let body = message.dropping(16)
      switch type {
      case 2: return .refused(error: 0 &- Int32(bitPattern: body.uint32(at: 0) ?? 0))  // NLMSG_ERROR
      case 3: return .done  // NLMSG_DONE
      case 16: addDevice(body)  // RTM_NEWLINK
      case 24: addRoute(body)  // RTM_NEWROUTE
      default: break
      }
    }
    return .more
  }

  /// A broker of which only the name is known.
  public mutating func addNamedBroker() { ways.append(.anyWay) }

  /// The kernel's answer to `routeRequest`.
  public mutating func addRoute(toBroker datagram: [UInt8]) {
    var rest = NetlinkBytes(datagram)
    guard let length = rest.uint32(at: 0), let type = rest.uint16(at: 4), length >= 16,
      let body = rest.take(Int(length))?.dropping(16)
    else { return ways.append(.anyWay) }
    guard type == 24 else { return ways.append(.none) }  // RTM_NEWROUTE
    switch body.byte(at: 7) {
    case 2: ways.append(.anyWay)  // RTN_LOCAL
    case 1:  // RTN_UNICAST
      let device = body.attribute(4, after: 12)?.uint32(at: 0)  // RTA_OIF
      ways.append(device.map { .device(Int32(bitPattern: $0)) } ?? .none)
    default: ways.append(.none)
    }
  }

  /// struct ifinfomsg, and attributes.
  private mutating func addDevice(_ body: NetlinkBytes) {
    guard let hardware = body.uint16(at: 2), let index = body.uint32(at: 4), let flags = body.uint32(at: 8) else {
      return
    }
    let upAndRunning: UInt32 = 0x01 | 0x40  // IFF_UP, IFF_RUNNING
    devices[Int32(bitPattern: index)] = Device(
      name: body.attribute(3, after: 16)?.text ?? "", hardware: hardware,  // IFLA_IFNAME
      software: body.attribute(18, after: 16)?.attribute(1, after: 0)?.text ?? "",  // IFLA_LINKINFO, IFLA_INFO_KIND
      isRunning: flags & upAndRunning == upAndRunning)
  }

  /// struct rtmsg, and attributes.
  private mutating func addRoute(_ body: NetlinkBytes) {
    let isDefault = body.byte(at: 1) == 0
    let isUnicast = body.byte(at: 7) == 1
    let table = body.attribute(15, after: 12)?.uint32(at: 0) ?? body.byte(at: 4).map(UInt32.init)  // RTA_TABLE
    guard isDefault, isUnicast, table == 254 else { return }  // RT_TABLE_MAIN
    let metric = body.attribute(6, after: 12)?.uint32(at: 0) ?? 0  // RTA_PRIORITY
    if let device = body.attribute(4, after: 12)?.uint32(at: 0) {  // RTA_OIF
      defaults.append(DefaultRoute(device: Int32(bitPattern: device), metric: metric))
    }
    guard var hops = body.attribute(9, after: 12) else { return }  // RTA_MULTIPATH of struct rtnexthop
    while let length = hops.uint16(at: 0), length >= 8, let device = hops.uint32(at: 4) {
      defaults.append(DefaultRoute(device: Int32(bitPattern: device), metric: metric))
      guard hops.take(Int(length)) != nil else { return }
    }
  }
}

/// A part of a netlink message.
private struct NetlinkBytes {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { self.bytes = bytes[...] }
  private init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  func byte(at offset: Int) -> UInt8? {
    let index = bytes.startIndex + offset
    return index < bytes.endIndex ? bytes[index] : nil
  }

  func uint16(at offset: Int) -> UInt16? {
    guard let low = byte(at: offset), let high = byte(at: offset + 1) else { return nil }
    return UInt16(low) | UInt16(high) << 8
  }

  func uint32(at offset: Int) -> UInt32? {
    guard let low = uint16(at: offset), let high = uint16(at: offset + 2) else { return nil }
    return UInt32(low) | UInt32(high) << 16
  }

  func dropping(_ count: Int) -> NetlinkBytes { NetlinkBytes(bytes.dropFirst(count)) }

  /// The first so many bytes, and, without them, what fills up to four.
  mutating func take(_ count: Int) -> NetlinkBytes? {
    assert(count > 0, "a part of nothing is taken for ever")
    guard count <= bytes.count else { return nil }
    defer { bytes = bytes.dropFirst((count + 3) & ~3) }
    return NetlinkBytes(bytes.prefix(count))
  }

  /// struct rtattr.
  func attribute(_ type: UInt16, after header: Int) -> NetlinkBytes? {
    var rest = dropping(header)
    while let length = rest.uint16(at: 0), let found = rest.uint16(at: 2), length >= 4,
      let attribute = rest.take(Int(length))
    {
      if found & 0x3FFF == type { return attribute.dropping(4) }
    }
    return nil
  }

  /// Up to a zero.
  var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
}
