/// The directory of a process that may die at any moment. What survives `kill -9` is what its files hold right then:
/// the kernel keeps what was written, synced or not. What survives a power cut, `FragileDisk` knows.
///
/// The dead go on holding the files they had (tasks end only when they next look), so whoever comes after them gets
/// copies, and a new directory.
public struct CrashFiles: Sendable {
  private let base: String
  private var life = 0

  /// - Parameter base: path that the directories' names begin with.
  public init(_ base: String) { self.base = base }

  public var directory: String { "\(base)-\(life)" }

  public mutating func open() { Files.makeDirectory(directory) }

  /// The next life begins with the files as they are now, or as a power cut leaves them.
  public mutating func die(powerCutOn disk: FragileDisk? = nil) {
    let old = directory
    life += 1
    open()
    Self.copy(old, to: directory, powerCutOn: disk)
    TemporaryDirectory.removeTree(old)
  }

  /// All files are gone.
  public mutating func lose() {
    TemporaryDirectory.removeTree(directory)
    open()
  }

  private static func copy(_ old: String, to new: String, powerCutOn disk: FragileDisk?) {
    Files.makeDirectory(new)
    for name in Files.names(in: old) where survives(name) {
      let (from, to) = ("\(old)/\(name)", "\(new)/\(name)")
      guard Files.names(in: from).isEmpty else {
        copy(from, to: to, powerCutOn: disk)
        continue
      }
      let bytes = disk.map { $0.afterPowerCut(from) } ?? Files.read(from)
      if let bytes { Files.write(bytes, to: to) }
    }
  }

  /// The shared memory beside a write-ahead log belongs to the processes that have it open.
  private static func survives(_ name: String) -> Bool { !name.hasSuffix("-shm") && name != "lock" }
}
