public import CaravanModel
internal import Glibc

internal import struct Synchronization.Atomic

/// Small files: keys, credentials, configurations.
public enum TextFile {
  /// Beyond it, it is the wrong file.
  public static let maximumBytes = 1 << 20

  /// - Throws: `invalidData` naming the file and what the system says.
  /// - Parameter limit: beyond so many bytes it is the wrong file.
  public static func read(_ path: String, upTo limit: Int = maximumBytes) throws(CaravanError) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("read", path) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      guard count >= 0 else { throw failure("read", path) }
      if count == 0 { break }
      bytes += buffer[..<count]
      guard bytes.count <= limit else {
        throw CaravanError(.limitExceeded, "'\(path)' is larger than \(limit) bytes: is it the right file?")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CaravanError(.invalidData, "'\(path)' is not UTF-8 text: is it the right file?")
    }
    return text
  }

  /// The end of a file that may be large; its first character may be a broken one.
  public static func tail(_ path: String, bytes count: Int) throws(CaravanError) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("read", path) }
    defer { close(descriptor) }
    let size = Int(lseek(descriptor, 0, SEEK_END))
    var buffer = [UInt8](repeating: 0, count: min(size, count))
    let got = unsafe pread(descriptor, &buffer, buffer.count, size - buffer.count)
    guard got >= 0 else { throw failure("read", path) }
    return String(decoding: buffer.prefix(got), as: UTF8.self)
  }

  /// Replaces the file in one step, for good: also after the power is lost there is the old text or the new one. Only
  /// its owner may read it. Nothing that lies there already is written to, whoever put it there.
  /// - Throws: `invalidData` naming the file and what the system says; then the old text is there.
  public static func writeSecret(
    _ text: String, to path: String, tap: (any DiskTap)? = nil
  ) throws(CaravanError) {
    let draft = "\(path).\(getpid()).\(drafts.wrappingAdd(1, ordering: .relaxed).newValue).new"
    // A process of the same number was killed here.
    unsafe unlink(draft)
    do throws(CaravanError) {
      let file = try DiskFile(new: draft, tap: tap)
      defer { file.close() }
      try file.write(Array(text.utf8), at: 0)
      try file.sync()
      try DiskFile.rename(draft, to: path, tap: tap)
    } catch {
      unsafe unlink(draft)
      throw CaravanError(.invalidData, "cannot write '\(path)': \(error.message)")
    }
  }

  /// Tells the drafts of one process from each other.
  private static let drafts = Atomic<UInt64>(0)

  private static func failure(_ verb: String, _ path: String) -> CaravanError {
    let code = errno
    return CaravanError(.invalidData, "cannot \(verb) '\(path)': \(SystemError.text(code))")
  }
}

/// What the system calls its errors.
package enum SystemError {
  package static func text(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
