internal import CCaravanLinux
public import CaravanModel
internal import Glibc

/// A file read and written at offsets. Owned by one isolation domain; every call may block, so it belongs on a thread
/// of its own (style rule 11).
public final class DiskFile {
  public let path: String
  private let descriptor: Int32
  private let tap: (any DiskTap)?
  private var isOpen = true

  /// Opens the file, which is made if absent, readable by its user only.
  /// - Parameter isReadOnly: opens it as it is, or not at all.
  /// - Throws: `storageFull`.
  public init(_ path: String, tap: (any DiskTap)? = nil, isReadOnly: Bool = false) throws(CaravanError) {
    self.path = path
    self.tap = tap
    descriptor = unsafe open(path, (isReadOnly ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure("open", path, errno) }
  }

  /// Makes a file, readable by its user only, where there is none yet. A link does not count as none.
  /// - Throws: `storageFull`.
  init(new path: String, tap: (any DiskTap)?) throws(CaravanError) {
    self.path = path
    self.tap = tap
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure("make", path, errno) }
  }

  deinit { close() }

  /// Nothing may be called afterwards.
  public func close() {
    if isOpen { Glibc.close(descriptor) }
    isOpen = false
  }

  /// - Throws: `storageFull`; some of the bytes may have been written.
  public func write(_ bytes: borrowing [UInt8], at offset: Int) throws(CaravanError) {
    try ask("write") { .write(copy bytes, at: offset) }
    let code = unsafe bytes.withUnsafeBytes { bytes -> Int32 in
      var done = 0
      while done < bytes.count {
        let count = unsafe pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset + done))
        if count > 0 { done += count } else if count == 0 || errno != EINTR { return count == 0 ? ENOSPC : errno }
      }
      return 0
    }
    guard code == 0 else { throw Self.failure("write", path, code) }
  }

  /// - Returns: fewer bytes than asked for at the end of the file.
  public func read(at offset: Int, count: Int) throws(CaravanError) -> [UInt8] {
    var code: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let read = unsafe pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
        if read == 0 { return }
        if read > 0 {
          filled += read
        } else if errno != EINTR {
          code = errno
          return
        }
      }
    }
    // A sector that cannot be read is damage like any other: its bytes are not here.
    guard code == 0 || code == EIO else { throw Self.failure("read", path, code) }
    return bytes
  }

  /// What was written survives a power cut on return.
  public func sync() throws(CaravanError) {
    try ask("sync") { .sync }
    guard fdatasync(descriptor) == 0 else { throw Self.failure("sync", path, errno) }
  }

  /// As `sync`, beside what comes next. What is written meanwhile may be on the disk, or not.
  /// - Returns: 0 once it is done, or the error's number. The file must stay open until then.
  public func beginSync(by helper: any Helper) throws(CaravanError) -> Deferred<Int32> {
    try ask("sync") { .sync }
    return Deferred(by: helper) { [descriptor] in fdatasync(descriptor) == 0 ? 0 : errno }
  }

  public func finish(_ sync: Deferred<Int32>) throws(CaravanError) {
    let code = sync.wait()
    guard code == 0 else { throw Self.failure("sync", path, code) }
  }

  /// Has the disk begin with these bytes, so that a later `sync` finds less to do. A hint; promises nothing.
  public func startWriting(_ range: Range<Int>) {
    _ = CLinux_sync_file_range(descriptor, Int64(range.lowerBound), Int64(range.count), CLinux_start_writing)
  }

  public func resize(to size: Int) throws(CaravanError) {
    try ask("resize") { .resize(to: size) }
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw Self.failure("resize", path, errno) }
  }

  /// Takes the disk's space for so many bytes, which are zeros where nothing was written.
  /// - Throws: `storageFull`; some of the space may have been taken.
  public func allocate(_ bytes: Int) throws(CaravanError) {
    try ask("allocate") { .resize(to: bytes) }
    let code = posix_fallocate(descriptor, 0, off_t(bytes))
    guard code == 0 else { throw Self.failure("allocate", path, code) }
  }

  /// Gives the space of the whole blocks in the range back to the file system.
  /// - Returns: false where the file system cannot; the bytes are then as they were.
  public func release(_ range: Range<Int>) throws(CaravanError) -> Bool {
    try ask("release") { .release(range) }
    return CLinux_fallocate(descriptor, CLinux_punch_hole, Int64(range.lowerBound), Int64(range.count)) == 0
  }

  /// Bytes up to the end, and bytes of disk the file takes.
  public func usage() throws(CaravanError) -> (size: Int, allocated: Int) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw Self.failure("look at", path, errno) }
    return (Int(status.st_size), Int(status.st_blocks) * 512)
  }

  // MARK: The file's lock, among all who have opened it, in any process (flock(2))

  /// Waits until nobody holds the lock alone, and holds it together with others.
  public func share() { while flock(descriptor, LOCK_SH) != 0, errno == EINTR {} }

  /// - Returns: whether the lock is held now, alone.
  public func tryLock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

  public func unlock() { _ = flock(descriptor, LOCK_UN) }

  private func ask(_ verb: StaticString, _ change: () -> DiskChange) throws(CaravanError) {
    guard let tap, !tap.allows(change(), of: path) else { return }
    throw Self.failure(verb, path, EIO)
  }

  static func failure(_ verb: StaticString, _ path: String, _ code: Int32) -> CaravanError {
    let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    let advice = [ENOSPC, EDQUOT].contains(code) ? ": free some space and retry" : ""
    return CaravanError(.storageFull, "cannot \(verb) '\(path)' (\(reason))\(advice)")
  }
}
