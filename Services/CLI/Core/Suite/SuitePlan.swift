public import CaravanModel

/// A service of the suite, in the order in which they start: each needs those before it.
public enum SuiteService: String, Sendable, Hashable, CaseIterable {
  case storage, schema, push, notify, query, sync, gateway

  public var executable: String { "caravan-\(rawValue)" }

  /// Whether more than one of it may run: storage on SQLite owns its files alone, and the gateway its address.
  public func isScalable(onPostgres: Bool) -> Bool {
    switch self {
    case .storage: onPostgres
    case .gateway: false
    case .schema, .push, .notify, .query, .sync: true
    }
  }
}

/// `--scale sync=3,notify=2`.
public struct SuiteScale: Sendable, Hashable {
  public static let most = 32

  private var counts: [SuiteService: Int] = [:]

  /// - Parameter onPostgres: whether storage keeps its data there, and not in files of its own.
  /// - Throws: `invalidData` naming what cannot be.
  public init(_ texts: [String] = [], onPostgres: Bool = false) throws(CaravanError) {
    for text in texts {
      let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let service = SuiteService(rawValue: parts[0]), let count = Int(parts[1]) else {
        let names = SuiteService.allCases.filter { $0.isScalable(onPostgres: onPostgres) }.map(\.rawValue).joined(
          separator: ", ")
        throw CaravanError(.invalidData, "'\(text.prefix(80))' is no SERVICE=N with a service of \(names)")
      }
      guard (1...Self.most).contains(count) else {
        throw CaravanError(.invalidData, "--scale \(text): 1 to \(Self.most) of a service can run here")
      }
      guard count == 1 || service.isScalable(onPostgres: onPostgres) else {
        let way = service == .storage ? " without --postgres" : ""
        throw CaravanError(
          .invalidData, "--scale \(text): there is one \(service.rawValue), it cannot be scaled here\(way)")
      }
      counts[service] = count
    }
  }

  public subscript(_ service: SuiteService) -> Int {
    let count = counts[service] ?? 1
    precondition((1...Self.most).contains(count), "\(count) processes of \(service.rawValue)")
    return count
  }
}

/// One process of a service.
public struct SuiteProcess: Sendable, Hashable {
  public let service: SuiteService
  /// From 1.
  public let number: Int

  /// `sync`, `sync-2`: its log, its directory.
  public var name: String { number == 1 ? service.rawValue : "\(service.rawValue)-\(number)" }

  /// All of them in the order of their start.
  public static func all(_ scale: SuiteScale) -> [SuiteProcess] {
    let all = SuiteService.allCases.flatMap { service in
      (1...scale[service]).map { SuiteProcess(service: service, number: $0) }
    }
    precondition(Set(all.map(\.name)).count == all.count, "two processes would write one log")
    return all
  }
}

/// Where things lie below the directory of `caravan up`.
public struct SuiteDirectory: Sendable, Hashable {
  public let path: String

  /// - Parameter path: absolute, without a slash at its end.
  public init(_ path: String) { self.path = path }

  public var keys: String { "\(path)/keys" }
  public var nats: String { "\(path)/nats" }
  public var logs: String { "\(path)/logs" }
  public var runFile: String { "\(path)/run.json" }
  public func log(_ name: String) -> String { "\(logs)/\(name).log" }
  public func credentials(_ name: String) -> String { "\(keys)/creds/\(name).creds" }

  /// The command line of a process, without its program.
  /// - Parameters:
  ///   - bus: what reaches the bus: `--nats …`.
  ///   - http: where the gateway listens, and with which certificate: `--http …`.
  ///   - opensContainers: whether a container is registered at its first use.
  ///   - onPostgres: whether storage keeps its data there; its address travels as a variable, for it may be secret.
  public func arguments(
    of process: SuiteProcess, bus: [String], http: [String], opensContainers: Bool, onPostgres: Bool = false
  ) -> [String] {
    precondition(process.number > 0, "processes are numbered from 1")
    let common = bus + ["--creds", credentials(process.service.rawValue)]
    switch process.service {
    case .storage:
      return common + (onPostgres ? [] : ["--data", "\(path)/storage"]) + ["--ticket-key", "\(keys)/ticket.key"]
    case .sync:
      return common + [
        "--ticket-key", "\(keys)/ticket.key", "--token-key", "\(keys)/token.key", "--alias-key", "\(keys)/alias.key",
      ]
    case .notify: return common + ["--token-key", "\(keys)/token.key"]
    case .schema: return common + (opensContainers ? ["--open-containers"] : [])
    case .push: return common + ["--vapid-key", "\(keys)/vapid.key", "--webhook-key", "\(keys)/webhook.key"]
    case .query: return common + ["--data", "\(path)/\(process.name)"]
    case .gateway:
      return common
        + http
        + [
          "--signing-key", "\(keys)/device-signing.nk", "--admin-token", "\(keys)/admin.token", "--metrics-token",
          "\(keys)/metrics.token",
        ]
    }
  }
}
