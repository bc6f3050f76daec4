internal import CaravanCLICore
internal import CaravanClient
internal import CaravanModel

/// Where objects are written to.
struct OutFolder: Sendable {
  private let path: String

  init(_ path: String) throws(CaravanError) {
    self.path = path
    _ = try Folder(making: path)
  }

  /// Every object of the row, as a file.
  func save(_ row: AppRow, of table: Table) async throws -> [(column: String, path: String)] {
    try await save(row.objects.keys, of: row.id) { table.contents(of: $0, row: row.id) }
  }

  /// Every object of a record of the cloud, as a file.
  func save(_ record: CloudRecord, of table: CloudTable) async throws -> [(column: String, path: String)] {
    try await save(record.objects.keys, of: record.id) { table.contents(of: $0, in: record) }
  }

  private func save(
    _ columns: some Collection<String>, of id: String, _ contents: (String) -> ObjectContents
  ) async throws -> [(column: String, path: String)] {
    var files: [(column: String, path: String)] = []
    for column in columns.sorted() {
      let file = "\(path)/\(FileName.of(id)).\(FileName.of(column))"
      let output = try LocalFile(writing: file)
      for try await piece in contents(column) { try output.write(piece) }
      files.append((column, file))
    }
    return files
  }
}
