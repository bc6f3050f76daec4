import CaravanAgentCore
import CaravanClient
import CaravanModel
import CaravanRuntime
import CaravanTestKit
import CaravanWire
import Glibc
import Testing

@testable import CaravanAgentApps
@testable import CaravanAgentStore

/// Goal: the agent changes and removes nothing that another user has put in its way, and no user keeps another's app
/// from its token. Method: directories as an attacker would prepare them.
@Suite("The socket's place", .timeLimit(.minutes(1)))
struct SocketPlaceTests {
  private static func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  private static func refusal(_ body: () throws -> Void) -> CaravanError? {
    do { try body() } catch { return error as? CaravanError }
    return nil
  }

  @Test(
    "TRU-06: a link of another user in the place of the tokens' directory is refused, and leads to no chmod",
    .enabled(if: OtherUser.arePossible))
  func link() async throws {
    try await withTemporaryDirectory { directory in
      let (victim, place) = ("\(directory)/victim", "\(directory)/shared")
      mkdir(victim, 0o700)
      mkdir(place, 0o700)
      chmod(place, 0o1777)
      let socket = "\(place)/agent.sock"
      symlink(victim, "\(socket).tokens")
      lchown("\(socket).tokens", OtherUser.one, OtherUser.one)
      let refused = Self.refusal { _ = try TokenDirectory(of: socket, user: geteuid()) }
      #expect(refused?.message.contains("user \(OtherUser.one)") == true)
      #expect(Self.mode(victim) == 0o700)
      // Root's own link, as the package makes one, is followed to a directory of the agent's user.
      lchown("\(socket).tokens", 0, 0)
      _ = try TokenDirectory(of: socket, user: geteuid())
      #expect(Self.mode(victim) == 0o1777)
      chown(victim, OtherUser.one, OtherUser.one)
      #expect(Self.refusal { _ = try TokenDirectory(of: socket, user: geteuid()) } != nil)
    }
  }

  @Test("TRU-06: a directory of another user is not taken for the tokens', nor one in which all may rename all")
  func places() async throws {
    try await withTemporaryDirectory { directory in
      let socket = "\(directory)/agent.sock"
      chmod(directory, 0o777)
      #expect(
        Self.refusal { _ = try TokenDirectory(of: socket, user: geteuid()) }?.message.contains("chmod o-w") == true)
      chmod(directory, 0o1777)
      _ = try TokenDirectory(of: socket, user: geteuid())
      #expect(Self.mode("\(socket).tokens") == 0o1777)
      guard OtherUser.arePossible else { return }
      chown("\(socket).tokens", OtherUser.one, OtherUser.one)
      let refused = Self.refusal { _ = try TokenDirectory(of: socket, user: geteuid()) }
      #expect(refused?.message.contains("user \(OtherUser.one)") == true)
    }
  }

  @Test("TRU-06: what is there and is no socket stays; a socket that another agent has made since stays, too")
  func unlinking() async throws {
    try await withTemporaryDirectory { directory in
      let socket = "\(directory)/agent.sock"
      try TextFile.writeSecret("precious", to: socket)
      #expect(Self.refusal { _ = try UnixSocket(listeningAt: socket) }?.code == .invalidData)
      #expect(try TextFile.read(socket) == "precious")
      unlink(socket)
      let first = try UnixSocket(listeningAt: socket)
      unlink(socket)
      let second = try UnixSocket(listeningAt: socket)
      first.close()
      #expect(access(socket, F_OK) == 0)
      #expect(Self.mode(socket) == 0o666)
      second.close()
      #expect(access(socket, F_OK) != 0)
    }
  }

  @Test(
    "TRU-06: whatever another user has put where an app keeps its token, the app comes and has it",
    .enabled(if: OtherUser.arePossible), arguments: ["file", "link", "directory"])
  func squatted(kind: String) async throws {
    try await AppFixture.with(AppServer.Configuration(isOpen: true)) { f in
      let (path, precious) = ("\(f.socket).tokens/album", "\(f.socket).precious")
      try TextFile.writeSecret("precious", to: precious)
      switch kind {
      case "file": try TextFile.writeSecret(String(repeating: "0", count: 64), to: path)
      case "link": symlink(precious, path)
      default:
        mkdir(path, 0o700)
        try TextFile.writeSecret("x", to: "\(path)/full")
      }
      lchown(path, OtherUser.two, OtherUser.two)
      _ = try await f.stranger(OtherUser.one, as: "album")
      var status = stat()
      #expect(lstat(path, &status) != 0, "the app can put its token there")
      #expect(try TextFile.read(precious) == "precious")
    }
  }

  @Test("TRU-06: a store's directory is its user's alone, and one of another user is not used")
  func directory() async throws {
    try await withTemporaryDirectory { directory in
      let data = "\(directory)/data"
      mkdir(data, 0o755)
      chmod(data, 0o777)
      for name in ["agent.db", "other"] {
        try TextFile.writeSecret("x", to: "\(data)/\(name)")
        chmod("\(data)/\(name)", 0o644)
      }
      try LocalStore.makePrivate(data)
      #expect(Self.mode(data) == 0o755 && Self.mode("\(data)/agent.db") == 0o600 && Self.mode("\(data)/other") == 0o644)
      guard OtherUser.arePossible else { return }
      chown(data, OtherUser.one, OtherUser.one)
      #expect(Self.refusal { try LocalStore.makePrivate(data) }?.code == .invalidData)
    }
  }
}
