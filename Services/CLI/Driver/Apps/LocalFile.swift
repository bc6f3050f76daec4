internal import CaravanModel
internal import Glibc

/// A file of the user's, read or written in pieces.
final class LocalFile {
  static let pieceBytes = 256 << 10
  private static let textBytes = 16 << 20

  private let path: String
  private let descriptor: Int32

  /// - Throws: `invalidData` with what the system says.
  init(reading path: String) throws(CaravanError) {
    self.path = path
    descriptor = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure("read", path) }
  }

  /// Replaces what is there.
  init(writing path: String) throws(CaravanError) {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Self.failure("write", path) }
  }

  deinit { close(descriptor) }

  /// The next bytes; empty at the end.
  func read() throws(CaravanError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: Self.pieceBytes)
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.failure("read", path) }
      return Array(buffer.prefix(count))
    }
  }

  func write(_ bytes: [UInt8]) throws(CaravanError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.failure("write", path) }
      rest = rest.dropFirst(count)
    }
  }

  /// All of a file, which is text.
  /// - Throws: also `limitExceeded` when it has more than 16 MiB.
  static func text(of path: String) throws(CaravanError) -> String {
    let file = try LocalFile(reading: path)
    var bytes: [UInt8] = []
    while true {
      let piece = try file.read()
      guard !piece.isEmpty else { break }
      bytes += piece
      guard bytes.count <= textBytes else {
        throw CaravanError(.limitExceeded, "'\(path)' has more than \(textBytes >> 20) MiB of text: cut it")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CaravanError(.invalidData, "'\(path)' is no text in UTF-8")
    }
    return text
  }

  private static func failure(_ verb: String, _ path: String) -> CaravanError {
    let reason = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    return CaravanError(.invalidData, "cannot \(verb) '\(path)': \(reason)")
  }
}
