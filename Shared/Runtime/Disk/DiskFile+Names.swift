internal import Glibc
public import Model

// Names of files.
extension DiskFile {
  public static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Makes an empty file, for good: also after the power is lost.
  public static func mark(_ path: String) throws(CaravanError) {
    try DiskFile(path).close()
    try syncFolder(of: path)
  }

  /// Gives the file another name, for good.
  public static func rename(_ path: String, to name: String) throws(CaravanError) {
    guard unsafe Glibc.rename(path, name) == 0 else { throw failure("rename", path, errno) }
    try syncFolder(of: name)
  }

  /// Nothing happens when there is no such file. After the power is lost it may be there again.
  public static func remove(_ path: String) {
    if unsafe unlink(path) == 0 { try? syncFolder(of: path) }
  }

  private static func syncFolder(of path: String) throws(CaravanError) {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let descriptor = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open", folder, errno) }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("fsync", folder, errno) }
  }
}
