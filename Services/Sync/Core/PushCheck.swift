package import CaravanModel

/// What is checked of every row a device pushes, once, before the store sees it.
package enum PushCheck {
  /// What a body's objects and references name.
  package struct Named: Sendable, Hashable {
    /// Hashes of chunks, concatenated, lists among them; one that is used twice may stand here twice.
    package var chunks: [UInt8]
    package var lists: [BodyScanner.List]
    /// Owning and validating ones, each once.
    package var references: [Reference]
  }

  /// - Parameters:
  ///   - body: encoded `Fields`.
  ///   - isPublic: it goes to a public database.
  /// - Throws: `schemaViolation` naming record, field, expected and actual kind; `invalidData` when the body cannot be
  ///   decoded; `limitExceeded`.
  package static func save(
    _ record: String, body: [UInt8], against type: RecordType, isPublic: Bool = false
  ) throws(CaravanError) -> Named {
    if isPublic, let field = type.fields.first(where: \.isEncrypted) {
      throw CaravanError(
        .schemaViolation,
        "record '\(record)' of '\(type.name)': field '\(field.name)' is encrypted, which only private databases have")
    }
    guard body.count <= Limits.recordBytes else {
      throw CaravanError(
        .limitExceeded,
        "record '\(record)' has \(body.count) bytes: the limit is \(Limits.recordBytes), put large values in an object")
    }
    do throws(BodyProblem) {
      var scanner = BodyScanner()
      try scanner.scan(body.span, against: type)
      precondition(scanner.hashes.count.isMultiple(of: ChunkHash.byteCount), "a part of a hash of a chunk was read")
      assert(Set(scanner.references).count == scanner.references.count, "a record refers twice to the same one")
      return Named(chunks: scanner.hashes, lists: scanner.lists, references: scanner.references)
    } catch {
      throw error.refusal(of: record, type: type.name)
    }
  }

  /// Fields that a write depends on, or began with: any that can be decoded.
  package static func fields(
    _ record: String, _ body: [UInt8], against type: RecordType?
  ) throws(CaravanError) {
    guard body.count <= Limits.recordBytes else {
      throw CaravanError(
        .limitExceeded,
        "record '\(record)' comes with \(body.count) bytes of other fields: the limit is \(Limits.recordBytes)")
    }
    do throws(BodyProblem) {
      var scanner = BodyScanner()
      try scanner.scan(body.span, against: type)
    } catch {
      throw error.refusal(of: record, type: type?.name ?? "")
    }
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
