public import AgentCore
internal import Glibc
public import Model
public import Runtime

/// Tells the engine what the machine is connected by, as soon as that changes: devices and routes are the kernel's,
/// whether their bytes cost is NetworkManager's where it runs (MOB-24, MOB-44, UNI-21). Sleeps while nothing happens.
public final class LinkWatch: Service {
  public struct Configuration: Sendable {
    /// By device, where the kernel does not know better: `eth1` may lead to a modem.
    public var classes: [String: LinkClass]
    /// Bytes cost wherever NetworkManager does not say.
    public var isMetered: Bool
    /// Where the system's D-Bus listens.
    public var systemBus: String

    public init(
      classes: [String: LinkClass] = [:], isMetered: Bool = false, systemBus: String = "/run/dbus/system_bus_socket"
    ) {
      self.classes = classes
      self.isMetered = isMetered
      self.systemBus = systemBus
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
      host.log.warning("the link is not watched, and taken for wired", [.error: error])
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
      let link = routes == nil ? Link(.wired, isMetered: isMetered) : look()
      if last != .some(link) {
        last = link
        host.log.info("the link is \(link?.description ?? "down")")
        await tell(link)
      }
      await changed.wait()
      if !stop.isOpen { try? await host.clock.sleep(for: Self.settleTime) }
    }
    withExtendedLifetime(routes) {}
  }

  private var isMetered: Bool { metering.isMetered ?? configuration.isMetered }

  private func look() -> Link? {
    do throws(CaravanError) {
      let dump = try RouteSocket.dump()
      return dump.link { kind(of: $0) }.map { Link($0, isMetered: isMetered) }
    } catch {
      host.log.warning("the link is taken for wired", [.error: error])
      return Link(.wired, isMetered: isMetered)
    }
  }

  private func kind(of device: RouteDump.Device) -> RouteDump.Kind {
    if let known = configuration.classes[device.name] { return .link(known) }
    return RouteDump.kind(of: device, uevent: Self.text(of: "/sys/class/net/\(device.name)/uevent"))
  }

  /// Empty where there is no such file.
  private static func text(of path: String) -> String {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { Glibc.close(file) }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, filled in
      filled = max(0, unsafe read(file, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
