internal import CaravanModel
internal import CaravanRuntime
internal import CaravanSQLite
internal import Glibc

/// The files of a store that is salvaged. `agent.db` is never deleted: it is set aside under another name, with its
/// log, once what takes its place is complete. A crash at any moment leaves either the old store or the new one.
struct PageRecoveryFiles {
  let directory: String

  var database: String { "\(directory)/agent.db" }
  /// `KeptRoots`.
  var head: String { "\(directory)/agent.db-head" }
  /// There: the database was found to be damaged, and is salvaged when the store is opened next.
  var mark: String { "\(directory)/agent.db-damaged" }
  /// Not complete yet.
  var draft: String { "\(directory)/agent.db-draft" }
  /// Complete: takes the database's place.
  var successor: String { "\(directory)/agent.db-new" }
  /// What happened, one line each time.
  var report: String { "\(directory)/agent.db-salvaged.txt" }

  func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// The name under which a database is kept that was damaged at this time.
  func aside(_ time: WallTime) -> String {
    var name = "\(database).damaged-\(time)"
    while exists(name) { name += "+" }
    return name
  }

  /// - Throws: `storageFull`.
  func link(_ path: String, to other: String) throws(CaravanError) {
    guard exists(path) else { return }
    guard unsafe Glibc.link(path, other) == 0 else { throw failure("keep '\(path)' as", other) }
  }

  func rename(_ path: String, to other: String) throws(CaravanError) {
    guard unsafe Glibc.rename(path, other) == 0 else { throw failure("rename '\(path)' to", other) }
  }

  func remove(_ path: String) { _ = unsafe unlink(path) }

  func write(_ bytes: [UInt8], to path: String) throws(CaravanError) {
    let draft = "\(path)~"
    remove(draft)
    let file = try DiskFile(draft)
    defer { file.close() }
    try file.write(bytes, at: 0)
    try file.sync()
    try rename(draft, to: path)
  }

  /// The successor takes the database's place.
  func swap() throws(CaravanError) {
    for path in [database, "\(database)-wal", "\(database)-shm"] { remove(path) }
    try rename(successor, to: database)
    remove(mark)
  }

  private func failure(_ verb: String, _ path: String) -> CaravanError {
    let reason = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    return CaravanError(.storageFull, "cannot \(verb) '\(path)' (\(reason)): free some space and retry")
  }
}
