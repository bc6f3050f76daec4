internal import CSQLite
internal import Runtime

/// SQLite's own way to the disk with a `DiskTap` in it: a VFS that passes everything on to the default one and asks
/// before writes, truncations, syncs and deletions (https://sqlite.org/vfs.html). For tests; other connections never
/// come through here.
enum TappedFiles {
  static let vfsName = "caravan-tap"

  private static let taps = Mutex<[String: any DiskTap]>([:])

  /// What SQLite does to the database at `path` and to the files beside it is shown to `tap` from now on.
  static func watch(_ path: String, _ tap: any DiskTap) {
    install
    taps.withLock { $0[path] = tap }
  }

  private static func tap(of path: String) -> (any DiskTap)? {
    let database = ["-wal", "-journal"].first { path.hasSuffix($0) }.map { String(path.dropLast($0.count)) }
    return taps.withLock { $0[database ?? path] }
  }

  // MARK: The VFS

  /// A file of ours: SQLite's part, whose tap it has, and behind both the file of the real VFS.
  private struct File {
    var base: sqlite3_file
    /// Retained from open to close; nil: not tapped.
    var watch: Unmanaged<Watch>?

    static let bytes = (MemoryLayout<File>.size + 15) & ~15
  }

  private final class Watch {
    let path: String
    let tap: any DiskTap

    init(_ path: String, _ tap: any DiskTap) {
      self.path = path
      self.tap = tap
    }
  }

  private static func real(_ file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<sqlite3_file> {
    (UnsafeMutableRawPointer(file!) + File.bytes).assumingMemoryBound(to: sqlite3_file.self)
  }

  private static func methods(_ file: UnsafeMutablePointer<sqlite3_file>?) -> sqlite3_io_methods {
    real(file).pointee.pMethods.pointee
  }

  private static func allows(_ file: UnsafeMutablePointer<sqlite3_file>?, _ change: @autoclosure () -> DiskChange)
    -> Bool
  {
    let watch = UnsafeMutableRawPointer(file!).assumingMemoryBound(to: File.self).pointee.watch?.takeUnretainedValue()
    return watch.map { $0.tap.allows(change(), of: $0.path) } ?? true
  }

  /// Lives as long as the process.
  private static let install: Void = {
    guard let standard = sqlite3_vfs_find(nil) else { return }
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: standard.pointee)
    vfs.pointee.pNext = nil
    let name = UnsafeMutablePointer<CChar>.allocate(capacity: vfsName.utf8.count + 1)
    name.initialize(repeating: 0, count: vfsName.utf8.count + 1)
    for (index, byte) in vfsName.utf8.enumerated() { name[index] = CChar(byte) }
    vfs.pointee.zName = UnsafePointer(name)
    vfs.pointee.szOsFile = standard.pointee.szOsFile + Int32(File.bytes)
    vfs.pointee.xOpen = { _, name, file, flags, outFlags in TappedFiles.open(name, file, flags, outFlags) }
    vfs.pointee.xDelete = { _, name, syncsDirectory in
      let path = name.map { String(cString: $0) } ?? ""
      guard TappedFiles.tap(of: path)?.allows(.remove, of: path) ?? true else { return SQLITE_IOERR }
      let standard = sqlite3_vfs_find(nil)
      return standard?.pointee.xDelete(standard, name, syncsDirectory) ?? SQLITE_IOERR
    }
    sqlite3_vfs_register(vfs, 0)
  }()

  private static func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let file, let standard = sqlite3_vfs_find(nil) else { return SQLITE_CANTOPEN }
    let path = name.map { String(cString: $0) } ?? ""
    let watch = tap(of: path).map { Unmanaged.passRetained(Watch(path, $0)) }
    UnsafeMutableRawPointer(file).initializeMemory(
      as: File.self, to: File(base: sqlite3_file(pMethods: nil), watch: watch))
    let code = standard.pointee.xOpen(standard, name, real(file), flags, outFlags)
    // "SQLite calls xClose even if xOpen fails, unless pMethods is NULL" (https://sqlite.org/c3ref/file.html).
    if real(file).pointee.pMethods != nil { file.pointee.pMethods = UnsafePointer(ioMethods) } else { watch?.release() }
    return code
  }

  /// Safe because nobody writes to it once it is made.
  private nonisolated(unsafe) static let ioMethods: UnsafeMutablePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: sqlite3_io_methods())
    // Version 2: with shared memory, without memory-mapped pages, which would pass by.
    methods.pointee.iVersion = 2
    methods.pointee.xClose = { file in
      let code = TappedFiles.methods(file).xClose(TappedFiles.real(file))
      UnsafeMutableRawPointer(file!).assumingMemoryBound(to: File.self).pointee.watch?.release()
      return code
    }
    methods.pointee.xRead = { TappedFiles.methods($0).xRead(TappedFiles.real($0), $1, $2, $3) }
    methods.pointee.xWrite = { file, bytes, count, offset in
      let content = UnsafeRawBufferPointer(start: bytes, count: Int(count))
      guard TappedFiles.allows(file, .write([UInt8](content), at: Int(offset))) else { return SQLITE_IOERR }
      return TappedFiles.methods(file).xWrite(TappedFiles.real(file), bytes, count, offset)
    }
    methods.pointee.xTruncate = { file, size in
      guard TappedFiles.allows(file, .resize(to: Int(size))) else { return SQLITE_IOERR }
      return TappedFiles.methods(file).xTruncate(TappedFiles.real(file), size)
    }
    methods.pointee.xSync = { file, flags in
      guard TappedFiles.allows(file, .sync) else { return SQLITE_IOERR }
      return TappedFiles.methods(file).xSync(TappedFiles.real(file), flags)
    }
    methods.pointee.xFileSize = { TappedFiles.methods($0).xFileSize(TappedFiles.real($0), $1) }
    methods.pointee.xLock = { TappedFiles.methods($0).xLock(TappedFiles.real($0), $1) }
    methods.pointee.xUnlock = { TappedFiles.methods($0).xUnlock(TappedFiles.real($0), $1) }
    methods.pointee.xCheckReservedLock = { TappedFiles.methods($0).xCheckReservedLock(TappedFiles.real($0), $1) }
    methods.pointee.xFileControl = { TappedFiles.methods($0).xFileControl(TappedFiles.real($0), $1, $2) }
    methods.pointee.xSectorSize = { TappedFiles.methods($0).xSectorSize(TappedFiles.real($0)) }
    methods.pointee.xDeviceCharacteristics = { TappedFiles.methods($0).xDeviceCharacteristics(TappedFiles.real($0)) }
    methods.pointee.xShmMap = { TappedFiles.methods($0).xShmMap(TappedFiles.real($0), $1, $2, $3, $4) }
    methods.pointee.xShmLock = { TappedFiles.methods($0).xShmLock(TappedFiles.real($0), $1, $2, $3) }
    methods.pointee.xShmBarrier = { TappedFiles.methods($0).xShmBarrier(TappedFiles.real($0)) }
    methods.pointee.xShmUnmap = { TappedFiles.methods($0).xShmUnmap(TappedFiles.real($0), $1) }
    return methods
  }()
}
