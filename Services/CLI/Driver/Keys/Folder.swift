internal import CaravanLaunch
internal import CaravanModel
internal import CaravanRuntime
internal import Glibc

/// A directory of secrets: it and its files are its owner's alone.
struct Folder: Sendable {
  let path: String

  /// Makes it, and what is above it, where they are missing.
  /// - Throws: `invalidData` with what the system says.
  init(making path: String) throws(CaravanError) {
    self.path = path
    try Directories.make(path)
  }

  init(existing path: String) { self.path = path }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func contains(_ name: String) -> Bool { unsafe access(file(name), F_OK) == 0 }

  /// The file's text, without white space at its end; nil when there is no such file.
  func text(_ name: String) throws(CaravanError) -> String? {
    guard contains(name) else { return nil }
    return try TextFile.read(file(name))
  }

  func write(_ text: String, to name: String) throws(CaravanError) { try TextFile.writeSecret(text, to: file(name)) }

  /// As `write`, for whoever owned `other`: services that run as another user read it on.
  func write(_ text: String, to name: String, as other: String) throws(CaravanError) {
    let held = try HeldDirectory(path)
    let owner = try held.facts(of: other)?.owner
    try write(text, to: name)
    if let owner, try held.facts(of: name)?.owner != owner { try held.give(name, to: owner) }
  }

  /// Gives the directory and what lies in it to another user, as a container's runs under.
  func giveTo(_ owner: UInt32) throws(CaravanError) {
    let directory = try HeldDirectory(path)
    // The directory comes last: until then its new owner can put nothing into it.
    for name in try Directories.names(in: path) + ["."] { try directory.give(name, to: owner) }
  }
}
