public import CaravanAgentCore
public import CaravanModel
public import CaravanRuntime

/// Tells the engine what the machine is connected by, as soon as that changes (MOB-24, MOB-44, UNI-21): routes to the
/// brokers and their devices are the kernel's word. NetworkManager and settings only make them dearer. Sleeps while
/// nothing happens.
public final class LinkWatch: Service {
  public struct Configuration: Sendable {
    /// Hosts of the brokers: addresses, or names.
    public var brokers: [String]
    /// By device: `eth1` may lead to a modem.
    public var classes: [String: LinkClass]
    /// Bytes cost, whatever NetworkManager says.
    public var isMetered: Bool
    /// Where the system's D-Bus listens.
    public var systemBus: String
    /// Where the system says what devices are, a directory each.
    public var devices: String

    public init(
      brokers: [String] = [], classes: [String: LinkClass] = [:], isMetered: Bool = false,
      systemBus: String = "/run/dbus/system_bus_socket", devices: String = "/sys/class/net"
    ) {
      self.brokers = brokers
      self.classes = classes
      self.isMetered = isMetered
      self.systemBus = systemBus
      self.devices = devices
    }

    /// What the routes make of the link.
    /// - Parameter saysMetered: NetworkManager's word; nil: it says nothing.
    func link(_ routes: RouteDump, saysMetered: Bool?) -> Link? {
      let isMetered = isMetered || saysMetered == true
      let folder = InterfaceFolder(devices)
      switch routes.link({ RouteDump.kind(of: $0, folder.facts(of: $0.name), named: classes[$0.name]) }) {
      case .nothing: return nil
      case .link(let link): return Link(link, isMetered: isMetered)
      case .unknown: return .unknown(isMetered: isMetered)
      }
    }
  }

  /// What comes in a burst, as when a cable is pulled, is looked at once.
  private static let settleTime: Duration = .milliseconds(100)

  private let configuration: Configuration
  private let host: Host
  private let changed = Signal()
  private let stop = Latch()
  private let metering: MeteringWatch
  private let tell: @Sendable (Link?) async -> Void

  /// - Parameter tell: told first of all, and then of every change; nil: there is no link.
  public init(_ configuration: Configuration, host: Host, tell: @escaping @Sendable (Link?) async -> Void) {
    self.configuration = configuration
    self.host = host
    self.tell = tell
    metering = MeteringWatch(systemBus: configuration.systemBus, host: host, changed: changed)
  }

  public func run() async throws {
    let signal = changed
    let routes: RouteSocket?
    do throws(CaravanError) { routes = try RouteSocket { signal.raise() } } catch {
      host.log.warning("the link cannot be watched, and may be as dear as any", [.error: error])
      routes = nil
    }
    await withDiscardingTaskGroup { group in
      group.addTask { await self.metering.run() }
      await self.follow(routes)
      group.cancelAll()
    }
  }

  public func shutDown() {
    stop.open()
    changed.raise()
  }

  private func follow(_ routes: RouteSocket?) async {
    var last: Link??
    while !stop.isOpen, !Task.isCancelled {
      let link = routes == nil ? .unknown(isMetered: configuration.isMetered) : look()
      if last != .some(link) {
        last = link
        logLink(link)
        await tell(link)
      }
      await changed.wait()
      if !stop.isOpen { try? await host.clock.sleep(for: Self.settleTime) }
    }
    withExtendedLifetime(routes) {}
  }

  private func look() -> Link? {
    do throws(CaravanError) {
      let routes = try RouteSocket.dump(brokers: configuration.brokers)
      return configuration.link(routes, saysMetered: metering.isMetered)
    } catch {
      host.log.warning("the kernel does not say what the link is, which may be as dear as any", [.error: error])
      return .unknown(isMetered: configuration.isMetered || metering.isMetered == true)
    }
  }

  private func logLink(_ link: Link?) {
    guard let link, !link.isKnown else { return host.log.info("the link is \(link?.description ?? "down")") }
    host.log.warning("nobody knows what the link is: name its device with --device-link, or the link with --link")
  }
}

/// A directory as /sys/class/net is one.
struct InterfaceFolder {
  private static let lowerPrefix = "lower_"
  private let path: String

  init(_ path: String) { self.path = path }

  /// - Returns: nil where nothing is said of the device.
  func facts(of device: String) -> InterfaceFacts? {
    guard !device.isEmpty, let names = try? Directories.names(in: "\(path)/\(device)") else { return nil }
    return InterfaceFacts(
      uevent: (try? TextFile.read("\(path)/\(device)/uevent")) ?? "",
      isWireless: names.contains("wireless") || names.contains("phy80211"),
      lower: names.filter { $0.hasPrefix(Self.lowerPrefix) }.map { String($0.dropFirst(Self.lowerPrefix.count)) }
        .sorted())
  }
}
