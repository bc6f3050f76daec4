internal import CaravanCLICore
internal import CaravanClient
internal import CaravanCrypto
internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import CaravanWire
internal import Glibc
internal import SwiftOverlayShims

/// Looks at what is on the device itself. Its calls block, on a thread of their own; nothing it does leaves a trace.
actor DeviceProbe {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// An agent that does not answer within this time does not answer.
  static let patienceSeconds = 5
  private static let problemLimit = 10

  init(_ host: Host) { executor = host.executors.makeSerial("doctor") }

  static func reason(_ code: Int32) -> String {
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }

  // MARK: Credentials

  /// What the agent shows the broker: the credentials that it was given, or what it has renewed of them by itself.
  /// - Parameter data: the agent's directory.
  /// - Returns: nil: there are none that can be read.
  static func current(_ file: String, data: String?) -> Credentials? {
    guard let given = try? Credentials.reading(file) else { return nil }
    guard let data, let renewed = try? Credentials.reading("\(data)/renewed.creds"), renewed.key == given.key,
      renewed.jwt.claims.issuedAt >= given.jwt.claims.issuedAt
    else { return given }
    return renewed
  }

  /// - Parameter data: the agent's directory.
  func credentials(_ file: String, data: String?) -> CredentialsFacts {
    var status = stat()
    guard unsafe stat(file, &status) == 0 else {
      let code = errno
      return CredentialsFacts(file: file, mode: 0, content: code == ENOENT ? .absent : .unreadable(Self.reason(code)))
    }
    return CredentialsFacts(file: file, mode: status.st_mode & 0o7777, content: Self.content(file, data: data))
  }

  private static func content(_ file: String, data: String?) -> CredentialsFacts.Content {
    guard unsafe access(file, R_OK) == 0 else { return .unreadable(reason(errno)) }
    do throws(CaravanError) {
      let given = try Credentials.reading(file)
      let credentials = current(file, data: data) ?? given
      let claims = credentials.jwt.claims
      guard case .user(let user) = claims.body else { return .malformed("they are no user's") }
      let enrolled = try? EnrolledDevice(credentials: claims.name, user: user.tag("user"))
      return .token(
        CredentialsFacts.Token(
          device: enrolled?.device.text ?? claims.name, user: user.tag("user"), issued: claims.issuedAt,
          expires: claims.expires, digest: credentials.digest))
    } catch {
      return .malformed(error.message)
    }
  }

  // MARK: The agent

  /// - Returns: with the process that listens, where the system says.
  func agent(_ path: String) -> (AgentFacts, process: Int32?) {
    let address: UnixAddress
    do throws(CaravanError) { address = try UnixAddress(path) } catch {
      return (AgentFacts(socket: path, state: .refused(error.message)), nil)
    }
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      unsafe setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    guard address.connect(descriptor) else {
      let state: AgentFacts.State =
        switch errno {
        case ENOENT: .absent
        case ECONNREFUSED: .deserted
        case EAGAIN: .silent
        case let code: .refused(Self.reason(code))
        }
      return (AgentFacts(socket: path, state: state), nil)
    }
    // A request without a hello: an agent refuses it, which is an answer.
    let request = AppRequest(id: 1).encoded()
    let frame = Frame.head(message: request.count) + request
    var answer = [UInt8](repeating: 0, count: 4)
    var got = 0
    if unsafe send(descriptor, frame, frame.count, Int32(MSG_NOSIGNAL)) == frame.count {
      got = unsafe recv(descriptor, &answer, answer.count, Int32(MSG_WAITALL))
    }
    let state: AgentFacts.State = got == answer.count ? .answers : .silent
    return (AgentFacts(socket: path, state: state), Self.peer(descriptor))
  }

  /// Whoever called `listen`: the agent, or its supervisor.
  private static func peer(_ descriptor: Int32) -> Int32? {
    var credentials: [Int32] = [0, -1, -1]  // struct ucred: pid, uid, gid
    var length = socklen_t(MemoryLayout<Int32>.size * credentials.count)
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
    return credentials[0]
  }

  /// - Parameter process: counts if it is an agent.
  func fileLimit(of process: Int32?) -> FileLimitFacts {
    if let process, let name = try? TextFile.read("/proc/\(process)/comm"), name.hasPrefix("caravan-agent"),
      let limits = try? TextFile.read("/proc/\(process)/limits"),
      let line = limits.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") }),
      let soft = line.dropFirst("Max open files".count).split(separator: " ").first.flatMap({ Int($0) })
    {
      return FileLimitFacts(limit: soft, isAgents: true)
    }
    var own = rlimit()
    let status = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &own)
    return FileLimitFacts(limit: status == 0 ? Int(clamping: own.rlim_cur) : 0, isAgents: false)
  }

  // MARK: Data

  func data(_ directory: String) -> DataFacts {
    let told = try? TextFile.tail("\(directory)/agent.db-salvaged.txt", bytes: 16 << 10)
    return DataFacts(
      directory: directory, state: Self.state(directory), store: Self.store("\(directory)/agent.db"),
      recovery: told?.split(separator: "\n").last.map(String.init), refusal: Self.refusal("\(directory)/agent.db"))
  }

  private static func state(_ directory: String) -> DataFacts.State {
    guard unsafe access(directory, F_OK) == 0 else {
      return errno == ENOENT ? .absent : .unwritable(reason(errno))
    }
    if let code = trial("\(directory)/doctor.\(getpid())") { return .unwritable(reason(code)) }
    var room = statvfs()
    guard unsafe statvfs(directory, &room) == 0 else { return .unwritable(reason(errno)) }
    // Some file systems count no files.
    let files = room.f_files == 0 ? Int64.max : Int64(clamping: room.f_favail)
    return .writable(freeBytes: Int64(clamping: room.f_bavail) * Int64(clamping: room.f_frsize), freeFiles: files)
  }

  /// Writes a page to the disk and removes it again.
  /// - Returns: the system's error.
  private static func trial(_ path: String) -> Int32? {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return errno }
    defer {
      close(descriptor)
      unsafe unlink(path)
    }
    let page = [UInt8](repeating: 0x43, count: 4_096)
    let count = unsafe write(descriptor, page, page.count)
    guard count == page.count else { return count < 0 ? errno : ENOSPC }
    return fsync(descriptor) == 0 ? nil : errno
  }

  /// Of a store that an older agent left there is none.
  private static func refusal(_ path: String) -> DataFacts.Refusal? {
    guard unsafe access(path, R_OK) == 0 else { return nil }
    var options = ConnectionOptions()
    options.isReadOnly = true
    guard let connection = try? Connection(.file(path), options) else { return nil }
    defer { connection.close() }
    return try? connection.first("SELECT digest, since FROM refused_credentials") { row in
      DataFacts.Refusal(digest: row.text(0), since: row.integer(1) / 1_000)
    }
  }

  /// SQLite lets one read beside the agent; nothing is written.
  private static func store(_ path: String) -> DataFacts.Store {
    guard unsafe access(path, F_OK) == 0 else { return errno == ENOENT ? .absent : .unread(reason(errno)) }
    guard unsafe access(path, R_OK) == 0 else { return .unread(reason(errno)) }
    // What an agent came upon in use a quick look may not see.
    guard unsafe access("\(path)-damaged", F_OK) != 0 else { return .damaged(["an agent has found it so"]) }
    var options = ConnectionOptions()
    options.isReadOnly = true
    do throws(CaravanError) {
      let connection = try Connection(.file(path), options)
      defer { connection.close() }
      let lines = try connection.prepare("PRAGMA quick_check(\(problemLimit))").all { row in row.text(0) }
      return lines == ["ok"] ? .sound : .damaged(lines)
    } catch {
      return error.code == .internalError ? .damaged([error.message]) : .unread(error.message)
    }
  }
}
