internal import CaravanCLICore
internal import CaravanClient
internal import CaravanModel

/// What a write puts into a row.
struct RowContent: Sendable {
  let cells: [String: Value]
  /// Files by column.
  let files: [(column: String, path: String)]

  var objects: [String] { files.map(\.column) }

  /// Reads the files that become cells; looks whether those that become objects are there.
  init(_ assignments: [Assignment]) throws(CaravanError) {
    var cells: [String: Value] = [:]
    var files: [(column: String, path: String)] = []
    for assignment in assignments {
      switch assignment.source {
      case .value(let value): cells[assignment.column] = value
      case .file(let path, isObject: true):
        if path != "-" { _ = try LocalFile(reading: path) }
        files.append((assignment.column, path))
      case .file(let path, isObject: false): cells[assignment.column] = .data(try Self.bytes(path))
      }
    }
    self.cells = cells
    self.files = files
  }

  private static func bytes(_ path: String) throws(CaravanError) -> [UInt8] {
    let file = try LocalFile(reading: path)
    var bytes: [UInt8] = []
    while true {
      let piece = try file.read()
      if piece.isEmpty { return bytes }
      bytes += piece
      guard bytes.count <= Limits.recordBytes else {
        throw CaravanError(
          .limitExceeded, "'\(path)' has more than \(Limits.recordBytes) bytes: keep it in an OBJECT column")
      }
    }
  }

  /// Streams the files; a file that is longer than memory is no matter.
  func fill(_ writer: ObjectWriter) async throws {
    for (column, path) in files {
      guard path != "-" || writer.rows.count == 1 else {
        throw CaravanError(
          .invalidData, "standard input can be written to one row, and \(writer.rows.count) are selected")
      }
      for row in writer.rows.indices {
        let file = try LocalFile(reading: path)
        try await writer.truncate(column, to: 0, row: row)
        var offset: UInt64 = 0
        while true {
          let piece = try file.read()
          if piece.isEmpty { break }
          try await writer.write(piece, to: column, at: offset, row: row)
          offset += UInt64(piece.count)
        }
      }
    }
  }
}
