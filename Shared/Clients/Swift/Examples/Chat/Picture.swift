import CaravanClient
import Glibc

/// Pictures in files.
enum Picture {
  /// A message is sent again as it is where its answer is lost, so its picture is kept in memory until then.
  static let mostBytes = 32 << 20
  private static let pieceBytes = 256 << 10

  static func read(_ path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure("read", path) }
    defer { close(file) }
    var (bytes, piece): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: pieceBytes))
    while true {
      let count = Glibc.read(file, &piece, piece.count)
      guard count >= 0 else { throw failure("read", path) }
      if count == 0 { return bytes }
      bytes += piece[..<count]
      guard bytes.count <= mostBytes else {
        throw CaravanError(.limitExceeded, "'\(path)' has more than \(mostBytes >> 20) MiB: send a smaller picture")
      }
    }
  }

  /// Piece by piece, as they come from the cloud.
  static func write(_ pieces: ObjectContents, to path: String) async throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw failure("write", path) }
    defer { close(file) }
    for try await piece in pieces {
      var rest = piece[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        guard count > 0 else { throw failure("write", path) }
        rest = rest.dropFirst(count)
      }
    }
  }

  private static func failure(_ verb: String, _ path: String) -> CaravanError {
    CaravanError(.invalidData, "cannot \(verb) '\(path)': \(String(cString: strerror(errno)))")
  }
}
