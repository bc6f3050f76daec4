public import CaravanModel
internal import Glibc

// Names of files.
extension DiskFile {
  public static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Makes an empty file, for good: also after the power is lost.
  public static func mark(_ path: String) throws(CaravanError) {
    try DiskFile(path).close()
    try syncFolder(of: path)
  }

  /// Gives the file another name, for good.
  /// - Parameter tap: hears of the folder's sync, as of a file's.
  public static func rename(_ path: String, to name: String, tap: (any DiskTap)? = nil) throws(CaravanError) {
    guard unsafe Glibc.rename(path, name) == 0 else { throw failure("rename", path, errno) }
    try syncFolder(of: name, tap: tap)
  }

  /// Nothing happens when there is no such file. After the power is lost it may be there again.
  public static func remove(_ path: String) {
    if unsafe unlink(path) == 0 { try? syncFolder(of: path) }
  }

  /// What was made, renamed or removed beside `path` survives a power cut on return.
  static func syncFolder(of path: String, tap: (any DiskTap)? = nil) throws(CaravanError) {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    if let tap, !tap.allows(.sync, of: folder) { throw failure("fsync", folder, EIO) }
    let descriptor = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open", folder, errno) }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("fsync", folder, errno) }
  }
}
