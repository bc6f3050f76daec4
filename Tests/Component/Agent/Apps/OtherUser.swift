import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Foundation
import Glibc
import Testing

/// A user of this machine that is not the one who runs the tests.
enum OtherUser {
  static let one: UInt32 = 12_001
  static let two: UInt32 = 12_002

  private static let tool = "/usr/bin/setpriv"
  private static let python = "/usr/bin/python3"
  static let arePossible = geteuid() == 0 && access(tool, X_OK) == 0 && access(python, X_OK) == 0

  /// A connection that a process of the user has made: the kernel names that user to whoever accepts it, also after the
  /// process has handed the connection to this one.
  static func connection(of user: UInt32, to path: String) async throws -> RawPeer {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try await Starter.shared.run(
      as: user, [python, "-c", "import socket, sys; socket.socket(fileno=0).connect(sys.argv[1])", path],
      input: FileHandle(fileDescriptor: descriptor))
    return RawPeer(descriptor)
  }

  /// Runs processes to their end, on a thread of its own.
  private actor Starter {
    static let shared = Starter()
    private let executor = Host.live(logLevel: .error).executors.makeSerial("starter")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run(as user: UInt32, _ words: [String], input: FileHandle) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: tool)
      process.arguments = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--"] + words
      process.standardInput = input
      try process.run()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0, "user \(user) cannot \(words)")
    }
  }
}

extension AppFixture {
  /// A connection of another user, who may enter the socket's directory.
  func stranger(_ user: UInt32 = OtherUser.one) async throws -> RawPeer {
    chmod(String(socket.dropLast("/agent.sock".count)), 0o711)
    return try await OtherUser.connection(of: user, to: socket)
  }

  /// What the agent says against a hello of the user.
  func refusal(of hello: AppHello, to user: UInt32 = OtherUser.one) async throws -> CaravanError? {
    try await stranger(user).refusal(of: .hello(hello))
  }

  /// One that has said hello as this app, with what the answers to its hellos say.
  func stranger(_ user: UInt32 = OtherUser.one, as app: String, token: String = "") async throws -> RawPeer {
    let peer = try await stranger(user)
    try await peer.introduce(app, token: token)
    return peer
  }
}

extension RawPeer {
  /// - Returns: the token that proves the app from now on.
  @discardableResult
  func introduce(_ app: String, token: String = "") async throws -> String {
    var token = token
    while true {
      guard case .welcome(let welcome) = try await ask(.hello(AppHello(app: app, token: token))) else {
        throw CaravanError(.internalError, "no welcome")
      }
      if welcome.token.isEmpty { return token }
      token = welcome.token
    }
  }

  /// - Throws: the agent's refusal; `cancelled` when it has hung up.
  @discardableResult
  func ask(_ kind: AppRequest.Kind) async throws -> AppReply.Kind {
    send(AppRequest(id: 1, kind: kind))
    guard let answer = try receive()?.kind else { throw CaravanError(.cancelled, "the agent has hung up") }
    if case .failure(let failure) = answer { throw failure.model() }
    return answer
  }

  /// The code and the words of the refusal.
  func refusal(of kind: AppRequest.Kind) async -> CaravanError? {
    do { try await ask(kind) } catch let error as CaravanError { return error } catch {}
    return nil
  }
}
