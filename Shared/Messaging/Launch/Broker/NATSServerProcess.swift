public import CaravanModel
public import CaravanRuntime
internal import Glibc

/// A nats-server of our own.
public enum NATSServerProcess {
  /// Where it is installed, or its name when it is nowhere: Debian puts it where only root's `PATH` leads.
  public static var program: String {
    let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
    let folders = path.split(separator: ":").map(String.init) + ["/usr/local/sbin", "/usr/sbin", "/usr/local/bin"]
    let places = folders.map { "\($0)/nats-server" }
    return places.first { unsafe access($0, X_OK) == 0 } ?? "nats-server"
  }

  /// Writes the configuration to `<directory>/nats.conf`, starts the server, and returns when it answers.
  /// - Parameter log: where its output goes; nil: `<directory>/nats.log`.
  /// - Throws: `unavailable` when somebody else has the port, or when it does not answer in time, with the end of its
  ///   log.
  public static func start(
    _ configuration: NATSConfiguration, in directory: String, log: String? = nil, host: Host
  ) async throws(CaravanError) -> ChildProcess {
    let file = "\(directory)/nats.conf"
    let log = log ?? "\(directory)/nats.log"
    guard !LoopbackPort.accepts(configuration.port, at: configuration.host) else {
      throw CaravanError(.unavailable, "port \(configuration.port) is in use by another program: choose another port")
    }
    // Written only when it has changed: a broker that died is started again on a full disk, too.
    if (try? TextFile.read(file)) != configuration.text { try TextFile.writeSecret(configuration.text, to: file) }
    let environment = runtime.merging(Command.environment) { _, own in own }
    let server = try await ChildProcess.start(
      ChildCommand(program, ["-c", file], environment: environment, output: .file(log)), host: host)
    let expiry = host.clock.now + LaunchLimits.brokerStartDeadline
    while !LoopbackPort.accepts(configuration.port, at: configuration.host) {
      guard server.isRunning, host.clock.now < expiry, (try? await host.clock.sleep(for: .milliseconds(20))) != nil
      else {
        await server.stop(clock: host.clock)
        let said = (try? TextFile.tail(log, bytes: 500)) ?? "nothing"
        throw CaravanError(.unavailable, "nats-server does not answer at \(configuration.url); its log says: \(said)")
      }
    }
    return server
  }

  /// How it runs, unless our own environment says otherwise. What it allocates is small and gone soon: collecting it as
  /// often as usual costs a tenth of its time. And it shares the machine with those it serves: on as many cores as
  /// there are, a sixth of its time goes into looking for work on the others (both measured on two cores).
  private static var runtime: [String: String] {
    ["GOGC": "400", "GOMAXPROCS": "\(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2))"]
  }
}
