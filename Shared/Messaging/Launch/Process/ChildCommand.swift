internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// What to start, and where its output goes.
public struct ChildCommand: Sendable {
  public enum Output: Sendable {
    /// This process's own.
    case inherited
    /// Appended to a file.
    case file(String)
  }

  /// A path, or a name to look up in `PATH`.
  public var program: String
  public var arguments: [String]
  /// nil: this process's own.
  public var environment: [String: String]?
  /// Of standard output and standard error; standard input is empty.
  public var output: Output

  public init(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, output: Output = .inherited
  ) {
    self.program = program
    self.arguments = arguments
    self.environment = environment
    self.output = output
  }

  private static let guardian = "/usr/bin/setpriv"

  /// - Returns: the process's number, which whoever calls must wait for.
  func spawnBlocking() throws(CaravanError) -> Int32 {
    let words =
      unsafe access(Self.guardian, X_OK) == 0
      ? [Self.guardian, "--pdeathsig", "KILL", "--", program] + arguments : [program] + arguments
    var argv = unsafe words.map { unsafe strdup($0) } + [nil]
    let pairs = (environment ?? [:]).sorted { $0.key < $1.key }
    var envp = unsafe pairs.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer { unsafe (argv + envp).forEach { unsafe free($0) } }
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    unsafe setFiles(&actions)
    setSignals(&attributes)
    var identifier: pid_t = 0
    let status =
      environment == nil
      ? unsafe posix_spawnp(&identifier, words[0], &actions, &attributes, &argv, environ)
      : unsafe posix_spawnp(&identifier, words[0], &actions, &attributes, &argv, &envp)
    guard status == 0 else {
      throw CaravanError(.invalidData, "cannot start '\(program)': \(SystemError.text(status))")
    }
    return identifier
  }

  private func setFiles(_ actions: inout posix_spawn_file_actions_t) {
    unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    if case .file(let path) = output {
      // A process without a log does its work; one that cannot be started for the lack of one does not.
      let place = Self.canAppend(to: path) ? path : "/dev/null"
      unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, place, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      unsafe posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    }
    // Libraries open sockets that would stay open in the child.
    for descriptor in Self.openDescriptors() where descriptor > STDERR_FILENO {
      unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
    }
  }

  private static func canAppend(to path: String) -> Bool {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if file >= 0 { close(file) }
    return file >= 0
  }

  private static func openDescriptors() -> [Int32] {
    // Without a descriptor left to look: all that there may be. Closing one that is not open does no harm.
    guard let directory = unsafe opendir("/proc/self/fd") else {
      return Array(0..<Int32(clamping: min(max(3, sysconf(Int32(_SC_OPEN_MAX))), 4_096)))
    }
    defer { unsafe closedir(directory) }
    var descriptors: [Int32] = []
    while let entry = unsafe readdir(directory) {
      let digits = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe $0.prefix { $0 != 0 }.map { $0 } }
      if let descriptor = Int32(String(decoding: digits, as: UTF8.self)) { descriptors.append(descriptor) }
    }
    return descriptors
  }

  /// Usual signals, none blocked; a group of its own, so that ^C at a terminal reaches this process alone, which then
  /// ends its children in order.
  private func setSignals(_ attributes: inout posix_spawnattr_t) {
    var none = sigset_t()
    var usual = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigemptyset(&usual)
    unsafe sigaddset(&usual, SIGPIPE)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETPGROUP)
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
  }
}
