internal import CaravanBus
internal import CaravanBusNATS
internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime

/// How a command reaches the bus: as the suite of `--dir` says, or as its flags do.
struct BusSession: Sendable {
  static let connectDeadline: Duration = .seconds(5)
  private static let drainDeadline: Duration = .seconds(1)

  var options: NATSOptions

  /// - Parameters:
  ///   - url: nil: the broker of the suite that runs in the directory.
  ///   - tls: nil: none where the address does not say so.
  ///   - allowsClear: whether all may go in clear to another machine.
  init(
    url: String, tls: NATSOptions.TLS?, allowsClear: Bool = false, credentials file: String, name: String
  ) throws(CaravanError) {
    options = NATSOptions(urls: [url], credentials: try Credentials.reading(file), tls: tls, name: name)
    options.allowsClear = allowsClear
  }

  /// Connects, runs `body`, and disconnects.
  func with<R: Sendable>(
    _ host: Host, _ body: (any MessageBus) async throws(CaravanError) -> R
  ) async throws(CaravanError) -> R {
    let bus = try await NATSBus.connect(options, host: host)
    do throws(CaravanError) {
      try await bus.waitUntilConnected(deadline: Self.connectDeadline)
      let result = try await body(bus)
      await bus.drain(deadline: Self.drainDeadline)
      return result
    } catch {
      await bus.drain(deadline: Self.drainDeadline)
      throw error
    }
  }
}
