package import Model

/// What is checked of every row a device pushes, once, before the store sees it.
package enum PushCheck {
  /// - Parameters:
  ///   - body: encoded `Fields`.
  ///   - chunks: hashes the mutation lists, concatenated.
  /// - Throws: `schemaViolation` naming record, field, expected and actual kind; `invalidData` when the body cannot be
  ///   decoded or the chunks are not those its objects name; `limitExceeded`.
  package static func save(
    _ record: String, body: [UInt8], chunks: [UInt8], against type: RecordType
  ) throws(CaravanError) {
    guard body.count <= Limits.recordBytes else {
      throw CaravanError(
        .limitExceeded,
        "record '\(record)' has \(body.count) bytes: the limit is \(Limits.recordBytes), put large values in an object")
    }
    do throws(BodyProblem) {
      var scanner = BodyScanner()
      try scanner.scan(body.span, against: type)
      guard sameChunks(scanner.hashes, chunks) else { throw .chunksDiffer }
    } catch {
      throw error.refusal(of: record, type: type.name)
    }
  }

  /// Objects may share chunks, and their order in the list means nothing.
  private static func sameChunks(_ named: [UInt8], _ listed: [UInt8]) -> Bool {
    if named == listed && named.count <= ChunkHash.byteCount { return true }
    guard let names = try? ChunkHash.list(named), let list = try? ChunkHash.list(listed) else { return false }
    let distinct = Set(list)
    return distinct.count == list.count && distinct == Set(names)
  }

  /// - Throws: `limitExceeded` or `invalidData` when a push as a whole is not one commit.
  package static func batch(_ names: [String]) throws(CaravanError) {
    guard (1...Limits.recordsPerCommit).contains(names.count) else {
      throw CaravanError(
        .limitExceeded, "a push has \(names.count) records: send 1 to \(Limits.recordsPerCommit)")
    }
    var seen: Set<String> = []
    seen.reserveCapacity(names.count)
    for name in names {
      try RecordName.check(name)
      guard seen.insert(name).inserted else {
        throw CaravanError(.invalidData, "record '\(name)' stands twice in one push: send its last change only")
      }
    }
  }
}
