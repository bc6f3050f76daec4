internal import CaravanAgentCore
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// The kernel's word on devices and routes, over a netlink socket (rtnetlink(7)).
final class RouteSocket: Sendable {
  private static let family = Int32(AF_NETLINK)
  private static let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
  /// RTMGRP_LINK, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_ROUTE of <linux/rtnetlink.h>.
  private static let groups: UInt32 = 0x1 | 0x40 | 0x400
  /// The kernel's datagrams are no longer.
  private static let datagramBytes = 32 << 10
  /// Of one dump, which of a device takes one or two.
  private static let datagrams = 1_000
  private static let dumpAttempts = 3

  private let events: Int32
  private let watch: DescriptorWatch

  /// - Parameter changed: called on the loop's thread when something may have changed.
  init(_ changed: @escaping @Sendable () -> Void) throws(CaravanError) {
    let events = try Self.open(groups: Self.groups)
    self.events = events
    do throws(CaravanError) {
      watch = try EventLoop.main.watch(events, for: .reading) { _ in
        // What has changed is asked for afresh; also where so much did that some of it was lost.
        while Self.receive(events) != nil || errno == ENOBUFS {}
        changed()
      }
    } catch {
      Glibc.close(events)
      throw error
    }
  }

  deinit {
    watch.cancel()
    Glibc.close(events)
  }

  /// What there is now.
  /// - Parameter brokers: addresses, whose routes are looked up, or names.
  static func dump(brokers: [String] = []) throws(CaravanError) -> RouteDump {
    for _ in 0..<dumpAttempts {
      let socket = try open(groups: 0)
      defer { Glibc.close(socket) }
      var dump = RouteDump()
      guard try ask(RouteDump.dumpDevices, socket, &dump), try ask(RouteDump.dumpRoutes, socket, &dump) else {
        continue
      }
      for broker in brokers { try lookUp(broker, socket, &dump) }
      return dump
    }
    throw CaravanError(.unavailable, "the network changed \(dumpAttempts) times while it was looked at")
  }

  // MARK: Parts

  /// - Returns: false when something changed meanwhile.
  private static func ask(_ request: [UInt8], _ socket: Int32, _ dump: inout RouteDump) throws(CaravanError) -> Bool {
    guard unsafe send(socket, request, request.count, 0) == request.count else {
      throw failure("cannot ask the kernel for its routes", errno)
    }
    for _ in 0..<datagrams {
      guard let datagram = receive(socket) else { throw failure("the kernel does not name its routes", errno) }
      switch dump.add(datagram) {
      case .more: continue
      case .done: return true
      case .interrupted: return false
      case .refused(let code): throw failure("the kernel does not name its routes", code)
      }
    }
    throw CaravanError(.limitExceeded, "this machine has too many routes to find its link among them")
  }

  private static func lookUp(_ broker: String, _ socket: Int32, _ dump: inout RouteDump) throws(CaravanError) {
    // A name is not resolved here: that alone would send something.
    guard let address = address(of: broker) else { return dump.addNamedBroker() }
    let request = RouteDump.routeRequest(to: address)
    guard unsafe send(socket, request, request.count, 0) == request.count, let answer = receive(socket) else {
      throw failure("the kernel does not name the route to a broker", errno)
    }
    dump.addRoute(toBroker: answer)
  }

  /// Nil: it is a name.
  private static func address(of host: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if unsafe inet_pton(family, host, &bytes) == 1 { return bytes }
    }
    return nil
  }

  private static func open(groups: UInt32) throws(CaravanError) -> Int32 {
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { throw failure("no netlink socket", errno) }
    // struct sockaddr_nl: family, padding, port (the kernel chooses), groups.
    let words: [UInt32] = [UInt32(AF_NETLINK), 0, groups]
    let code = unsafe words.withUnsafeBytes { bytes in
      unsafe bind(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    guard code == 0 else {
      let code = errno
      Glibc.close(descriptor)
      throw failure("no netlink socket", code)
    }
    return descriptor
  }

  /// The kernel writes its answers while it is asked for them: nothing here has to wait.
  /// - Returns: nil on an error, which is in `errno`.
  private static func receive(_ descriptor: Int32) -> [UInt8]? {
    var count = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: datagramBytes) { buffer, filled in
      count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      filled = max(0, count)
    }
    return count > 0 ? bytes : nil
  }

  private static func failure(_ what: String, _ code: Int32) -> CaravanError {
    CaravanError(.unavailable, "\(what) (error \(code)): say what the link is with --link")
  }
}
