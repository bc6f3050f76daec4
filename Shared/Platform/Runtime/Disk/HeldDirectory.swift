package import CaravanModel
internal import Glibc

/// What the system says of a file, without following a link.
package struct FileFacts: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case file
    case directory
    case link
    case socket
    case other
  }

  package let kind: Kind
  package let owner: UInt32
  /// Permission bits, with the sticky one.
  package let mode: UInt32
  /// How many names the file has.
  package let names: UInt64
  /// Tells the file from every other one of this machine.
  package let identity: [UInt64]

  fileprivate init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      case S_IFLNK: .link
      case S_IFSOCK: .socket
      default: .other
      }
    owner = status.st_uid
    mode = status.st_mode & 0o7777
    names = UInt64(status.st_nlink)
    identity = [UInt64(status.st_dev), UInt64(status.st_ino)]
  }

  /// Anybody may rename and remove what lies in this directory, also what is not theirs.
  package var isOpenToAll: Bool { mode & 0o002 != 0 && mode & 0o1000 == 0 }
}

/// A directory that is examined once and then used through its descriptor: nobody can put another one in its place
/// between two calls. What lies in it is named without a path, and links in it are not followed.
package final class HeldDirectory: Sendable {
  package let path: String
  private let descriptor: Int32

  /// Opens the directory, whoever made it and over whatever links.
  /// - Throws: `invalidData` with what the system says.
  package convenience init(_ path: String) throws(CaravanError) { try self.init(path, flags: 0) }

  private init(_ path: String, flags: Int32) throws(CaravanError) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)
    guard descriptor >= 0 else { throw Self.failure("open directory", path, errno) }
  }

  deinit { close(descriptor) }

  /// Opens a directory that one of `users` owns. A link that stands in its place is followed only if one of them made
  /// it.
  /// - Throws: `invalidData` that says whose it is.
  package static func owned(_ path: String, by users: Set<UInt32>) throws(CaravanError) -> HeldDirectory {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw failure("look at", path, errno) }
    let link = FileFacts(status)
    if link.kind == .link, !users.contains(link.owner) {
      throw CaravanError(
        .invalidData, "'\(path)' is a link that user \(link.owner) made: remove it, or use another place")
    }
    let directory = try HeldDirectory(path, flags: link.kind == .link ? 0 : O_NOFOLLOW)
    let facts = try directory.facts
    guard users.contains(facts.owner) else {
      throw CaravanError(
        .invalidData,
        "'\(path)' belongs to user \(facts.owner), who could change what is in it: remove it, change its owner, or use "
          + "another place")
    }
    return directory
  }

  package var facts: FileFacts {
    get throws(CaravanError) {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw Self.failure("look at", path, errno) }
      return FileFacts(status)
    }
  }

  package func setMode(_ mode: UInt32) throws(CaravanError) {
    guard fchmod(descriptor, mode) == 0 else { throw Self.failure("change the mode of", path, errno) }
  }

  /// What was made, renamed or removed in it survives a power cut on return.
  package func sync() throws(CaravanError) {
    guard fsync(descriptor) == 0 else { throw Self.failure("sync", path, errno) }
  }

  // MARK: What lies in it

  /// - Returns: nil when there is nothing of that name.
  package func facts(of name: String) throws(CaravanError) -> FileFacts? {
    var status = stat()
    if unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileFacts(status) }
    guard errno == ENOENT else { throw failure("look at", name) }
    return nil
  }

  /// Nothing happens when there is something of that name.
  package func makeDirectory(_ name: String) throws(CaravanError) {
    guard unsafe mkdirat(descriptor, name, 0o700) == 0 || errno == EEXIST else { throw failure("make", name) }
  }

  /// Removes a file, a link or a socket. Nothing happens when there is none.
  package func remove(_ name: String) throws(CaravanError) {
    guard unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw failure("remove", name) }
  }

  package func rename(_ name: String, to other: String) throws(CaravanError) {
    guard unsafe renameat(descriptor, name, descriptor, other) == 0 else { throw failure("rename", name) }
  }

  /// Changes the mode of a file that `facts(of:)` has examined; nobody else may write in this directory.
  package func setMode(_ mode: UInt32, of name: String) throws(CaravanError) {
    guard unsafe fchmodat(descriptor, name, mode, 0) == 0 else { throw failure("change the mode of", name) }
  }

  /// Gives a file or a directory to another user.
  /// - Throws: `invalidData` when the file has several names: another may be in another user's hands.
  package func give(_ name: String, to owner: UInt32) throws(CaravanError) {
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw failure("open", name) }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw failure("look at", name) }
    let facts = FileFacts(status)
    guard facts.kind == .directory || facts.names == 1 else {
      throw CaravanError(.invalidData, "'\(path)/\(name)' has \(facts.names) names: remove the others first")
    }
    guard fchown(file, owner, owner) == 0 else { throw failure("give away", name) }
  }

  private func failure(_ verb: String, _ name: String) -> CaravanError {
    Self.failure(verb, "\(path)/\(name)", errno)
  }

  private static func failure(_ verb: String, _ path: String, _ code: Int32) -> CaravanError {
    CaravanError(.invalidData, "cannot \(verb) '\(path)': \(SystemError.text(code))")
  }
}
