internal import CaravanModel
internal import CaravanRuntime

/// Where apps keep their tokens, beside the agent's socket: each app's user has files of its own there, and nobody can
/// remove or rename another's, as in /tmp.
final class TokenDirectory: Sendable {
  /// Every user may make files, and change their own.
  private static let mode: UInt32 = 0o1777

  private let directory: HeldDirectory

  /// Makes the directory, or takes the one that is there if nobody but this user or root can have made it.
  /// - Parameter user: the agent's.
  /// - Throws: `invalidData` where somebody else could put a directory or a socket in the place of this one.
  init(of socket: String, user: UInt32) throws(CaravanError) {
    let parent = try HeldDirectory(SocketPath(socket).directory)
    guard try !parent.facts.isOpenToAll else {
      throw CaravanError(
        .invalidData,
        "everybody may replace what lies in '\(parent.path)', the agent's socket too: "
          + "chmod o-w '\(parent.path)', or use another --socket")
    }
    try parent.makeDirectory(SocketPath(socket).name + ".tokens")
    directory = try HeldDirectory.owned("\(socket).tokens", by: [0, user])
    guard try directory.facts.mode != Self.mode else { return }
    try directory.setMode(Self.mode)
  }

  /// Moves away what another user has put where an app of this user is about to keep its token.
  func makeRoom(for app: ContainerID, of user: UInt32) throws(CaravanError) {
    guard let facts = try directory.facts(of: app.text), facts.owner != user || facts.kind != .file else { return }
    if facts.kind == .directory {
      // It may be full of files: as one that nobody asks for, it is in nobody's way.
      try directory.rename(app.text, to: "\(app).of-\(facts.owner).\(facts.identity[1])")
    } else {
      try directory.remove(app.text)
    }
  }
}

/// A socket's place, as its directory and its name in it.
struct SocketPath {
  let directory: String
  let name: String

  init(_ path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    name = parts.last.map(String.init) ?? ""
    let folder = parts.dropLast().joined(separator: "/")
    directory = path.hasPrefix("/") ? "/\(folder)" : folder.isEmpty ? "." : folder
  }
}
