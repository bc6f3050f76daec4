import CaravanBus
import CaravanBusNATS
import CaravanLaunch
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import Glibc

/// The two implementations that obey one set of rules.
enum BusKind: String, CaseIterable, Sendable {
  case inProcess, nats
}

extension Host {
  /// The real machine, silent.
  static var quiet: Host {
    let live = Host.live()
    return live.with(log: Log(level: .error, clock: live.clock, sink: NullLogSink()))
  }
}

/// A broker and its clients, of either kind.
protocol BusCluster: Sendable {
  func connect(_ name: String) async throws -> any MessageBus
  /// The broker dies: every client is disconnected.
  func killBroker() async throws
  /// It comes back where it was.
  func startBroker() async throws
  func close() async
}

/// A cluster of that kind for the time of `body`.
func withCluster<R>(_ kind: BusKind, _ body: (any BusCluster) async throws -> R) async throws -> R {
  let cluster: any BusCluster =
    switch kind {
    case .inProcess: InProcessCluster()
    case .nats: try await NATSCluster()
    }
  do {
    let result = try await body(cluster)
    await cluster.close()
    return result
  } catch {
    await cluster.close()
    throw error
  }
}

private final class InProcessCluster: BusCluster {
  private let hub: InProcessHub
  private let names = ["a", "b", "c"]

  init() {
    let host = Host.quiet
    hub = InProcessHub(clock: host.clock, random: SeededRandom(seed: 1))
  }

  func connect(_ name: String) async throws -> any MessageBus { hub.connect(as: name) }
  func killBroker() async throws { for name in names { hub.disconnect(name) } }
  func startBroker() async throws { for name in names { hub.reconnect(name) } }
  func close() async {}
}

/// A real nats-server on a free loopback port.
actor NATSCluster: BusCluster {
  let configuration: NATSConfiguration
  private let directory: TemporaryDirectory
  private var server: ChildProcess?

  init() async throws {
    directory = try TemporaryDirectory()
    configuration = NATSConfiguration(port: try LoopbackPort.free(random: Host.quiet.random))
    try await startBroker()
  }

  func connect(_ name: String) async throws -> any MessageBus { try await connect(name, pinging: .seconds(30)) }

  func connect(_ name: String, pinging interval: Duration) async throws -> NATSBus {
    var options = NATSOptions(urls: [configuration.url], name: name)
    options.lastRetry = .milliseconds(200)
    options.pingInterval = interval
    let bus = try await NATSBus.connect(options, host: .quiet)
    try await bus.waitUntilConnected(deadline: .seconds(10))
    return bus
  }

  func killBroker() async throws {
    server?.kill()
    _ = await server?.wait()
    server = nil
  }

  /// `SIGSTOP`, `SIGCONT`
  func signalBroker(_ signal: Int32) { if let server { Glibc.kill(server.identifier, signal) } }

  func startBroker() async throws {
    server = try await NATSServerProcess.start(configuration, in: directory.path, host: .quiet)
  }

  func close() async {
    try? await killBroker()
    directory.remove()
  }
}

extension Subject {
  static let echo = Subject.service(.schema, method: "echo")
}

extension BusSubscription {
  /// The next message; fails the test's wait when something else comes.
  func nextMessage() async throws -> Incoming {
    switch await next() {
    case .message(let incoming): return incoming
    case .gap(let dropped): throw Unexpected("a gap of \(dropped)")
    case nil: throw Unexpected("the end of the subscription")
    }
  }
}

struct Unexpected: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The error that `body` throws.
func failure<R>(_ body: () async throws -> R) async -> CaravanError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? CaravanError
  }
}

/// Runs services while `body` runs, then shuts them down and waits for their end.
func running<R: Sendable>(_ services: [any Service], _ body: () async throws -> R) async throws -> R {
  let group = ServiceGroup(services, host: .quiet)
  return try await withThrowingTaskGroup(of: Void.self) { tasks in
    tasks.addTask { try await group.run() }
    do {
      let result = try await body()
      group.shutDown()
      try await tasks.waitForAll()
      return result
    } catch {
      group.shutDown()
      throw error
    }
  }
}
