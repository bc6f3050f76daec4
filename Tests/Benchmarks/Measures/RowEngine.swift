internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// What keeps the rows of a suite, or of a device, asked in a process of its own, which has no other work.
struct RowEngine: Sendable {
  private let host: Host
  private let program: String
  private let directory: String
  private let postgres: String?

  /// - Parameters:
  ///   - directory: where its files are.
  ///   - postgres: in its stead.
  init(programs: String, directory: String, postgres: String? = nil, host: Host) {
    self.host = host
    program = "\(programs)/caravan-bench"
    self.directory = directory
    self.postgres = postgres
  }

  /// As figures name it.
  var name: String { postgres == nil ? "sqlite" : "postgres" }

  /// Rows a second that it makes durable with nobody above it: the floor of saves.
  /// - Parameters:
  ///   - batch: rows of a transaction.
  ///   - clients: of PostgreSQL; SQLite has one.
  ///   - among: how many rows there are, written again and again; nil: each is new.
  func rowsPerSecond(
    bytes: Int, batch: Int, clients: Int = 1, among: Int? = nil, seconds: Double
  ) async throws -> Double {
    let figures = try await ask([
      "floor", "--row-bytes", "\(bytes)", "--batch", "\(batch)", "--clients", "\(clients)", "--among", "\(among ?? 0)",
      "--seconds", "\(seconds)",
    ])
    return try figures.number("rows_per_s")
  }

  /// What the store in it takes, by the names that `caravan-bench weigh` gives.
  /// - Parameter isSettled: what updates have left is gone, as far as it goes.
  func weigh(isSettled: Bool = false) async throws -> Figures {
    var weight = try await ask(["weigh"] + (isSettled ? ["--settled"] : []))
    // Storage tidies up behind its commits, in steps.
    while isSettled {
      let before = weight
      try await host.clock.sleep(for: Self.settling)
      weight = try await ask(["weigh", "--settled"])
      if weight == before { break }
    }
    return weight
  }

  /// What PostgreSQL does by itself within a minute: before it has counted the rows of a table that was just filled, it
  /// looks for a record of a small zone in all of the zone.
  func count() async throws { if postgres != nil { _ = try await ask(["weigh", "--settled"]) } }

  private static let settling: Duration = .seconds(8)

  struct Figures: Equatable {
    fileprivate let object: JSON

    func number(_ name: String) throws(CaravanError) -> Double {
      guard let number = object[name]?.doubleValue else {
        throw CaravanError(.internalError, "caravan-bench says no '\(name)': \(object.encoded())")
      }
      return number
    }
  }

  private func ask(_ words: [String]) async throws -> Figures {
    var environment = Command.environment
    environment["CARAVAN_POSTGRES"] = postgres
    environment["CARAVAN_DATA"] = directory
    let output = "\(directory)/figures"
    defer { unsafe unlink(output) }
    let child = try await ChildProcess.start(
      ChildCommand(program, words, environment: environment, output: .file(output)), host: host)
    let exit = await child.wait()
    let said = (try? TextFile.read(output)) ?? ""
    guard exit == .code(0) else { throw CaravanError(.unavailable, "\(program) \(words): \(exit): \(said)") }
    return Figures(object: try JSON.parse(said))
  }
}
