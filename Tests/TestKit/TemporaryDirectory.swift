internal import Glibc

/// A new directory under the system's temporary one, removed with all it holds when `body` returns or throws.
public func withTemporaryDirectory<R>(
  isInMemory: Bool = false, isolation: isolated (any Actor)? = #isolation, _ body: (_ path: String) async throws -> R
) async throws -> R {
  let directory = try TemporaryDirectory(isInMemory: isInMemory)
  defer { directory.remove() }
  return try await body(directory.path)
}

/// A directory of a test's own. Removed by `remove`, or when nobody holds it any more.
public final class TemporaryDirectory: Sendable {
  public struct Failure: Error {
    public let code: Int32
  }

  /// Without a slash at its end.
  public let path: String

  /// - Parameter isInMemory: where there is such a place: nothing waits for a disk there.
  public init(isInMemory: Bool = false) throws(Failure) {
    var parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    if isInMemory, unsafe access("/dev/shm", W_OK) == 0 { parent = "/dev/shm" }
    var template = Array("\(parent)/caravan-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Failure(code: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { remove() }

  /// What is gone already is no error.
  public func remove() {
    Self.removeTree(path)
  }

  /// Removes a file, or a directory with all it holds.
  public static func removeTree(_ path: String) {
    // A link to a directory is unlinked here, and not followed.
    if unsafe unlink(path) == 0 { return }
    for name in names(in: path) { removeTree("\(path)/\(name)") }
    _ = unsafe rmdir(path)
  }

  private static func names(in path: String) -> [String] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}
