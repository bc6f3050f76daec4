internal import CCaravanSQLite
internal import CaravanRuntime

/// SQLite's own way to the disk with something of ours in it: a VFS that passes everything on to the default one
/// (https://sqlite.org/vfs.html). It gathers what a commit writes to the write-ahead log; and, for tests, it asks a
/// `DiskTap` before writes, truncations, syncs and deletions.
enum OwnFiles {
  /// Those that still belong to somebody: files may be opened and removed by a connection's path at any time.
  private static let taps = Mutex<[String: WeakTap]>([:])

  private struct WeakTap {
    weak var tap: (any DiskTap)?
  }

  /// The VFS of a connection; nil: SQLite's. What SQLite does to the database at `path` and to the files beside it is
  /// shown to the options' tap from now on.
  static func vfsName(_ options: ConnectionOptions, _ path: String) -> String? {
    guard let tap = options.tap else { return options.isReadOnly ? nil : plainName }
    taps.withLock { taps in
      taps = taps.filter { $0.value.tap != nil }
      taps[path] = WeakTap(tap: tap)
    }
    return tappedName
  }

  private static func tap(of path: String) -> (any DiskTap)? {
    let database = ["-wal", "-journal"].first { path.hasSuffix($0) }.map { String(path.dropLast($0.count)) }
    return taps.withLock { $0[database ?? path]?.tap }
  }

  // MARK: The VFS

  /// A file of ours: SQLite's part, what we have beside it, and behind both the file of the real VFS.
  private struct File {
    var base: sqlite3_file
    /// Retained from open to close; nil: not tapped.
    var watch: Unmanaged<Watch>?
    /// The same; nil: it is written to at once.
    var gathered: Unmanaged<GatheredWrites>?

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

  private static func own(_ file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<File> {
    UnsafeMutableRawPointer(file!).assumingMemoryBound(to: File.self)
  }

  private static func allows(_ file: UnsafeMutablePointer<sqlite3_file>?, _ change: @autoclosure () -> DiskChange)
    -> Bool
  {
    let watch = own(file).pointee.watch?.takeUnretainedValue()
    return watch.map { $0.tap.allows(change(), of: $0.path) } ?? true
  }

  private static let plainName = install("caravan") { vfs in
    vfs.xOpen = { _, name, file, flags, outFlags in OwnFiles.open(name, file, flags, outFlags, tap: nil) }
  }

  private static let tappedName = install("caravan-tap") { vfs in
    vfs.xOpen = { _, name, file, flags, outFlags in
      let path = name.map { String(cString: $0) } ?? ""
      return OwnFiles.open(name, file, flags, outFlags, tap: OwnFiles.tap(of: path).map { Watch(path, $0) })
    }
    vfs.xDelete = { _, name, syncsDirectory in
      let path = name.map { String(cString: $0) } ?? ""
      guard OwnFiles.tap(of: path)?.allows(.remove, of: path) ?? true else { return SQLITE_IOERR }
      let standard = sqlite3_vfs_find(nil)
      return standard?.pointee.xDelete(standard, name, syncsDirectory) ?? SQLITE_IOERR
    }
  }

  /// Makes a VFS that lives as long as the process.
  private static func install(_ vfsName: String, _ fill: (inout sqlite3_vfs) -> Void) -> String {
    guard let standard = sqlite3_vfs_find(nil) else { return vfsName }
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: standard.pointee)
    vfs.pointee.pNext = nil
    let name = UnsafeMutablePointer<CChar>.allocate(capacity: vfsName.utf8.count + 1)
    name.initialize(repeating: 0, count: vfsName.utf8.count + 1)
    for (index, byte) in vfsName.utf8.enumerated() { name[index] = CChar(byte) }
    vfs.pointee.zName = UnsafePointer(name)
    vfs.pointee.szOsFile = standard.pointee.szOsFile + Int32(File.bytes)
    fill(&vfs.pointee)
    sqlite3_vfs_register(vfs, 0)
    return vfsName
  }

  private static func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?, tap: Watch?
  ) -> Int32 {
    guard let file, let standard = sqlite3_vfs_find(nil) else { return SQLITE_CANTOPEN }
    let isLog = flags & SQLITE_OPEN_WAL != 0
    guard isLog || tap != nil else { return standard.pointee.xOpen(standard, name, file, flags, outFlags) }
    let watch = tap.map { Unmanaged.passRetained($0) }
    let gathered = isLog ? Unmanaged.passRetained(GatheredWrites()) : nil
    UnsafeMutableRawPointer(file).initializeMemory(
      as: File.self, to: File(base: sqlite3_file(pMethods: nil), watch: watch, gathered: gathered))
    let code = standard.pointee.xOpen(standard, name, real(file), flags, outFlags)
    // "SQLite calls xClose even if xOpen fails, unless pMethods is NULL" (https://sqlite.org/c3ref/file.html).
    if real(file).pointee.pMethods != nil { file.pointee.pMethods = UnsafePointer(ioMethods) } else { forget(file) }
    return code
  }

  private static func forget(_ file: UnsafeMutablePointer<sqlite3_file>?) {
    own(file).pointee.watch?.release()
    own(file).pointee.gathered?.release()
  }

  /// What SQLite writes: now, or with what follows it.
  private static func write(
    _ bytes: UnsafeRawPointer?, _ count: Int32, to file: UnsafeMutablePointer<sqlite3_file>?, at offset: Int64
  ) -> Int32 {
    let content = UnsafeRawBufferPointer(start: bytes, count: Int(count))
    guard let gathered = own(file).pointee.gathered?.takeUnretainedValue() else {
      return pass(content, on: file, at: offset)
    }
    if !gathered.add(content, at: offset) {
      let code = writeGathered(file)
      guard code == SQLITE_OK else { return code }
      guard gathered.add(content, at: offset) else { return pass(content, on: file, at: offset) }
    }
    return gathered.isComplete ? writeGathered(file) : SQLITE_OK
  }

  /// Before anything else is done with the file.
  private static func writeGathered(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    own(file).pointee.gathered?.takeUnretainedValue().takeAll { pass($0, on: file, at: $1) } ?? SQLITE_OK
  }

  private static func pass(
    _ content: UnsafeRawBufferPointer, on file: UnsafeMutablePointer<sqlite3_file>?, at offset: Int64
  ) -> Int32 {
    guard allows(file, .write([UInt8](content), at: Int(offset))) else { return SQLITE_IOERR }
    return methods(file).xWrite(real(file), content.baseAddress, Int32(content.count), offset)
  }

  /// Safe because nobody writes to it once it is made: to SQLite it is `const struct sqlite3_io_methods *pMethods`
  /// (sqlite3.h).
  private nonisolated(unsafe) static let ioMethods: UnsafeMutablePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: sqlite3_io_methods())
    // Version 2: with shared memory, without memory-mapped pages, which would pass by.
    methods.pointee.iVersion = 2
    // What is gathered is of no commit.
    methods.pointee.xClose = { file in
      let code = OwnFiles.methods(file).xClose(OwnFiles.real(file))
      OwnFiles.forget(file)
      return code
    }
    methods.pointee.xRead = { file, bytes, count, offset in
      let code = OwnFiles.writeGathered(file)
      return code == SQLITE_OK ? OwnFiles.methods(file).xRead(OwnFiles.real(file), bytes, count, offset) : code
    }
    methods.pointee.xWrite = { OwnFiles.write($1, $2, to: $0, at: $3) }
    methods.pointee.xTruncate = { file, size in
      let code = OwnFiles.writeGathered(file)
      guard code == SQLITE_OK else { return code }
      guard OwnFiles.allows(file, .resize(to: Int(size))) else { return SQLITE_IOERR }
      return OwnFiles.methods(file).xTruncate(OwnFiles.real(file), size)
    }
    methods.pointee.xSync = { file, flags in
      let code = OwnFiles.writeGathered(file)
      guard code == SQLITE_OK else { return code }
      guard OwnFiles.allows(file, .sync) else { return SQLITE_IOERR }
      return OwnFiles.methods(file).xSync(OwnFiles.real(file), flags)
    }
    methods.pointee.xFileSize = { file, size in
      let code = OwnFiles.writeGathered(file)
      return code == SQLITE_OK ? OwnFiles.methods(file).xFileSize(OwnFiles.real(file), size) : code
    }
    methods.pointee.xLock = { OwnFiles.methods($0).xLock(OwnFiles.real($0), $1) }
    methods.pointee.xUnlock = { OwnFiles.methods($0).xUnlock(OwnFiles.real($0), $1) }
    methods.pointee.xCheckReservedLock = { OwnFiles.methods($0).xCheckReservedLock(OwnFiles.real($0), $1) }
    methods.pointee.xFileControl = { OwnFiles.methods($0).xFileControl(OwnFiles.real($0), $1, $2) }
    methods.pointee.xSectorSize = { OwnFiles.methods($0).xSectorSize(OwnFiles.real($0)) }
    methods.pointee.xDeviceCharacteristics = { OwnFiles.methods($0).xDeviceCharacteristics(OwnFiles.real($0)) }
    methods.pointee.xShmMap = { OwnFiles.methods($0).xShmMap(OwnFiles.real($0), $1, $2, $3, $4) }
    methods.pointee.xShmLock = { OwnFiles.methods($0).xShmLock(OwnFiles.real($0), $1, $2, $3) }
    methods.pointee.xShmBarrier = { OwnFiles.methods($0).xShmBarrier(OwnFiles.real($0)) }
    methods.pointee.xShmUnmap = { OwnFiles.methods($0).xShmUnmap(OwnFiles.real($0), $1) }
    return methods
  }()
}
