internal import CCaravanSQLite

/// What SQLite writes to its write-ahead log until the last page of a commit, so that it goes to the kernel as one:
/// each page is written as a header and a body (wal.c, `walWriteOneFrame`), and a commit has many.
///
/// Whether a commit then waits for the disk is not known here, nor when others see it. So its last header takes with it
/// what is here, and its last body is not kept: when it has been written, all has been.
final class GatheredWrites {
  /// SQLite's VFS for Unix writes less than 128 KiB at once (os_unix.c, `seekAndWriteFd`).
  private static let capacity = 124 << 10
  /// https://sqlite.org/fileformat2.html#the_write_ahead_log
  private static let headerBytes = 24
  private static let sizeAfterCommit = 4..<8

  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
  private var start: Int64 = 0
  private var count = 0
  /// The header of a commit's last page is here.
  private(set) var isComplete = false

  deinit { buffer.deallocate() }

  /// - Returns: false when it begins no page, and does not follow what is here or does not fit: `takeAll`, and try
  ///   again.
  func add(_ content: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
    let isHeader = content.count == Self.headerBytes
    if count == 0 {
      guard isHeader else { return false }
      start = offset
    }
    guard offset == start + Int64(count), content.count <= buffer.count - count else { return false }
    UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: content)
    count += content.count
    // "For commit records, the size of the database file in pages after the commit. For all other records, zero."
    isComplete = isHeader && content[Self.sizeAfterCommit].contains { $0 != 0 }
    return true
  }

  /// Has `write` write what is here, at its offset; whether that works or not, nothing is here afterwards.
  func takeAll(_ write: (UnsafeRawBufferPointer, Int64) -> Int32) -> Int32 {
    guard count > 0 else { return SQLITE_OK }
    defer { (count, isComplete) = (0, false) }
    return write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), start)
  }
}
