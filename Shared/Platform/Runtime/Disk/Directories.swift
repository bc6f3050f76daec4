package import CaravanModel
internal import Glibc

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

  /// Makes a directory, and what is above it, where they are missing: their owner's alone, and for good, also after
  /// the power is lost.
  /// - Throws: `invalidData` with what the system says.
  package static func make(_ path: String, tap: (any DiskTap)? = nil) throws(CaravanError) {
    var made = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      made += "/\(part)"
      if unsafe mkdir(made, 0o700) == 0 {
        try DiskFile.syncFolder(of: made, tap: tap)
      } else if errno != EEXIST {
        throw CaravanError(.invalidData, "cannot make directory '\(made)': \(SystemError.text(errno))")
      }
    }
  }

  /// Makes a directory for what nobody but this process's user may read or change, or makes one that is there fit for
  /// it: nobody else may write in it, and nobody else may read its own files.
  /// - Parameters:
  ///   - user: of this process.
  ///   - prefix: with which the names of its own files begin.
  /// - Throws: `invalidData` when it belongs to somebody else, who could put other files there.
  package static func makePrivate(
    _ path: String, files prefix: String, user: UInt32 = geteuid()
  ) throws(CaravanError) {
    try make(path)
    let directory = try HeldDirectory.owned(path, by: [0, user])
    let facts = try directory.facts
    if facts.mode & 0o022 != 0 {
      guard facts.owner == user || user == 0 else {
        throw CaravanError(.invalidData, "others than its owner may write in '\(path)': chmod go-w '\(path)'")
      }
      try directory.setMode(facts.mode & ~0o022)
    }
    for name in try names(in: path) where name.hasPrefix(prefix) {
      guard let file = try directory.facts(of: name), file.kind == .file, file.owner == user, file.mode & 0o077 != 0
      else { continue }
      try directory.setMode(file.mode & 0o700, of: name)
    }
  }
}
