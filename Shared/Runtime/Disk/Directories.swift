internal import Glibc
package import Model

package enum Directories {
  /// What lies in a directory, in no order; not what is in directories in it.
  /// - Throws: `invalidData` with what the system says.
  package static func names(in path: String) throws(CaravanError) -> [String] {
    guard let directory = unsafe opendir(path) else {
      throw CaravanError(.invalidData, "cannot read directory '\(path)': \(SystemError.text(errno))")
    }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// Makes a directory, and what is above it, where they are missing: their owner's alone.
  /// - Throws: `invalidData` with what the system says.
  package static func make(_ path: String) throws(CaravanError) {
    var made = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      made += "/\(part)"
      if unsafe mkdir(made, 0o700) != 0, errno != EEXIST {
        throw CaravanError(.invalidData, "cannot make directory '\(made)': \(SystemError.text(errno))")
      }
    }
  }
}
