internal import Glibc

/// Whole files, for tests that look at disks from outside.
public enum Files {
  /// Everything in a directory but `.` and `..`, in order; none if there is no such directory.
  public static func names(in path: String) -> [String] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Nil: there is none.
  public static func read(_ path: String) -> [UInt8]? {
    let file = unsafe Glibc.open(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
      guard count > 0 else { return bytes }
      bytes += buffer.prefix(count)
    }
  }

  public static func write(_ bytes: [UInt8], to path: String) {
    let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(file >= 0, "\(path) cannot be written")
    defer { close(file) }
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(file, $0.baseAddress! + done, $0.count - done)
      }
      precondition(count > 0, "\(path) cannot be written")
      done += count
    }
  }

  public static func makeDirectory(_ path: String) { unsafe mkdir(path, 0o700) }
}
