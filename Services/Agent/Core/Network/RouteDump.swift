public import Model

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
    /// Leads nowhere.
    case loopback
  }

  public enum Answer: Sendable, Hashable {
    case more
    case done
    /// Something changed meanwhile: ask again.
    case interrupted
    case refused(error: Int32)
  }

  private struct DefaultRoute: Sendable, Hashable {
    var device: Int32
    var metric: UInt32
  }

  public private(set) var devices: [Int32: Device] = [:]
  private var defaults: [DefaultRoute] = []

  public init() {}

  // MARK: Decisions

  /// What the world is reached by; nil: nothing. Of several ways out the one of least metric counts, and of a tunnel
  /// the dearest device it may go over.
  public func link(_ kind: (Device) -> Kind) -> LinkClass? {
    let running = defaults.filter { devices[$0.device]?.isRunning ?? false }
    guard let best = running.min(by: { ($0.metric, $0.device) < ($1.metric, $1.device) }) else { return nil }
    guard let device = devices[best.device] else { return nil }
    switch kind(device) {
    case .link(let link): return link
    case .loopback: return nil
    case .tunnel:
      let under = devices.values.filter(\.isRunning).compactMap { device in
        if case .link(let link) = kind(device) { link } else { nil }
      }
      return under.max()
    }
  }

  /// What a device is, by the kernel's word.
  /// - Parameter uevent: what /sys/class/net/NAME/uevent says.
  public static func kind(of device: Device, uevent: String) -> Kind {
    let lines = uevent.split(separator: "\n")
    switch lines.first(where: { $0.hasPrefix("DEVTYPE=") })?.dropFirst("DEVTYPE=".utf8.count) {
    case "wlan": return .link(.wifi)
    // A phone in the pocket is reached by Bluetooth, and has the bill.
    case "wwan", "bluetooth": return .link(.cellular)
    default: break
    }
    // They look like Ethernet, and like tunnels of IP alone they carry it over what else there is: TAP, VXLAN, …
    if ["tun", "vxlan", "geneve", "gretap", "ip6gretap", "l2tpeth"].contains(device.software) { return .tunnel }
    switch device.hardware {
    case 512, 519, 530: return .link(.cellular)  // PPP, raw IP of a modem, pure IP of a modem
    case 768, 769, 776, 778, 823, 0xFFFE: return .tunnel  // IP in IP, SIT, GRE, none at all: tun, WireGuard
    case 772: return .loopback
    default: return .link(.wired)
    }
  }

  // MARK: Messages

  public static let dumpDevices = request(type: 18, bodyBytes: 16)
  public static let dumpRoutes = request(type: 26, bodyBytes: 12)

  /// RTM_GETLINK or RTM_GETROUTE of everything there is.
  private static func request(type: UInt16, bodyBytes: Int) -> [UInt8] {
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
