internal import Glibc
public import Model

/// Small files: keys, credentials, configurations.
public enum TextFile {
  /// Beyond it, it is the wrong file.
  public static let maximumBytes = 1 << 20

  /// - Throws: `invalidData` naming the file and what the system says.
  public static func read(_ path: String) throws(CaravanError) -> String {
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
      guard bytes.count <= maximumBytes else {
        throw CaravanError(
          .limitExceeded, "'\(path)' is larger than \(maximumBytes) bytes: is it the right file?")
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

  /// Replaces the file in one step; only its owner may read it.
  public static func writeSecret(_ text: String, to path: String) throws(CaravanError) {
    let draft = "\(path).new"
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("write", draft) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else {
        close(descriptor)
        throw failure("write", draft)
      }
      rest = rest.dropFirst(count)
    }
    let synced = fsync(descriptor)
    close(descriptor)
    guard synced == 0, unsafe rename(draft, path) == 0 else { throw failure("write", path) }
  }

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
