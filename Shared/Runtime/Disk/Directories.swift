internal import Glibc
package import Model

package enum Directories {
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
