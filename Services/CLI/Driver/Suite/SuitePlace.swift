internal import CaravanCLICore
internal import CaravanEncoding
internal import CaravanLaunch
internal import CaravanModel
package import CaravanRuntime
internal import Glibc

extension Flag where Value == String? {
  /// The directory of `caravan up`.
  package static var suiteDirectory: Flag<String?> {
    Flag(
      "dir", "DIR", "directory of `caravan up` (default: ~/.local/share/caravan)", environment: "CARAVAN_DIR")
  }
}

extension SuiteDirectory {
  /// - Throws: `invalidData` when no directory is named and there is no home.
  init(_ given: String?) throws(CaravanError) {
    if let given {
      self.init(Self.absolute(given))
      return
    }
    guard let home = Command.environment["HOME"], !home.isEmpty else {
      throw CaravanError(.invalidData, "--dir is required (or CARAVAN_DIR): there is no home directory")
    }
    self.init("\(home)/.local/share/caravan")
  }

  static func absolute(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    guard !path.hasPrefix("/"), let here = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(here) }
    let base = unsafe String(cString: here)
    return path == "." ? base : "\(base)/\(path.hasPrefix("./") ? String(path.dropFirst(2)) : path)"
  }

  /// What the last `caravan up` wrote; nil: none did.
  func lastRun() throws(CaravanError) -> RunFile? {
    guard unsafe access(runFile, F_OK) == 0 else { return nil }
    let text = try TextFile.read(runFile)
    let json: JSON
    do { json = try JSON.parse(text) } catch {
      throw CaravanError(.invalidData, "'\(runFile)' is not JSON: \(error); remove it and start caravan up again")
    }
    return try RunFile(json)
  }

  /// - Throws: `unavailable` when no suite was ever brought up here.
  func running() throws(CaravanError) -> RunFile {
    guard let run = try lastRun() else {
      throw CaravanError(.unavailable, "no suite runs in '\(path)': start one with caravan up --dir \(path)")
    }
    return run
  }
}
