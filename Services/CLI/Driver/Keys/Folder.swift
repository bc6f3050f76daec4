internal import Glibc
internal import Launch
internal import Model
internal import Runtime

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

  /// Gives the directory and what lies in it to another user, as a container's runs under.
  func giveTo(_ owner: UInt32) throws(CaravanError) {
    for name in ["."] + Self.names(in: path) {
      guard unsafe lchown(file(name), owner, owner) == 0 else {
        throw Self.failure("give to user \(owner):", file(name))
      }
    }
  }

  private static func names(in path: String) -> [String] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe $0.prefix { $0 != 0 }.map { $0 } }
      let name = String(decoding: bytes, as: UTF8.self)
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  private static func failure(_ verb: String, _ path: String) -> CaravanError {
    let reason = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    return CaravanError(.invalidData, "cannot \(verb) '\(path)': \(reason)")
  }
}
