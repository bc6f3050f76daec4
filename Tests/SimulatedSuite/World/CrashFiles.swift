internal import Glibc

/// The directory of a process that may die at any moment. What survives is what its files hold right then: every
/// transaction that was committed, none that was not.
///
/// The dead go on holding the files they had (tasks end only when they next look), so whoever comes after them gets
/// copies, and a new directory.
struct CrashFiles: Sendable {
  private let base: String
  private var life = 0

  /// - Parameter base: path that the directories' names begin with.
  init(_ base: String) { self.base = base }

  var directory: String { "\(base)-\(life)" }

  mutating func open() { unsafe mkdir(directory, 0o700) }

  /// The next life begins with the files as they are now.
  mutating func die() {
    let old = directory
    life += 1
    open()
    for name in Self.names(in: old) where Self.survives(name) { Self.copy("\(old)/\(name)", "\(directory)/\(name)") }
    for name in Self.names(in: old) { unsafe unlink("\(old)/\(name)") }
    unsafe rmdir(old)
  }

  /// The shared memory beside a write-ahead log belongs to the processes that have it open.
  private static func survives(_ name: String) -> Bool { !name.hasSuffix("-shm") && name != "lock" }

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
    return names.sorted()
  }

  private static func copy(_ from: String, _ to: String) {
    let source = unsafe Glibc.open(from, O_RDONLY)
    let target = unsafe Glibc.open(to, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(source >= 0 && target >= 0, "\(from) cannot be copied to \(to)")
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(source, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      let written = unsafe buffer.withUnsafeBytes { unsafe write(target, $0.baseAddress, count) }
      precondition(written == count, "\(to) cannot be written")
    }
    close(source)
    close(target)
  }
}
