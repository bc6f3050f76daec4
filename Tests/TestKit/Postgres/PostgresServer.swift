package import CaravanPostgreSQL
import CaravanRuntime
import Foundation

import struct Synchronization.Atomic

/// A PostgreSQL of the tests' own: on a free loopback port, in a directory that goes away with it, as a user that may
/// run it (PostgreSQL refuses root).
///
/// A keeper process holds the other end of a pipe: when this process lets go of it, however it ends, the keeper stops
/// the server by its pid and removes the directory.
package final class PostgresServer: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// One for all tests that do no harm to it; what it keeps need not survive a power cut.
  package static let shared = Result { try PostgresServer(durable: false) }

  /// Of the newest PostgreSQL that Debian has put here.
  package static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    let newest = versions.max { $0.compare($1, options: .numeric) == .orderedAscending }
    return newest.map { "\(root)/\($0)/bin" }
  }()

  package let port: Int
  private let directory: String
  private let programs: String
  private let durable: Bool
  private let keeper: Process
  private let leash: Pipe
  private let server: Mutex<Process?> = Mutex(nil)

  /// - Parameter making: what makes the data, given the programs and the place for it.
  private init(durable: Bool, making: (String, String) -> [String]) throws {
    guard let programs = Self.programs else {
      throw Failure(description: "PostgreSQL is not installed: run Deploy/packages test")
    }
    self.programs = programs
    self.durable = durable
    directory = try Self.makeDirectory()
    port = try Self.freePort()
    (keeper, leash) = try Self.keep(directory)
    try Self.run(Self.unprivileged(making(programs, "\(directory)/data")))
  }

  package convenience init(durable: Bool) throws {
    try self.init(durable: durable) { programs, data in
      [
        "\(programs)/initdb", "-D", data, "-U", "caravan", "-E", "UTF8", "--locale=C", "--auth=trust", "--no-sync",
        "--no-instructions",
      ]
    }
    // One role that needs a password.
    try """
    local all all trust
    host all locked 127.0.0.1/32 scram-sha-256
    host all,replication all 127.0.0.1/32 trust
    """.appending("\n").write(toFile: "\(directory)/data/pg_hba.conf", atomically: false, encoding: .utf8)
    try start()
  }

  /// A standby. From now on `primary` acknowledges only what this one has too.
  package convenience init(following primary: PostgresServer) throws {
    try self.init(durable: primary.durable) { programs, data in
      ["\(programs)/pg_basebackup", "-D", data, "-d", primary.address(), "-R", "-c", "fast", "--no-sync"]
    }
    try start()
    try primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
    try primary.execute("SELECT pg_reload_conf()")
  }

  deinit {
    try? leash.fileHandleForWriting.close()
    keeper.waitUntilExit()
  }

  // MARK: Addresses

  package func address(user: String = "caravan", database: String = "postgres", rest: String = "") -> String {
    "host=127.0.0.1 port=\(port) user=\(user) dbname=\(database) \(rest)"
  }

  /// Lets in also where nothing can be written.
  private var readableAddress: String { address(rest: "target_session_attrs=any") }

  package func connect(_ text: String? = nil) throws -> CaravanPostgreSQL.Connection {
    try CaravanPostgreSQL.Connection(CaravanPostgreSQL.ConnectionOptions(ConnectionString(text ?? address())))
  }

  /// Runs statements as the superuser.
  package func execute(_ sql: String) throws {
    let connection = try connect()
    defer { connection.close() }
    try connection.execute(sql)
  }

  /// What psql says to a script, errors included.
  package func psql(_ script: String, _ address: String) throws -> String {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "\(programs)/psql")
    process.arguments = ["-XAtq", address]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    Thread.detachNewThread {
      try? input.fileHandleForWriting.write(contentsOf: Data(script.utf8))
      try? input.fileHandleForWriting.close()
    }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
  }

  private static let schemas = Atomic<Int>(0)

  /// Gives `body` the address of a schema of its own, and removes it afterwards.
  package func withSchema<R>(_ body: (String) async throws -> R) async throws -> R {
    let name = "t\(Self.schemas.add(1, ordering: .relaxed).newValue)"
    try execute("CREATE SCHEMA \(name)")
    defer { try? execute("DROP SCHEMA \(name) CASCADE") }
    return try await body(address(rest: "options='-c search_path=\(name)'"))
  }

  /// A database of its own, until `drop`.
  package func makeDatabase() throws -> String {
    let name = "d\(Self.schemas.add(1, ordering: .relaxed).newValue)"
    try execute("CREATE DATABASE \(name)")
    return name
  }

  package func dropDatabase(_ name: String) { try? execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }

  // MARK: Life and death

  /// Returns when the server lets clients in.
  package func start() throws {
    let process = Process()
    let words = Self.unprivileged(
      ["\(programs)/postgres", "-D", "\(directory)/data", "-p", String(port), "-k", directory] + settings)
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.standardInput = FileHandle.nullDevice
    let log = FileHandle(forUpdatingAtPath: "\(directory)/log") ?? FileHandle.nullDevice
    _ = try? log.seekToEnd()
    process.standardOutput = log
    process.standardError = log
    try process.run()
    server.withLock { $0 = process }
    let deadline = Date().addingTimeInterval(30)
    while (try? connect(readableAddress))?.close() == nil {
      guard process.isRunning, Date() < deadline else {
        let log = (try? String(contentsOfFile: "\(directory)/log", encoding: .utf8)) ?? ""
        throw Failure(description: "PostgreSQL did not start: \(log.suffix(600))")
      }
      usleep(20_000)
    }
  }

  /// `kill -9` of the server and all its processes.
  package func kill() { end(SIGKILL) }
  /// Immediate shutdown: as a crash, announced to the clients.
  package func crash() { end(SIGQUIT) }

  private func end(_ signal: Int32) {
    guard let process = server.withLock({ $0.take() }) else { return }
    let children = signal == SIGKILL ? Self.children(of: process.processIdentifier) : []
    Foundation.kill(process.processIdentifier, signal)
    for child in children { Foundation.kill(child, signal) }
    process.waitUntilExit()
  }

  /// Of a standby: from now on it takes writes.
  package func promote() throws {
    let connection = try connect(readableAddress)
    defer { connection.close() }
    guard try connection.run("SELECT pg_promote(true, 60)").first?.flag(0) == true else {
      throw Failure(description: "the standby was not promoted")
    }
  }

  /// How many standbys must have what this server acknowledges.
  package func synchronousStandbys() throws -> Int64 {
    let connection = try connect()
    defer { connection.close() }
    let rows = try connection.run("SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')")
    return rows.first?.integer(0) ?? 0
  }

  /// Stops every process of the server, as a machine that hangs does; `SIGCONT` lets them go on.
  package func signalAll(_ signal: Int32) {
    guard let process = server.withLock({ $0 }) else { return }
    for pid in [process.processIdentifier] + Self.children(of: process.processIdentifier) {
      Foundation.kill(pid, signal)
    }
  }

  private static func children(of pid: Int32) -> [Int32] {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)) ?? ""
    return text.split(separator: " ").compactMap { Int32($0) }
  }

  private var settings: [String] {
    let common = [
      "listen_addresses=127.0.0.1", "max_connections=200", "shared_buffers=128MB", "log_min_messages=fatal",
    ]
    let quick = ["fsync=off", "full_page_writes=off"]
    return (common + (durable ? [] : quick)).flatMap { ["-c", $0] }
  }

  // MARK: Rooms

  private static func makeDirectory() throws -> String {
    var template = Array("/tmp/caravan-pg-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Failure(description: "mkdtemp: \(errno)") }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try Data().write(to: URL(fileURLWithPath: "\(path)/log"))
    if let account {
      guard unsafe chown(path, account.user, account.group) == 0 else { throw Failure(description: "chown: \(errno)") }
    }
    return path
  }

  /// Whom the server runs as when this process is root.
  private static let account: (user: uid_t, group: gid_t)? = {
    guard geteuid() == 0 else { return nil }
    for name in ["postgres", "nobody"] {
      if let entry = unsafe getpwnam(name) { return unsafe (entry.pointee.pw_uid, entry.pointee.pw_gid) }
    }
    return nil
  }()

  private static func unprivileged(_ words: [String]) -> [String] {
    guard let account else { return words }
    return ["/usr/bin/setpriv", "--reuid=\(account.user)", "--regid=\(account.group)", "--clear-groups", "--"] + words
  }

  private static let keeping = """
    trap '' INT TERM HUP
    cat >/dev/null
    pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
    if [ -n "$pid" ]; then
      kill -QUIT "$pid" 2>/dev/null
      for i in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
    fi
    rm -rf "$1"
    """

  private static func keep(_ directory: String) throws -> (Process, Pipe) {
    let keeper = Process()
    let leash = Pipe()
    keeper.executableURL = URL(fileURLWithPath: "/bin/sh")
    keeper.arguments = ["-c", keeping, "keeper", directory]
    keeper.standardInput = leash
    keeper.standardOutput = FileHandle.nullDevice
    keeper.standardError = FileHandle.nullDevice
    try keeper.run()
    return (keeper, leash)
  }

  private static func run(_ words: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(description: "\(words) failed") }
  }

  package static func freePort() throws -> Int {
    let listener = try Listening()
    defer { close(listener.descriptor) }
    return listener.port
  }
}

/// A socket that listens on a free loopback port.
package struct Listening {
  package let descriptor: Int32
  package let port: Int

  package init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let isBound = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else { throw PostgresServer.Failure(description: "no free port: \(errno)") }
    port = Int(UInt16(bigEndian: address.sin_port))
  }
}
