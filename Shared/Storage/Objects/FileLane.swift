public import CaravanModel
public import CaravanRuntime
internal import Glibc

/// An object store that is a directory: each object is a file at its path. A file is written aside, made durable and
/// renamed, so whoever looks sees the old object or the new one.
public actor FileLane: ObjectLane {
  private let executor: any SerialExecutor
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let root: String
  private var spool: Spool

  /// Beside the objects, on their file system.
  private static let spoolFolder = ".caravan-spool"
  /// Names in a directory have at most so many bytes.
  private static let longestName = 255

  /// - Parameters:
  ///   - root: made when it is absent.
  ///   - number: tells the lanes of a process from each other.
  public init(_ root: String, number: Int, host: Host) {
    executor = host.executors.makeSerial("objects-\(number)")
    self.root = root
    spool = Spool(in: "\(root)/\(Self.spoolFolder)", number: number, host: host)
  }

  public func begin() throws(CaravanError) {
    // Here, where it is tried again: a directory that is away for a while keeps no store from opening.
    try Self.makeFolders("\(root)/\(Self.spoolFolder)")
    try spool.begin()
  }

  public func append(_ bytes: [UInt8]) throws(CaravanError) { try spool.append(bytes) }

  public func put(at path: String) throws(CaravanError) {
    let parts = path.split(separator: "/")
    if let long = parts.first(where: { $0.utf8.count > Self.longestName }) {
      throw CaravanError(.limitExceeded, "'\(long.prefix(40))…' is too long for a file's name")
    }
    try spool.finish()
    let folder = "\(root)/" + parts.dropLast().joined(separator: "/")
    try Self.makeFolders(folder)
    guard unsafe rename(spool.path, "\(root)/\(path)") == 0 else { throw Self.failure("put", path) }
    try Self.sync(folder)
  }

  public func remove(_ path: String) throws(CaravanError) {
    guard unsafe unlink("\(root)/\(path)") == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return }
      throw Self.failure("remove", path)
    }
    var folder = path
    // Folders that have nothing any more go too, up to the first that has.
    while let slash = folder.lastIndex(of: "/") {
      folder = String(folder[..<slash])
      guard unsafe rmdir("\(root)/\(folder)") == 0 else {
        try Self.sync("\(root)/\(folder)")
        return
      }
    }
    try Self.sync(root)
  }

  // MARK: The file system

  private static func makeFolders(_ path: String) throws(CaravanError) {
    var made = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      let parent = made.isEmpty ? "/" : made
      made += "/\(part)"
      if unsafe mkdir(made, 0o755) == 0 {
        try sync(parent)
      } else if errno != EEXIST {
        throw failure("make", made)
      }
    }
  }

  /// So that a name that was made, or went, stays so through a power cut.
  private static func sync(_ folder: String) throws(CaravanError) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // It went meanwhile, with all that was in it.
    if descriptor < 0, errno == ENOENT { return }
    guard descriptor >= 0 else { throw failure("open", folder) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("sync", folder) }
  }

  private static func failure(_ verb: String, _ path: String) -> CaravanError {
    CaravanError(.storageFull, "cannot \(verb) '\(path)': \(SystemError.text(errno))")
  }
}
